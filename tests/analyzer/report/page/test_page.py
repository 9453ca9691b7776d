"""The page in a browser: nothing is fetched, nothing fails, each chart has data, and the timeline can be zoomed."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from chromium import chromium, open_page
from counted import block
from paths import EPOCH
from synthetic import WORLD, call, write_run
from uneven_runs import Ranks, iterative, written

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.report.look.finding_sentences import findings_lines
from analyzer.report.look.measurements import counter_format
from analyzer.report.look.summary import summarize
from benchmarks.halo import write_halo

LARGEST = 5_000_000
SECTIONS = (
    "findings", "efficiency", "timeline", "matrix", "sizes", "calls", "bursts", "path", "structure", "sensitivity",
    "counters", "system",
)  # fmt: skip


class Elements(HTMLParser):
    """Ids, and every address that a browser might fetch."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.fetched = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        of = dict(attrs)
        self.ids += [of["id"]] if "id" in of else []
        address = [of[name] for name in ("src", "data", "poster", "srcset", "action") if name in of]
        address += [of[name] for name in ("href", "xlink:href") if name in of]
        self.fetched += [one for one in address if not one.startswith(("#", "data:"))]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Four ranks take turns to compute longer."""
    work = iterative(30, 4, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100)
    return written(tmp_path_factory.mktemp("run"), work)


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "run.html"
    assert main(["report", str(run), "-o", str(path), "-q"]) == 0
    return path


def test_nothing_is_fetched_and_no_id_is_there_twice(page):
    found = Elements(page.read_text())
    assert not found.fetched
    assert len(set(found.ids)) == len(found.ids)
    assert set(SECTIONS) <= set(found.ids)
    assert not re.search(r"@import|url\((?!#)", page.read_text())


def test_findings_are_those_of_the_first_look(page, run):
    summary = summarize(open_trace(run), Team())
    text = re.sub(r"<[^>]+>", "", page.read_text()).replace("&gt;", ">").replace("&lt;", "<").replace("&#x27;", "'")
    lines = findings_lines(summary)
    assert lines
    assert all(line in text for line in lines)


def test_charts_that_have_no_data_say_why(page):
    text = page.read_text()
    for name, why in (("counters", "no counters were read"), ("system", "the nodes were not sampled")):
        section = re.search(rf"<section id={name}>.*?</section>", text, re.DOTALL)[0]
        assert f"Not shown: {why}" in section and "<svg" not in section
    for name in ("matrix", "sizes", "calls", "bursts", "path", "structure", "sensitivity"):
        assert "<svg" in re.search(rf"<section id={name}>.*?</section>", text, re.DOTALL)[0], name


def section(path, name):
    """Its HTML, and its text without tags."""
    html = re.search(rf"<section id={name}>.*?</section>", path.read_text(), re.DOTALL)[0]
    return html, unescape(re.sub(r"<[^>]+>", "", html.split("<svg")[0]))


def test_replays_are_told_from_the_run(page):
    """Calls that are not in the replay stand beside the limit, and so does the way its bursts are measured."""
    _, text = section(page, "sensitivity")
    assert "Replayed with bursts in wall-clock time." in text
    assert re.search(r"The (run|replay) is limited by", text)


def test_networks_that_are_not_known_are_not_drawn(tmp_path):
    """Without messages all networks are alike."""
    run = Ranks(2)
    for rank in (0, 1):
        run.compute(rank, 1000 + 500 * rank)
    for _ in range(3):
        run.everybody("MPI_Allreduce", comm=WORLD, sent=8, received=8)
    path = tmp_path / "page.html"
    assert main(["report", str(written(tmp_path, run)), "-o", str(path), "-q"]) == 0
    html, text = section(path, "sensitivity")
    assert "<svg" not in html and "Not drawn, because the run's messages do not show its network" in text


def test_counters_have_units(tmp_path):
    """CPU time is a time, in the sentence and along the axis; all others are numbers."""
    calls = [call("MPI_Barrier", begin, begin + 1_000_000, comm=WORLD) for begin in (0, 3_000_000)]
    cpu_time = {"counters": [(1, 0, 42009998, 1, b"CPU_NS")], "blocks": block(2, 4, set=1)}
    counts = [[0, 0, (rank + 1) * 1_000_000, 2_000_000] for rank in (0, 1)]
    path = tmp_path / "page.html"
    run = write_run(tmp_path, [{"calls": calls, "counts": one, **cpu_time} for one in counts])
    assert main(["report", str(run), "-o", str(path), "-q"]) == 0
    html, text = section(path, "counters")
    assert "CPU_NS counted 3.00 ms in computation, of all ranks; most on rank 1, 2.00 ms." in text
    assert " ms<" in html
    assert counter_format("PAPI_TOT_INS")(3e6) == "3.00M"


def test_iterations_are_shown_where_the_first_look_does_not_look_for_them(page, run, tmp_path, monkeypatch):
    monkeypatch.setattr("analyzer.report.look.summary.MOST_CALLS", 10)
    path = tmp_path / "run.html"
    assert main(["report", str(run), "-o", str(path), "-q"]) == 0
    of_long, of_short = (
        re.search(r"<section id=structure>.*?</p>", one.read_text(), re.DOTALL)[0] for one in (path, page)
    )
    assert "30 iterations" in of_short and of_long == of_short
    assert "<svg" in re.search(r"<section id=structure>.*?</section>", path.read_text(), re.DOTALL)[0]


def test_many_ranks_are_groups_of_a_small_page(tmp_path):
    path = write_halo(tmp_path, 150, 150 * 8)
    assert main(["report", str(path), "-o", str(tmp_path / "many.html"), "-q"]) == 0
    text = (tmp_path / "many.html").read_text()
    cells = json.loads(re.search(r"id=cells>(.*?)</script>", text, re.DOTALL)[1])
    assert cells[0]["grouped"] and len(cells[0]["lines"]) < 20
    assert len(text) < LARGEST


def test_files_are_not_overwritten_and_what_cannot_be_read_is_said(run, tmp_path, capsys):
    mine = tmp_path / "mine.html"
    mine.write_text("mine")
    assert main(["report", str(run), "-o", str(mine)]) != 0
    assert mine.read_text() == "mine" and "not a .html" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "none.h5")]) != 0
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


def opened(browser, path):
    """Load a page, until its timeline is drawn; returns the addresses that it asked for."""
    drawn = "[...document.querySelectorAll('canvas.timeline')].every(c => c.dataset.cells > 0)"
    return open_page(browser, f"file://{path}", drawn)


def shown(browser, number=0):
    script = "return {...document.querySelectorAll('canvas.timeline')[arguments[0]].dataset}"
    data = browser.execute_script(script, number)
    return {name: float(value) for name, value in data.items()}


def waited_for(browser, true):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 30).until(lambda _: true(shown(browser)))
    return shown(browser)


def test_a_browser_shows_it(browser, page):
    asked = opened(browser, page)
    assert {address.split(":")[0] for address in asked} <= {"file", "data"}
    assert [address for address in asked if address.startswith("file")] == [f"file://{page}"]
    of_chart = "s => [s.getBBox().width, s.querySelectorAll('path').length]"
    sized = f"return [...document.querySelectorAll('svg.chart')].map({of_chart})"
    charts = np.array(browser.execute_script(sized))
    assert len(charts) == 7 and (charts > 1).all()
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_wheel_keys_buttons_and_dragging_move_the_timeline(browser, page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    opened(browser, page)
    canvas = browser.find_element("css selector", "canvas.timeline")
    whole = shown(browser)
    ActionChains(browser).scroll_to_element(canvas).move_to_element(canvas).perform()
    told = browser.find_element("css selector", ".hover").text
    assert re.match(r"rank \d at .* (computing|waiting for others|rest of MPI) \d+ %", told)
    browser.execute_script(
        "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -100, clientX: 600, cancelable: true}))", canvas
    )
    nearer = waited_for(browser, lambda now: now["end"] - now["begin"] < 0.9 * (whole["end"] - whole["begin"]))
    browser.find_element("css selector", "button[data-do=in]").click()
    half = waited_for(browser, lambda now: now["end"] - now["begin"] < 0.6 * (nearer["end"] - nearer["begin"]))
    assert whole["begin"] <= half["begin"] < half["end"] <= whole["end"] and half["cells"] > 0
    canvas.send_keys(Keys.ARROW_RIGHT)
    later = waited_for(browser, lambda now: now["begin"] > half["begin"])
    ActionChains(browser).drag_and_drop_by_offset(canvas, 100, 0).perform()
    waited_for(browser, lambda now: now["begin"] < later["begin"])
    canvas.send_keys("0")
    again = waited_for(browser, lambda now: now["end"] == whole["end"] and now["begin"] == whole["begin"])
    assert again == whole


def test_two_runs_are_on_one_scale(browser, run, tmp_path):
    (tmp_path / "shorter").mkdir()
    shorter = written(tmp_path / "shorter", iterative(12, 3, lambda k, rank: 1000))
    path = tmp_path / "both.html"
    assert main(["report", str(run), str(shorter), "-o", str(path), "-q"]) == 0
    opened(browser, path)
    first, second = (shown(browser, number) for number in (0, 1))
    assert (first["begin"], first["end"]) == (second["begin"], second["end"])
    assert second["cells"] < first["cells"]
    marked = browser.find_elements("css selector", "table.compared td.marked")
    assert any("▼" in cell.text for cell in marked)
    rows = browser.find_elements("css selector", "table.compared tr")
    balance = next(row.text for row in rows if row.text.startswith("Load balance"))
    one, other, points = re.findall(r"([\d.]+) (?:%|points)", balance)
    assert float(points) == pytest.approx(abs(float(other) - float(one)), abs=0.11)


def test_networks_are_in_the_same_order_for_two_runs(browser, run, tmp_path):
    path = tmp_path / "both.html"
    assert main(["report", str(run), str(run), "-o", str(path), "-q"]) == 0
    opened(browser, path)
    heights = "return [...document.querySelectorAll('#sensitivity text')].filter(t => t.textContent === 'ideal' ||"
    heights += " t.textContent === 'with contention').map(t => t.getBoundingClientRect().y)"
    above, below = browser.execute_script(heights)
    assert above < below


def test_a_narrow_window_and_paper(browser, run, tmp_path):
    """Nothing is cut at 400 pixels; what is printed is as wide as the paper, and dark on white."""
    path = tmp_path / "both.html"
    (tmp_path / "other").mkdir()
    other = written(tmp_path / "other", iterative(12, 3, lambda k, rank: 1000))
    assert main(["report", str(run), str(other), "-o", str(path), "-q"]) == 0
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    narrow = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
    try:
        opened(browser, path)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
        ink = "return getComputedStyle(document.documentElement).getPropertyValue('--ink')"
        width = "return document.querySelector('canvas.timeline').width"
        on_screen = browser.execute_script(ink)
        assert browser.execute_script(width) < 400
        browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        assert browser.execute_script(width) >= 900 and browser.execute_script(ink) != on_screen
        browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
        waited_for(browser, lambda _: browser.execute_script(width) < 400)
        assert browser.execute_script(ink) == on_screen
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_names_of_groups_keep_their_numbers(browser, page):
    opened(browser, page)
    script = """
        const pen = document.createElement('canvas').getContext('2d');
        pen.font = '11px sans-serif';
        return [["7", 88], ["0-84,86-300,302-597,... (597)", 88], ["0-84,86-300", 30]]
          .map(([name, room]) => [Drawing.shortened(pen, name, room), room])
          .map(([text, room]) => [text, pen.measureText(text).width <= room]);"""
    whole, group, cut = browser.execute_script(script)
    assert whole == ["7", True]
    assert group[0].startswith("0-84") and group[0].endswith("… (597)") and group[1]
    assert cut[0].startswith("0") and cut[0].endswith("…") and cut[1]


@pytest.mark.skipif(not EPOCH.exists(), reason=f"{EPOCH} is not here")
def test_an_imported_trace_has_a_page(browser, tmp_path):
    path = tmp_path / "epoch.html"
    assert main(["report", str(EPOCH / "epoch_4proc.prv.gz"), "-o", str(path), "-q"]) == 0
    opened(browser, path)
    assert path.stat().st_size < LARGEST
