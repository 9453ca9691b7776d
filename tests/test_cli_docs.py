"""The pages of the commands show exactly what --help prints."""

from pathlib import Path

import pytest

from analyzer.cli import COMMANDS, main
from analyzer.replay.parameters import PARAMETERS

DOCS = Path(__file__).resolve().parent.parent / "docs"
WITH_A_PAGE = """
check critical-path dim efficiency fit-machine info limits loggp machine monte-carlo pack profile prv replay
ring sensitivity validate waits what-if
"""
PAGES = {"analyze": ["look"]} | {f"analyze-{name}": [name] for name in WITH_A_PAGE.split()}


def help_of(arguments, capsys) -> str:
    assert main([*arguments, "--help"]) == 0
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_the_help(page, capsys):
    text = (DOCS / f"{page}.md").read_text()
    assert f"```text\n{help_of(PAGES[page], capsys)}\n```" in text


def test_the_main_page_shows_the_list_of_commands(capsys):
    assert f"```text\n{help_of([], capsys)}\n```" in (DOCS / "analyze.md").read_text()


def test_every_command_has_a_page():
    assert {"look" if page == "analyze" else page.removeprefix("analyze-") for page in PAGES} == set(COMMANDS)
    assert {path.stem for path in DOCS.glob("analyze*.md")} >= set(PAGES)


def test_the_parameters_of_a_machine_are_in_their_page():
    """Name, unit and meaning of each."""
    text = (DOCS / "analyze-sensitivity.md").read_text()
    rows = [f"| `{p.name}` | {p.unit} | {p.meaning} |" for p in PARAMETERS.values()]
    assert "\n".join(rows) in text
