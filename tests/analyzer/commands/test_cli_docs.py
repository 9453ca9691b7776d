"""The pages of the commands show exactly what --help prints."""

import re

import pytest
from paths import DOCS

from analyzer.cli import main
from analyzer.commands.table import COMMANDS, GROUPS
from analyzer.machine.parameters import PARAMETERS

PAGES = {"analyze" if name == "look" else f"analyze-{name}": [name] for name in COMMANDS}


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
    assert {path.stem for path in DOCS.glob("analyze*.md")} == set(PAGES)


def test_a_command_is_in_the_folder_of_its_group():
    for folder, (_, commands) in GROUPS.items():
        assert all(entry.place.startswith(f"{folder}.") for entry in commands.values())


def test_the_page_of_scale_names_commands_that_more_processes_hardly_make_faster():
    text = " ".join((DOCS / "scale.md").read_text().split())
    of_use = text.partition("than are of use: ")[2].partition(". ")[0]
    for useful, said in ((4, "than four for "), (8, "eight for ")):
        names = {"look" if name == "analyze" else name for name in re.findall("`(.+?)`", _list_behind(of_use, said))}
        assert names == {name for name, entry in COMMANDS.items() if entry.useful == useful}


def _list_behind(text: str, said: str) -> str:
    """`A`, `B` and `C` behind some words."""
    return re.match("(?:`[^`]+`(?:, | and )?)+", text.partition(said)[2])[0]


def test_more_processes_than_are_of_use_are_mentioned():
    assert COMMANDS["pack"].said_of(1) == COMMANDS["cut"].said_of(4) == COMMANDS["limits"].said_of(512) == ""
    assert COMMANDS["pack"].said_of(2) == "one process writes the file; further processes hardly make it faster"
    assert COMMANDS["cut"].said_of(5) == "one process writes the file; more than 4 processes hardly make it faster"


def test_the_parameters_of_a_machine_are_in_their_page():
    """Name, unit and meaning of each."""
    text = (DOCS / "analyze-sensitivity.md").read_text()
    rows = [f"| `{p.name}` | {p.unit} | {p.meaning} |" for p in PARAMETERS.values()]
    assert "\n".join(rows) in text
