"""The pages become a site without a warning, and it fetches nothing when it is opened."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import urldefrag, urlparse

import pytest
from paths import DOCS, ROOT
from patience import patient

pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra docs)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=patient(300),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


class Links(HTMLParser):
    """Files that a page fetches when it is opened, and targets of its links."""

    def __init__(self, page):
        super().__init__()
        self.fetched, self.led, self.names = [], [], set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.names.add(of.get("id"))
        if tag in ("script", "img", "iframe", "source", "embed"):
            self.fetched.append(of.get("src"))
        if tag == "link" and of.get("rel") not in ("canonical", "prev", "next"):
            self.fetched.append(of.get("href"))
        if tag == "a":
            self.led.append(of.get("href"))


@pytest.fixture(scope="module")
def pages(site):
    return {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}


def test_every_page_is_there(site):
    wanted = {str(path.relative_to(DOCS).with_suffix(".html")) for path in DOCS.rglob("*.md")}
    there = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    assert wanted | {"index.html", "examples.html", "csrc.html", "contributing.html"} <= there


def test_nothing_is_fetched_from_elsewhere(site, pages):
    fetched = [(page.name, of) for page, links in pages.items() for of in links.fetched if of]
    assert len(fetched) > len(pages)
    for name, of in fetched:
        assert not urlparse(of).netloc, (name, of)
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert "url(http" not in styles and "@import" not in styles and "url(//" not in styles


def test_links_and_pictures_lead_to_what_is_there(pages):
    for page, links in pages.items():
        for of in filter(None, [*links.led, *links.fetched]):
            if urlparse(of).scheme or urlparse(of).netloc:
                continue
            file, name = urldefrag(of)
            target = (page.parent / file).resolve() if file else page
            assert target.exists(), (page.name, of)
            if name and target in pages and not name.startswith("__"):
                assert name in pages[target].names, (page.name, of)


def test_lists_within_lists_are_lists(site):
    """Written with two spaces, as GitHub takes them."""
    page = (site / "performance.html").read_text()
    assert "<em>Opening.</em>" in page and "* <em>" not in page
