"""Every command line of `analyze` on the pages does what the page says: its exit code, and the tables that it shows."""

import re
import shlex
from pathlib import Path

import pytest
from documented import lines, shown, tables
from documented_files import prepare
from paths import DOCS, EPOCH

from analyzer.cli import main
from analyzer.commands.registry import names

PAGES = {page.stem: page.read_text() for page in sorted(DOCS.glob("*.md"))}
LINES = {
    name: found for name, text in PAGES.items() if (found := [line for line in lines(text) if line[:8] == "analyze "])
}
SERVES = "analyze view "
"""Lines that begin so serve until they are interrupted: tests of the live view run them."""
ELSEWHERE = {
    "analyze balance b.h5 c.h5 --plan mix.plan --items 20000 --items 40000 --picture dfpt.svg": "needs 18 ranks under "
    "the plan: tests of balance",
    "analyze fit run-*.h5 --set n=ARG2 --at ranks=4096,n=1000": "needs runs of several sizes: tests of fit",
    "analyze representative run-2.h5 --estimate": "needs a run that followed a plan: tests of representative",
}
"""Other lines that are not run here, and why."""
OTHER_FILES = {"analyze-loggp", "analyze-study", "balance", "call", "views"}
"""Pages whose lines read what their own programs write, or that have a test of their own."""
CODES = {
    'analyze look --no-files run.h5 --fail-if "efficiency < 0.8"': 1,
    'analyze diff before.h5 run.h5 --fail-if "surely_slower > 5 %"': 1,
}
"""Exit codes that are not 0: here, what is checked is so."""


@pytest.mark.parametrize("name", [name for name in LINES if name not in OTHER_FILES])
def test_the_lines_of_a_page(name, tmp_path, monkeypatch, capsys):
    page = PAGES[name]
    if "epoch_" in "".join(LINES[name]) and not EPOCH.exists():
        pytest.skip("shared/data is not there")
    monkeypatch.chdir(tmp_path)
    printed = set()
    for line in dict.fromkeys(LINES[name]):
        if line in ELSEWHERE or line.startswith(SERVES):
            continue
        prepare(tmp_path, line, page)
        capsys.readouterr()
        code = main([word for given in shlex.split(line)[1:] for word in expanded(given)])
        said = capsys.readouterr()
        assert code == CODES.get(line, 0), (line, said.err)
        printed |= tables(said.out)
    assert shown(page) <= printed, shown(page) - printed


def expanded(word):
    """As a shell does."""
    return sorted(map(str, Path().glob(word))) if re.fullmatch(r"[\w-]+\*\.h5", word) else [word]


def test_all_lines_are_accounted_for():
    everything = {line for found in LINES.values() for line in found}
    assert set(ELSEWHERE) | set(CODES) <= everything
    assert len(ELSEWHERE) <= 5 and len(CODES) <= 5 and set(LINES) >= OTHER_FILES
    named = {line.split()[1] for line in everything}
    assert set(names()) - {"look"} <= named
