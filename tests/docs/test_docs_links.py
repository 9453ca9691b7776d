"""Every link between pages leads to a file and, where it names one, a heading; every page can be reached."""

import re

import pytest
from paths import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("csrc/*.md"), *ROOT.glob("examples/*.md")]


def prose(page):
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def links(page):
    """(file, heading) of those that lead to no other site."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" not in target:
            file, _, heading = target.partition("#")
            yield (page.parent / file).resolve() if file else page, heading


def headings(page):
    """As GitHub names them in addresses."""
    for line in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line)
        yield re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    wrong = [f"{file}#{heading}" for file, heading in links(page) if not file.exists()]
    wrong += [f"{f}#{h}" for f, h in links(page) if h and f.suffix == ".md" and f.exists() and h not in headings(f)]
    assert not wrong


def test_every_page_is_linked():
    linked = {file for page in PAGES for file, _ in links(page) if file != page}
    assert not set(PAGES) - linked - {ROOT / "README.md"}
