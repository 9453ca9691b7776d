"""The command lines on all pages are of commands that exist, with options that they have."""

import re
import shlex

import click
import pytest
from paths import DOCS, ROOT

from analyzer.commands.group import AnalyzeGroup
from analyzer.commands.registry import names
from tracelib import commands as tracelib_commands

PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *DOCS.rglob("*.md")]
_CODE = re.compile(r"^```(?:sh|yaml)\n(.*?)^```|((?:^    \S[^\n]*\n)+)", re.M | re.S)
_LINE = re.compile(r"(?:^|[;&|]\s*|-\s+(?:run:\s+)?|\bdo\s+|mpirun -n \w+ )(analyze|tracelib) ([^;|&\n]*)", re.M)


def lines(page):
    """(program, words) of each line, what is behind `--` left out."""
    for found in _CODE.finditer(page.read_text()):
        text = re.sub(r"\\\n\s*", " ", found[1] or re.sub(r"^    ", "", found[2], flags=re.M))
        for program, rest in _LINE.findall(text):
            words = shlex.split(re.sub(r"\s#.*", "", rest), posix=True)
            yield program, words[: words.index("--")] if "--" in words else words


def command_of(program, words):
    """The command, and the words behind its name; None where the line is a form and no command."""
    if not words or re.search(r"[A-Z]{2}", words[0].partition(".")[0]) or words[0].startswith("-"):
        return None
    if program == "tracelib":
        return tracelib_commands.commands.commands.get(words[0]), words[1:]
    if words[0] in names():
        return AnalyzeGroup().get_command(click.Context(click.Group()), words[0]), words[1:]
    assert re.search(r"\.|^\w+$", words[0]), words
    return AnalyzeGroup().get_command(click.Context(click.Group()), "look"), words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page):
    for program, words in lines(page):
        if (found := command_of(program, words)) is None:
            continue
        command, rest = found
        assert command is not None, (program, words)
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        known |= {"--help", "-h"}
        given = {word.partition("=")[0] for word in rest if word.startswith("--")}
        assert given <= known, (program, words, given - known)


def test_there_are_many_of_them():
    assert sum(1 for page in PAGES for _ in lines(page)) > 100
