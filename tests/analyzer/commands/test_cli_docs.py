"""The pages of the commands show exactly what --help prints."""

import re

import pytest
from help_pages import ANALYZE, analyze_help
from paths import DOCS

from analyzer.commands.registry import find, places
from analyzer.machine.parameters import PARAMETERS


@pytest.mark.parametrize(("page", "name"), ANALYZE.items(), ids=lambda one: str(getattr(one, "stem", one)))
def test_the_page_shows_the_help(page, name):
    assert f"```text\n{analyze_help(name)}\n```" in page.read_text()


def test_the_main_page_shows_the_list_of_commands():
    assert f"```text\n{analyze_help()}\n```" in (DOCS / "analyze.md").read_text()


def test_every_command_has_a_page():
    assert set(DOCS.glob("analyze*.md")) == set(ANALYZE)


def test_a_file_is_named_like_its_command():
    for name, group in places().items():
        module = find(name).callback.__module__
        assert module == f"analyzer.commands.{group}.{name.replace('-', '_')}"


def test_the_page_of_scale_names_commands_that_more_processes_hardly_make_faster():
    text = " ".join((DOCS / "scale.md").read_text().split())
    of_use = text.partition("than are of use: ")[2].partition(". ")[0]
    for useful, said in ((4, "than four for "), (8, "eight for ")):
        names = {"look" if name == "analyze" else name for name in re.findall("`(.+?)`", _list_behind(of_use, said))}
        assert names == {name for name in places() if (alone := find(name).spec.alone) and alone.useful == useful}


def _list_behind(text: str, said: str) -> str:
    """`A`, `B` and `C` behind some words."""
    return re.match("(?:`[^`]+`(?:, | and )?)+", text.partition(said)[2])[0]


def test_more_processes_than_are_of_use_are_mentioned():
    assert find("pack").spec.remark(1) == find("cut").spec.remark(4) == find("limits").spec.remark(512) == ""
    assert find("pack").spec.remark(2) == "one process writes the file; further processes hardly make it faster"
    assert find("cut").spec.remark(5) == "one process writes the file; more than 4 processes hardly make it faster"


def test_the_parameters_of_a_machine_are_in_their_page():
    """Name, unit and meaning of each."""
    text = (DOCS / "analyze-sensitivity.md").read_text()
    rows = [f"| `{p.name}` | {p.unit} | {p.meaning} |" for p in PARAMETERS.values()]
    assert "\n".join(rows) in text
