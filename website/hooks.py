"""Hooks of MkDocs for the pages of this repository, which are written for readers of the files.

The navigation follows the list of commands. README, CONTRIBUTING and the README of folders are pages, too. Links to
sources, which are no pages, become their text. Lists are indented as Markdown's first implementation wants it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
    "csrc/README.md": "csrc.md",
}
"""Pages from outside docs/, and their names on the site."""

_NAV: list[tuple[str, list[str]]] = [
    ("Start", [
        "index.md", "doctor.md", "tutorials/heat.md", "tutorials/lammps.md", "tutorials/mpi4py.md", "metrics.md",
        "glossary.md", "why.md",
    ]),
    ("Record", [
        "run.md", "lib.md", "regions.md", "counters.md", "bounds.md", "places.md", "recover.md", "ending.md",
        "spawn.md", "ngmpi.md", "call.md", "drivers.md", "balance.md", "machine.md",
    ]),
    ("Use", ["ci.md", "python.md", "scale.md", "computing.md", "examples.md"]),
    ("Evidence", [
        "comparison.md", "validation.md", "performance.md", "results.md", "studies.md", "scheduling.md",
        "paraver-producers.md",
    ]),
    ("Documents", [
        "documents.md", "documents/girona.md", "documents/casas.md", "documents/tia.md", "documents/ga.md",
        "documents/pempis.md", "references.md",
    ]),
    ("Reference", [
        "format.md", "mpi-coverage.md", "dimemas.md", "extending.md", "csrc.md", "contributing.md", "style.md",
    ]),
]  # fmt: skip
_TITLES = {"index.md": "What it is", "doctor.md": "No output?"}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(^ *```.*?^ *```$)", re.M | re.S)
_FENCE = re.compile(r"^ *```")
_ITEM = re.compile(r"^ *(\*|\d+\.) ")


def on_config(config: Any) -> Any:
    """The navigation: what _NAV says, the commands in their groups, and what is in neither."""
    config["nav"] = _nav()
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside."""
    for source, name in OUTSIDE.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links and lists of a page."""
    sources = {name: source for source, name in OUTSIDE.items()}
    name = page.file.src_uri
    source = ROOT / sources.get(name, f"docs/{name}")
    pieces = _CODE.split(markdown)  # text and code in turns
    pieces[::2] = (_LINK.sub(lambda found: _link(found, source, name), text) for text in pieces[::2])
    return "\n".join(_lines("".join(pieces)))


def on_post_build(config: Any, **_: Any) -> None:
    """The index of the search also as a script, which a page that was opened as a file may load."""
    index = Path(config["site_dir"]) / "search" / "search_index.json"
    index.with_suffix(".js").write_text(f"var __index = {index.read_text()}")


def _nav() -> list[dict[str, Any]]:
    sys.path.insert(0, str(ROOT))
    from analyzer.commands.registry import GROUPS, places

    commands = []
    for group, title in GROUPS.items():
        names = [name for name, of in places().items() if of == group]
        pages = ["analyze.md" if name == "look" else f"analyze-{name}.md" for name in names]
        commands.append({title: [page for page in pages if (DOCS / page).exists()]})
    found: list[dict[str, Any]] = [{title: [_titled(page) for page in pages]} for title, pages in _NAV]
    found.insert(2, {"Analyze": commands})
    listed = {page for _, pages in _NAV for page in pages} | {p for of in commands for ps in of.values() for p in ps}
    others = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
    if more := [page for page in others if page not in listed]:
        found.append({"More": more})
    return found


def _titled(page: str) -> str | dict[str, str]:
    return {_TITLES[page]: page} if page in _TITLES else page


def _lines(markdown: str) -> Iterator[str]:
    """The lines of a page, code left as it is."""
    in_code, before = False, ""
    for line in markdown.split("\n"):
        fence = bool(_FENCE.match(line))
        if fence or in_code:
            in_code ^= fence
            yield line
        else:
            is_item = bool(_ITEM.match(line))
            if is_item and before.strip() and not _ITEM.match(before) and not before.startswith("  "):
                yield ""  # else it is no list for this implementation
            yield _indented(line)
        before = line


def _indented(line: str) -> str:
    """Lists in lists by four spaces a level, not two; indented code stays."""
    spaces = len(line) - len(line.lstrip(" "))
    return f"{'  ' if spaces in (2, 3) else ''}{line}"


def _link(found: re.Match[str], source: Path, name: str) -> str:
    """The same link from the page's place on the site; the text alone where it leads to no page."""
    picture, text, target = found.groups()
    file, _, heading = target.partition("#")
    if "://" in target or not file:
        return found[0]
    path = Path(os.path.normpath(source.parent / file))
    page = OUTSIDE.get(str(path.relative_to(ROOT))) if path.is_relative_to(ROOT) else None
    if page is None and path.is_relative_to(DOCS):
        page = str(path.relative_to(DOCS))
    if page is None:
        return text
    relative = os.path.relpath(page, Path(name).parent)
    return f"{picture}[{text}]({relative}{'#' * bool(heading)}{heading})"
