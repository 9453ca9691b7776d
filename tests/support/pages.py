"""Pages of runs in a browser: the live view with its server in a thread, and what any page of a program must do."""

from pathlib import Path
from threading import Thread

from chromium import addresses, chromium, open_page, until

from analyzer.cli import main
from analyzer.live.run import LiveRun
from analyzer.live.session import RunSession
from analyzer.opening import open_trace
from analyzer.report.live.answers import LiveAnswers
from analyzer.report.live.server import LiveRuns, LiveServer

DRAWN = "(c => c && c.dataset.cells > 0 && c.dataset.busy === '0')(document.getElementById('timeline'))"
REPORT_DRAWN = "[...document.querySelectorAll('canvas.timeline')].every(c => c.dataset.cells > 0)"
LARGEST = 5_000_000
"""Bytes of a report."""


class Served:
    """A server in a thread, which ends with the block."""

    def __init__(self, file, view=None, *others, views=None):
        every = [RunSession(lambda one=one: open_trace(one), LiveRun(open_trace(one))) for one in (file, *others)]
        for one in every:
            one.find_iterations()
        self.every, self.looked_at = every, every[0]
        self.duration = self.looked_at.now.run.trace.duration_ns
        names = map(str, (file, *others))
        self.server = LiveServer(
            LiveRuns([LiveAnswers(at, name, view, views) for at, name in zip(every, names, strict=True)])
        )
        self.thread = Thread(target=self.server.serve_forever, args=(0.05,))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        for one in self.every:
            one.close()


def check_pages(file: Path, folder: Path, call: str) -> None:
    """The report and the live view of a run are drawn, ask nobody else and complain of nothing; zoom, what is at the
    pointer and a search for `call`, which the program makes, have their effect. Skips the test without Chromium."""
    with chromium() as browser:
        _check_report(browser, file, folder / "page.html")
        with Served(file) as served:
            _check_view(browser, served, call)


def _check_report(browser, file, page):
    assert main(["report", str(file), "-o", str(page), "-q"]) == 0
    assert page.stat().st_size < LARGEST
    asked = open_page(browser, f"file://{page}", REPORT_DRAWN)
    assert {one for one in asked if not one.startswith("data:")} == {f"file://{page}"}
    charts = browser.execute_script(
        "return [...document.querySelectorAll('svg.chart')].map(s => s.querySelectorAll('path').length)"
    )
    assert len(charts) >= 6 and min(charts) > 1  # sensitivity and counters, if they are known, too
    browser.find_element("css selector", "button[data-do=in]").click()
    until(browser, "document.querySelector('.timeline').dataset.begin > 0")


def _check_view(browser, served, call):
    from selenium.webdriver.common.action_chains import ActionChains

    asked = open_page(browser, served.server.url, DRAWN)
    for _ in range(4):
        browser.find_element("css selector", "button[data-do=in]").click()
    near = f"(d => d.end - d.begin < {served.duration} / 15)(document.getElementById('timeline').dataset)"
    until(browser, f"{DRAWN} && {near}")
    canvas = browser.find_element("id", "timeline")
    ActionChains(browser).move_to_element_with_offset(canvas, 80, -80).perform()
    until(browser, "document.querySelectorAll('#details dt').length > 2")
    browser.find_element("css selector", "[name=call]").send_keys(f"{call}\n")
    until(browser, r"/^[1-9].* calls/.test(document.getElementById('found').textContent)")
    browser.find_element("css selector", "button[data-do=all]").click()
    browser.find_element("id", "next").click()
    until(browser, f"/{call}/i.test(document.getElementById('details').textContent)")
    asked += addresses(browser)
    assert all(one.startswith((served.server.url, "data:")) for one in asked)
    assert not browser.get_log("browser")
