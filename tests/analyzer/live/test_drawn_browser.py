"""Views and several runs on the page of the live view: drawn to scale, zoomed together, searched, measured, played."""

import numpy as np
import pytest
from chromium import addresses, chromium, open_page, until
from pages import DRAWN, Served
from uneven_runs import iterative, written

from analyzer import views
from analyzer.live.drawn_views import ViewChoice
from analyzer.live.selection import DrawRequest, Viewport, read_view

RANKS, ITERATIONS = 4, 30
PANES = "[...document.querySelectorAll('canvas.timeline')]"
ALL_DRAWN = f"{PANES}.length && {PANES}.every(c => c.dataset.cells > 0 && c.dataset.busy === '0')"

# How many pixels each colour has in the rows of the k-th pane, without rows in between.
COLOURS = """
    const c = document.querySelectorAll('canvas.timeline')[arguments[0]], dots = window.devicePixelRatio;
    const marked = arguments[1], from = Layers.LEFT * dots, top = Layers.Frame.above(marked) * dots;
    const wide = c.width - from - Layers.RIGHT * dots, high = c.height - top - Layers.Frame.below(marked) * dots;
    const data = c.getContext('2d').getImageData(from, top, wide, high).data, counts = {};
    for (let k = 0; k < data.length; k += 4) {
      const key = [data[k], data[k + 1], data[k + 2]].join(',');
      counts[key] = (counts[key] || 0) + 1;
    }
    return [counts, wide * high];"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        driver.set_window_size(1400, 1100)
        yield driver


def run(folder, iterations):
    return written(folder, iterative(iterations, RANKS, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return run(tmp_path_factory.mktemp("run"), ITERATIONS)


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    return run(tmp_path_factory.mktemp("half"), ITERATIONS // 2)


def drawing(*names):
    return Viewport(0, 10**12, draws=tuple(map(DrawRequest, names)))


@pytest.fixture(scope="module")
def served(file):
    with Served(file, drawing("states", "useful", "mpi call")) as one:
        yield one


@pytest.fixture(scope="module")
def both(file, half):
    with Served(file, drawing("states", "useful"), half) as one:
        yield one


def shown(driver):
    return driver.execute_script(f"return {PANES}.map(c => ({{...c.dataset}}))")


def text(driver, selector):
    return driver.execute_script("return document.querySelector(arguments[0]).textContent", selector)


def choose(driver, selector, value):
    driver.execute_script(
        "const [where, value] = arguments, input = document.querySelector(where);"
        "input.value = value; input.dispatchEvent(new Event('change'));", selector, value,
    )  # fmt: skip


def press(driver, selector):
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def drag(driver, begin, end, shift=True):
    """From one share of the time in sight to another, over the first row of the first pane."""
    driver.execute_script(
        """
        const [from, to, shiftKey] = arguments, canvas = document.getElementById('timeline');
        const box = canvas.getBoundingClientRect(), wide = box.width - Layers.LEFT - Layers.RIGHT;
        canvas.setPointerCapture = () => {};
        const send = (kind, share) => canvas.dispatchEvent(new PointerEvent(kind, {
          clientX: box.left + Layers.LEFT + share * wide, clientY: box.top + 50, bubbles: true, shiftKey, buttons: 1,
        }));
        send('pointerdown', from);
        send('pointermove', (from + to) / 2);
        send('pointermove', to);
        send('pointerup', to);""", begin, end, shift,
    )  # fmt: skip


def test_views_are_drawn_below_each_other_and_zoomed_together(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    now = shown(browser)
    assert [one["draw"] for one in now] == ["states", "useful", "mpi call"]
    for _ in range(4):
        press(browser, "button[data-do=in]")
    until(browser, f"{ALL_DRAWN} && {PANES}[0].dataset.level < {now[0]['level']}")
    near = shown(browser)
    assert len({(one["begin"], one["end"], one["level"]) for one in near}) == 1
    assert int(near[0]["end"]) - int(near[0]["begin"]) == pytest.approx(served.duration / 16, rel=0.01)
    assert all(one.startswith((served.server.url, "data:")) for one in addresses(browser))
    assert not browser.get_log("browser")


def test_curves_and_names_have_their_share_of_the_pixels(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    choose(browser, "#arrows", "none")
    until(browser, f"{PANES}.every(c => c.dataset.messages === '0')")
    trace = served.looked_at.now.run.trace
    useful = views.measures(trace, "useful", ["average value"]).columns["average value"].mean()
    counts, _ = browser.execute_script(COLOURS, 1, False)
    blue, light, white = (counts.get(key, 0) for key in ("0,114,178", "181,212,234", "255,255,255"))
    assert blue / (blue + light + white) == pytest.approx(useful, abs=0.04)  # lines between rows are white, too
    counts, _ = browser.execute_script(COLOURS, 2, False)
    table = views.histogram(trace, "mpi call", "time").to_pandas().sum()
    first, second = table.drop("outside").sort_values(ascending=False).index[:2]
    keys = [counts.get(key, 0) for key in ("0,114,178", "213,94,0")]
    assert keys[0] / keys[1] == pytest.approx(table[first] / table[second], rel=0.1)


def test_shades_go_with_the_scale(browser, served):
    """Computing is 1, the end of the scale; above a scale that is shorter there is another colour."""
    open_page(browser, served.server.url, ALL_DRAWN)
    choose(browser, "#arrows", "none")
    choose(browser, "#numbers", "most")
    until(browser, f"{PANES}.every(c => c.dataset.messages === '0')")
    dark = f"(k => {{ const [counts] = (function () {{ {COLOURS} }})(1, false); return counts[k] > 5000; }})"
    until(browser, f"{dark}('68,1,84')")
    choose(browser, ".pane:nth-of-type(2) .legend input:last-of-type", "0.5")
    until(browser, f"{dark}('208,28,28')")


def test_values_are_searched_for_and_told(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    choose(browser, ".pane:nth-of-type(3) input.value", "allreduce")
    until(
        browser, f"document.querySelector('.pane:nth-of-type(3) output').textContent === '{RANKS * ITERATIONS} times'"
    )
    until(browser, f"{PANES}[2].dataset.hits > 20 && {PANES}[0].dataset.hits === '0'")
    press(browser, ".pane:nth-of-type(3) .valuesearch button:nth-of-type(2)")
    until(browser, "/mpi callMPI_Allreduce/.test(document.getElementById('details').textContent)")
    first = text(browser, "#details")
    browser.find_element("id", "timeline").send_keys("n")
    until(browser, f"document.getElementById('details').textContent !== {first!r}")
    browser.find_element("id", "timeline").send_keys("p")
    until(browser, f"document.getElementById('details').textContent === {first!r}")
    choose(browser, ".pane:nth-of-type(2) input.value", "much")
    until(browser, "document.querySelector('.pane:nth-of-type(2) .error').textContent.includes('no numbers')")


def test_a_view_is_added_changed_and_closed(browser, served, tmp_path):
    open_page(browser, served.server.url, ALL_DRAWN)
    choose(browser, "#add", "parallelism")
    until(browser, f"{PANES}.length === 4 && {ALL_DRAWN}")
    level = ".pane:nth-of-type(2) .panehead select:nth-of-type(2)"
    choose(browser, level, "node")
    until(browser, f"document.querySelector('{level}')?.value === 'node' && {ALL_DRAWN}")
    press(browser, ".pane:nth-of-type(1) .panehead > button")
    until(browser, f"{PANES}.length === 3 && {ALL_DRAWN}")
    assert shown(browser)[0]["draw"] == "useful"
    script = """
        const save = document.getElementById('save');
        save.addEventListener('click', event => event.preventDefault());
        save.click();
        return fetch(save.href).then(answer => answer.text());"""
    (tmp_path / "view.toml").write_text(browser.execute_script(script))
    saved = read_view(tmp_path / "view.toml", served.duration)
    assert saved.draws == (DrawRequest("useful", "node"), DrawRequest("mpi call"), DrawRequest("parallelism"))
    choose(browser, ".pane:nth-of-type(1) .panehead select", "useful ipc")  # there are no counters
    until(browser, "!document.querySelector('.pane .error').hidden || " + ALL_DRAWN)
    assert not [one for one in browser.get_log("browser") if "400" not in one["message"]]


def test_messages_as_logical_and_physical_lines(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    for _ in range(5):
        press(browser, "button[data-do=in]")
    counts = {}
    for kind in ("whole", "logical", "physical", "both", "none"):
        choose(browser, "#arrows", "none")
        until(browser, f"{PANES}[0].dataset.messages === '0'")
        choose(browser, "#arrows", kind)
        until(browser, f"{PANES}[0].dataset.messages {'===' if kind == 'none' else '!=='} '0'")
        counts[kind] = int(shown(browser)[0]["messages"])
    begin, end = (int(shown(browser)[0][name]) for name in ("begin", "end"))
    rows = list(served.looked_at.now.run.messages._rows.mapped())
    sight = {
        kind: sum(max(one[x], one[y]) > begin and min(one[x], one[y]) < end for one in rows)
        for kind, (x, y) in {"whole": (0, 1), "logical": (0, 9), "physical": (8, 1)}.items()
    }
    assert {kind: counts[kind] for kind in sight} == sight
    assert counts["both"] >= sight["logical"] + sight["physical"]


def test_several_runs_are_on_one_scale(browser, both):
    """The run that is half as long is drawn over half of the time."""
    open_page(browser, both.server.url, ALL_DRAWN)
    now = shown(browser)
    assert [one["draw"] for one in now] == ["states", "states", "useful", "useful"]
    assert {int(one["end"]) for one in now} == {both.duration}
    assert int(now[1]["cells"]) / int(now[0]["cells"]) == pytest.approx(0.5, abs=0.05)
    choose(browser, ".pane:nth-of-type(3) .legend input:last-of-type", "2")
    choose(browser, "#arrows", "none")
    until(browser, f"{PANES}.every(c => c.dataset.messages === '0')")
    for k in (2, 3):  # both are half as high
        counts, area = browser.execute_script(COLOURS, k, False)
        share = counts.get("0,114,178", 0) / area / (1 if k == 2 else 0.5)
        trace = both.every[k - 2].now.run.trace
        mean = views.measures(trace, "useful", ["average value"]).columns["average value"].mean()
        assert share == pytest.approx(mean / 2, abs=0.04)
    assert not browser.get_log("browser")


def test_ranks_that_one_run_does_not_have(browser, file, tmp_path_factory):
    """The rows that were shown before stay."""
    more = written(tmp_path_factory.mktemp("more"), iterative(5, 6, lambda k, rank: 1000))
    with Served(more, drawing("states", "useful"), file) as one:
        open_page(browser, one.server.url, ALL_DRAWN)
        choose(browser, "#ranks", "5")
        until(browser, "document.getElementById('found').className === 'error'")
        until(browser, "document.getElementById('window').textContent.includes('of 6 threads')")
        choose(browser, "#ranks", "1-3")
        until(browser, "document.getElementById('window').textContent.includes('of 3 threads')")
        until(browser, f"document.getElementById('found').textContent === '' && {ALL_DRAWN}")


def test_two_calls_are_measured_by_keys(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    browser.find_element("css selector", "[name=call]").send_keys("allreduce\n")
    until(browser, r"/^[1-9].* calls/.test(document.getElementById('found').textContent)")
    canvas, times = browser.find_element("id", "timeline"), []
    for _ in range(2):
        told = text(browser, "#details")
        canvas.send_keys("n")
        until(browser, f"document.getElementById('details').textContent !== {told!r}")
        times.append(float(text(browser, "#details").split("at")[1].split(" s")[0]))
        canvas.send_keys("m")
    until(browser, "document.getElementById('measured').dataset.end > 0")
    found = browser.execute_script(
        "const { begin, end } = document.getElementById('measured').dataset; return [begin, end]"
    )
    assert [int(ns) / 1e9 for ns in found] == pytest.approx(sorted(times), abs=1e-8)


def test_a_stretch_is_measured_and_zoomed_to(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    before = shown(browser)[1]
    drag(browser, 0.25, 0.75)
    until(browser, "document.getElementById('measured').dataset.end > 0")
    until(browser, "document.getElementById('measured-sums').children.length === 12")
    data = browser.execute_script("return {...document.getElementById('measured').dataset}")
    begin, end = int(data["begin"]), int(data["end"])
    assert [begin, end] == pytest.approx([served.duration / 4, 3 * served.duration / 4], rel=0.01)
    assert shown(browser)[1]["begin"] == before["begin"]  # nothing has moved
    run = served.looked_at.now.run
    share = run.times(np.arange(RANKS), np.array([begin, end]))[0].sum() / (RANKS * (end - begin))
    assert f"{100 * share:.1f} %" in text(browser, "#measured-sums")
    browser.find_element("id", "timeline").send_keys("z")
    until(browser, f"{PANES}[2].dataset.begin == {begin} && {PANES}[2].dataset.end == {end}")
    press(browser, "#unmeasure")
    until(browser, "document.getElementById('measured').hidden")
    drag(browser, 0.2, 0.7, shift=False)
    until(browser, f"{PANES}[0].dataset.begin != {begin}")
    assert text(browser, "#measured-sums") == ""


def test_the_cursor_goes_through_all_panes(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    choose(browser, "#arrows", "none")  # else a message may be nearer
    until(browser, f"{PANES}.every(c => c.dataset.messages === '0')")
    at = """
        const canvas = document.querySelectorAll('canvas.timeline')[1], box = canvas.getBoundingClientRect();
        const clientX = box.left + Layers.LEFT + 0.3 * (box.width - Layers.LEFT - Layers.RIGHT);
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: box.top + 40, bubbles: true }));
        const line = document.querySelector('.cursor').getBoundingClientRect();
        const { top } = document.getElementById('timeline').getBoundingClientRect();
        return [line.left - clientX, line.top - top, line.height];"""
    left, top, high = browser.execute_script(at)
    assert abs(left) < 2 and top <= 0 and high > 400
    until(browser, "/^who.*useful/.test(document.getElementById('details').textContent)")
    value = ViewChoice().find("useful").view
    found = list(views.bursts(served.looked_at.now.run.trace, value).to_pandas().itertuples())
    time = 0.3 * served.duration / 1e9
    burst = next(one for one in found if str(one.row) == "0" and one.begin_s <= time < one.end_s)
    assert f"useful{burst.value:g}" in text(browser, "#details")


def test_time_is_played(browser, served):
    open_page(browser, served.server.url, ALL_DRAWN)
    for _ in range(3):
        press(browser, "button[data-do=in]")
    until(browser, f"{ALL_DRAWN} && {PANES}[0].dataset.begin > 0")
    begin, place = int(shown(browser)[0]["begin"]), "document.getElementById('panes').dataset"
    choose(browser, "#speed", "2")
    browser.find_element("id", "timeline").send_keys(" ")
    until(browser, f"{place}.playing === 'true' && {PANES}[2].dataset.begin > {begin}")
    until(browser, "document.getElementById('details').textContent.startsWith('who')")
    assert len({one["begin"] for one in shown(browser)}) == 1
    browser.find_element("id", "timeline").send_keys(" ")
    until(browser, f"{place}.playing === 'false'")
    stopped = browser.execute_script(f"return Number({place}.at)")
    now = shown(browser)[0]
    assert stopped == pytest.approx((int(now["begin"]) + int(now["end"])) / 2, rel=0.02)
    press(browser, "button[data-do=all]")
    press(browser, "#play")
    until(browser, f"{place}.playing === 'false' && Number({place}.at) === {served.duration}")
    assert not browser.get_log("browser")


def test_the_page_of_one_run_looks_as_before(browser, file):
    with Served(file) as one:
        open_page(browser, one.server.url, DRAWN)
        assert [pane["draw"] for pane in shown(browser)] == ["states"]
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
