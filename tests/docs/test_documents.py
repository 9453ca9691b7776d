"""docs/documents.md and its pages: commands exist as they stand there, and verdicts are counted as they are."""

import importlib.util
import re
import shlex
from collections import Counter
from functools import reduce

import click
import pytest
from paths import DOCS, ROOT

from analyzer.commands.group import AnalyzeGroup
from analyzer.commands.registry import names
from tracelib import commands as tracelib_commands

INDEX = (DOCS / "documents.md").read_text()
PAGES = {page.stem: page.read_text() for page in sorted((DOCS / "documents").glob("*.md"))}
VERDICTS = ["works", "in part", "missing", "wrong"]
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M)
_COUNTED = r"(\d+) work, (\d+) in part, (\d+) missing, (\d+) wrong\.$"
_SUMS = re.compile(rf"^Of (\d+) rows, at the first trial: {_COUNTED}\nNow: {_COUNTED}", re.M)


def rows(page):
    """(where, what, command, first verdict, verdict now) of each row."""
    return [found for found in _ROW.findall(page) if found[0] not in ("where", "---")]


def verdicts(page, column):
    """How often each verdict stands in a column, in the order of VERDICTS."""
    counts = Counter(row[column].partition(":")[0] for row in rows(page))
    assert set(counts) <= set(VERDICTS)
    return [counts[verdict] for verdict in VERDICTS]


def command_of(words):
    """The command that words call, and its arguments."""
    if words[0] == "tracelib":
        return tracelib_commands.commands.commands[words[1]], words[2:]
    name = words[1] if words[1] in names() else "look"
    assert name != "look" or words[1] == "look" or words[1].endswith((".h5", ".prv")), words
    return AnalyzeGroup().get_command(click.Context(click.Group()), name), words[1 if words[1] != name else 2 :]


def module_command(name):
    """The command of a module that is run by `python -m`, None where it parses its arguments by other means."""
    assert importlib.util.find_spec(name), name
    if name != "tracelib.ngmpi":
        return None
    from tracelib.ngmpi.cli import command

    return command


def check_options(command, arguments, line):
    """Hold that a command has these options, and that they take these choices; nothing is run."""
    known = {option: p for p in command.params for option in (*p.opts, *p.secondary_opts)}
    for word, value in zip(arguments, [*arguments, ""][1:], strict=True):
        if word.startswith("-"):
            assert word in known, (line, word)
            if isinstance(kind := known[word].type, click.Choice):
                assert value in kind.choices, (line, word, value)


def check(line):
    """Hold that a command of a page can be typed."""
    words = shlex.split(line)
    if words[:2] == ["mpirun", "-n"]:
        words = words[3:]
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M), line
    elif words[:2] == ["python", "-m"]:
        if command := module_command(words[2]):
            check_options(command, words[3:], line)
    elif words[0] in ("analyze", "tracelib"):
        command, arguments = command_of(words)
        check_options(command, arguments[: arguments.index("--")] if "--" in arguments else arguments, line)
    else:
        check_name(line)


def check_name(name):
    """Hold that a dotted name of Python exists."""
    parts = name.split(".")
    modules = [n for n in range(1, len(parts) + 1) if _is_module(".".join(parts[:n]))]
    module = importlib.import_module(".".join(parts[: modules[-1]]))
    reduce(getattr, parts[modules[-1] :], module)


def _is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("name", PAGES)
def test_commands_can_be_typed(name):
    for row in rows(PAGES[name]):
        if row[2] != "-":
            (line,) = re.fullmatch(r"`([^`]+)`", row[2].replace("\\|", "|")).groups()
            check(line)


@pytest.mark.parametrize("name", PAGES)
def test_what_works_has_a_command(name):
    assert not [row for row in rows(PAGES[name]) if row[2] == "-" and row[4] == "works"]


@pytest.mark.parametrize("name", PAGES)
def test_reasons_stand_where_something_does_not_work(name):
    for row in rows(PAGES[name]):
        assert all((verdict == "works") != (": " in verdict) for verdict in row[3:]), row


@pytest.mark.parametrize("name", PAGES)
def test_the_head_of_a_page_counts_its_rows(name):
    (found,) = _SUMS.findall(PAGES[name])
    first, now = verdicts(PAGES[name], 3), verdicts(PAGES[name], 4)
    assert [int(number) for number in found] == [len(rows(PAGES[name])), *first, *now]


def test_the_table_of_documents_counts_their_rows():
    counted = {
        name: [int(cell) for cell in cells.split(" | ")]
        for name, cells in re.findall(r"^\| (?:\[[^]]+\]\(documents/(\w+)\.md\)|all) \| ([\d |]+) \|$", INDEX, re.M)
    }
    total = counted.pop("")
    assert counted == {name: [len(rows(page)), *verdicts(page, 3), *verdicts(page, 4)] for name, page in PAGES.items()}
    assert total == [sum(column) for column in zip(*counted.values(), strict=True)]


def test_the_list_of_what_does_not_work():
    listed = re.findall(r"^\| \[[^]]+\]\(documents/(\w+)\.md\) \| ([^|]+) \| ([^|]+) \| ([^|\d][^|]*) \|$", INDEX, re.M)
    wanted = [
        (name, where, what, now) for name in PAGES for where, what, _, _, now in rows(PAGES[name]) if now != "works"
    ]
    assert sorted(listed) == sorted(wanted)


def test_unknown_commands_and_options_are_noticed():
    for line in [
        "analyze nothing run",
        "analyze replay run.h5 --nothing",
        "make nothing",
        "python -m tracelib.nothing",
    ]:
        with pytest.raises((AssertionError, KeyError)):
            check(line)
    with pytest.raises(AssertionError):
        check("analyze views run.h5 --level nothing")
    with pytest.raises(AttributeError):
        check("analyzer.nothing")
