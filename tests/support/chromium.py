"""A headless Chromium, and what it says of a page: what the page asked for, what went wrong in it."""

import json
import shutil
from contextlib import contextmanager

import pytest
from patience import patient


@contextmanager
def chromium():
    """Skips the test where there is none."""
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("there is no chromium")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,900"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(patient(120))
    try:
        yield driver
    finally:
        driver.quit()


def addresses(driver):
    """Return the addresses that the page asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def open_page(driver, address, drawn, wait=60):
    """Load a page until the script `drawn` returns true; returns the addresses that it asked for. Its console must be
    empty; what the page before has said late is not of this one."""
    driver.get("about:blank")
    for log in ("browser", "performance"):
        driver.get_log(log)
    driver.get(address)
    until(driver, drawn, wait)
    said = driver.get_log("browser")
    assert not said, said
    return addresses(driver)


def until(driver, script, wait=60):
    """Wait until a script returns true."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, patient(wait), poll_frequency=0.1).until(lambda d: d.execute_script(f"return {script}"))
