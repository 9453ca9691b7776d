"""The live view in a browser: nothing is asked of others, nothing fails, and what is done to it has its effect."""

import re

import numpy as np
import pytest
from chromium import addresses, chromium, open_page, until
from pages import DRAWN, Served
from paths import EPOCH
from uneven_runs import iterative, written

from analyzer.live.rows import RowGrouping
from analyzer.live.selection import CallSearch, Viewport, read_view
from analyzer.opening import open_trace

SPAN = "(({ dataset: { begin, end } }) => end - begin)(document.getElementById('timeline'))"
"""How much is in sight, ns."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Four ranks take turns to compute longer."""
    work = iterative(30, 4, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100)
    return written(tmp_path_factory.mktemp("run"), work)


@pytest.fixture(scope="module")
def served(file):
    with Served(file) as one:
        yield one


def shown(driver):
    data = driver.execute_script("return {...document.getElementById('timeline').dataset}")
    return {name: float(value) for name, value in data.items() if name != "draw"}


def choose(driver, name, value):
    """A value of a select or an input."""
    driver.execute_script(
        "const [id, value] = arguments, input = document.getElementById(id);"
        "input.value = value; input.dispatchEvent(new Event('change'));", name, value,
    )  # fmt: skip


def text(driver, name):
    return driver.execute_script(f"return document.getElementById('{name}').textContent")


def test_all_of_it_is_drawn_and_only_the_server_is_asked(browser, served):
    asked = open_page(browser, served.server.url, DRAWN)
    until(browser, "document.getElementById('sums').children.length === 12")
    asked += addresses(browser)
    assert {address.split("?")[0] for address in asked if not address.startswith((served.server.url, "data:"))} == set()
    assert any("/tile?" in address for address in asked)
    now = shown(browser)
    assert (now["begin"], now["end"]) == (0, served.duration) and now["cells"] > 1000
    run = served.looked_at.now.run
    share = run.by_rank[0].sum() / (4 * served.duration)
    assert f"{100 * share:.1f} %" in text(browser, "sums")
    assert f"{len(run.messages)} messages are sent" in text(browser, "sent")
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")


def test_pixels_are_what_ranks_do(browser, served):
    """The share of blue pixels in the rows is that of computing."""
    open_page(browser, served.server.url, DRAWN)
    choose(browser, "arrows", "none")
    until(browser, "document.getElementById('timeline').dataset.messages === '0'")
    script = """
        const c = document.getElementById('timeline'), dots = window.devicePixelRatio;
        const from = Layers.LEFT * dots, top = Layers.ABOVE * dots;
        const wide = c.width - from - Layers.RIGHT * dots, high = c.height - top - Layers.BELOW * dots;
        const data = c.getContext('2d').getImageData(from, top, wide, high).data, counts = {};
        for (let k = 0; k < data.length; k += 4) {
          const key = [data[k], data[k + 1], data[k + 2]].join(',');
          counts[key] = (counts[key] || 0) + 1;
        }
        return counts;"""
    counts = browser.execute_script(script)
    blue, orange, yellow = (counts.get(key, 0) for key in ("0,114,178", "213,94,0", "240,200,8"))
    ns = served.looked_at.now.run.by_rank.sum(axis=1)
    found = np.array([blue, orange, yellow]) / (blue + orange + yellow)
    assert np.allclose(found, ns[:3] / ns[:3].sum(), atol=0.02)


# The pointer goes along a line between two rows until it is told of a message.
ACROSS_MESSAGES = """
    const done = arguments[0], canvas = document.getElementById('timeline'), box = canvas.getBoundingClientRect();
    const told = () => document.getElementById('details').textContent.startsWith('message');
    (async () => {
      for (let x = Layers.LEFT; x < box.width && !told(); x += 8) {
        const [clientX, clientY] = [box.left + x, box.top + box.height / 2];
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY, bubbles: true }));
        await new Promise(after => setTimeout(after, 100));
      }
      done(told());
    })();"""


def test_a_hit_is_told_though_the_pointer_is_at_a_message(browser, served):
    browser.set_script_timeout(60)
    open_page(browser, served.server.url, DRAWN)
    for _ in range(5):
        browser.find_element("css selector", "button[data-do=in]").click()
    until(browser, f"{DRAWN} && document.getElementById('timeline').dataset.messages > 0")
    browser.find_element("css selector", "[name=call]").send_keys("allreduce\n")
    until(browser, r"/^[1-9].* calls/.test(document.getElementById('found').textContent)")
    assert browser.execute_async_script(ACROSS_MESSAGES)
    browser.find_element("id", "timeline").send_keys("n")
    until(browser, "/allreduce/i.test(document.getElementById('details').textContent)")
    assert text(browser, "details").startswith("who")


def test_zoom_hover_and_hold(browser, served):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    open_page(browser, served.server.url, DRAWN)
    canvas, whole = browser.find_element("id", "timeline"), shown(browser)
    for _ in range(5):
        browser.find_element("css selector", "button[data-do=in]").click()
    until(browser, f"{SPAN} < {1.001 * (whole['end'] - whole['begin']) / 32}")
    until(browser, f"{DRAWN} && document.getElementById('timeline').dataset.messages > 0")
    near = shown(browser)
    assert near["end"] - near["begin"] == pytest.approx((whole["end"] - whole["begin"]) / 32, rel=1e-3)
    assert near["level"] < whole["level"]
    canvas.send_keys(Keys.ARROW_RIGHT)
    until(browser, f"document.getElementById('timeline').dataset.begin > {near['begin']}")
    until(browser, DRAWN)
    ActionChains(browser).move_to_element_with_offset(canvas, 60, -90).click().perform()
    until(browser, "document.getElementById('details').textContent.includes('(held)')")
    said = text(browser, "details")
    assert re.search(r"rank \d", said)
    ActionChains(browser).move_to_element_with_offset(canvas, -60, -90).perform()
    assert text(browser, "details") == said
    canvas.send_keys("0")
    until(browser, f"document.getElementById('timeline').dataset.end == {whole['end']}")
    assert not browser.get_log("browser")


def test_search_goes_from_hit_to_hit(browser, served):
    open_page(browser, served.server.url, DRAWN)
    browser.find_element("css selector", "[name=call]").send_keys("allreduce\n")
    until(browser, "document.getElementById('found').textContent.startsWith('120 calls, 120')")
    until(browser, "document.getElementById('timeline').dataset.hits > 20")
    browser.find_element("id", "next").click()
    until(browser, "document.getElementById('details').textContent.includes('MPI_Allreduce')")
    first = text(browser, "details")
    browser.find_element("id", "next").click()
    until(browser, f"document.getElementById('details').textContent !== {first!r}")
    browser.find_element("id", "previous").click()
    until(browser, f"document.getElementById('details').textContent === {first!r}")
    browser.find_element("id", "previous").click()
    until(browser, "document.getElementById('found').textContent.startsWith('there is none')")
    browser.find_element("css selector", "[name=call]").send_keys("(\n")
    until(browser, "document.getElementById('found').textContent.includes('not a regular expression')")
    assert all("400" in one["message"] for one in browser.get_log("browser"))


def test_rows_and_the_saved_view(browser, served, tmp_path):
    """The saved view is the one in sight."""
    open_page(browser, served.server.url, DRAWN)
    browser.execute_script("""
        const ranks = document.getElementById('ranks');
        ranks.value = '1-2';
        ranks.dispatchEvent(new Event('change'));""")
    until(browser, "document.getElementById('window').textContent.includes('of 2 threads')")
    browser.find_element("css selector", "button[data-do=in]").click()
    until(browser, DRAWN)
    script = """
        const save = document.getElementById('save');
        save.addEventListener('click', event => event.preventDefault());
        save.click();
        return fetch(save.href).then(answer => answer.text());"""
    (tmp_path / "view.toml").write_text(browser.execute_script(script))
    view, now = read_view(tmp_path / "view.toml", served.duration), shown(browser)
    assert (view.begin_ns, view.end_ns, view.ranks) == (now["begin"], now["end"], "1-2")


def test_a_saved_view_is_where_it_begins(browser, file):
    view = Viewport(10_000_000, 12_000_000, RowGrouping.THREADS, "0-2", CallSearch(call="send"))
    with Served(file, view) as one:
        open_page(browser, one.server.url, DRAWN)
        now = shown(browser)
        assert (now["begin"], now["end"]) == (view.begin_ns, view.end_ns)
        until(browser, "document.getElementById('found').textContent.includes('calls')")
        assert browser.execute_script("return document.getElementById('rows').value") == "threads"


def test_a_page_follows_a_run_that_grows(browser, file, tmp_path):
    shorter = written(tmp_path, iterative(9, 4, lambda k, rank: 1000))
    with Served(shorter) as one:
        one.looked_at.follows = True
        open_page(browser, one.server.url, DRAWN)
        assert shown(browser)["end"] == one.duration
        one.looked_at._again = lambda: open_trace(file)
        one.looked_at.read_again()
        longer = one.looked_at.now.run.trace.duration_ns
        until(browser, f"{DRAWN} && document.getElementById('timeline').dataset.end == {longer}")
        assert longer > one.duration and shown(browser)["begin"] == 0
        assert not browser.get_log("browser")


@pytest.mark.skipif(not EPOCH.exists(), reason=f"{EPOCH} is not here")
def test_an_imported_trace(browser):
    with Served(EPOCH / "epoch_4proc.prv.gz") as one:
        asked = open_page(browser, one.server.url, DRAWN)
        assert all(address.startswith((one.server.url, "data:")) for address in asked)
        browser.find_element("css selector", "[name=call]").send_keys("allreduce\n")
        until(browser, "/^[1-9].* calls/.test(document.getElementById('found').textContent)")
        browser.find_element("id", "next").click()
        until(browser, "document.getElementById('details').textContent.includes('MPI_Allreduce')")
        assert not browser.get_log("browser")
