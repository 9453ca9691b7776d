"""The page on `analyze fit` shows what the command prints for its table, and its Python runs."""

import re

import pytest
from paths import DOCS

from analyzer.cli import main

PAGE = (DOCS / "analyze-fit.md").read_text()
COMMANDS = re.findall(r"^```text\n\$ analyze (.*)\n([^`]*)```$", PAGE, re.MULTILINE)
QUOTED = re.compile(r'"([^"]*)"|(\S+)')


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The page's table in the working directory."""
    (table,) = re.findall(r"^```csv\n([^`]*)```$", PAGE, re.MULTILINE)
    (tmp_path / "runs.csv").write_text(table)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("line", "expected"), COMMANDS)
def test_the_page_shows_what_is_printed(line, expected, runs, capsys):
    assert main([quoted or plain for quoted, plain in QUOTED.findall(line)]) == 0
    assert capsys.readouterr().out.strip() == expected.strip()


def test_the_python_of_the_page_runs(runs):
    space: dict = {}
    for block in re.findall(r"^```python\n([^`]*)```$", PAGE, re.MULTILINE):
        exec(block, space)
    assert space["low"] <= space["value"] or space["part"] >= 0
    assert len(COMMANDS) == 3
