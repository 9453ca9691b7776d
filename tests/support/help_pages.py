"""The help of each command as its page in docs/ shows it: all options. As a program, writes it into the pages."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import click
from click.testing import CliRunner
from paths import DOCS

from analyzer.cli import main
from analyzer.commands import registry
from tracelib import commands
from tracelib.command_line import Option
from tracelib.ngmpi import cli as ngmpi

ANALYZE = {DOCS / ("analyze.md" if name == "look" else f"analyze-{name}.md"): name for name in registry.places()}
"""Page of each command of analyze."""
TRACELIB = {DOCS / f"{name}.md": name for name in commands.commands.commands}
"""Page of each command of tracelib."""


def flag(command: click.Command) -> str:
    """Return the option that shows all of the command's options."""
    return "--help-all" if any(isinstance(one, Option) and one.rare for one in command.params) else "--help"


def analyze_help(name: str = "") -> str:
    """Return the help of a command of analyze, or its list of commands."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main([name, flag(registry.find(name))] if name else ["--help"]) == 0
    return out.getvalue().strip()


def tracelib_help(name: str) -> str:
    """Return the help of a command of tracelib."""
    words = [name, flag(commands.commands.commands[name])]
    return CliRunner().invoke(commands.commands, words, prog_name="tracelib", terminal_width=100).output


def ngmpi_help() -> str:
    """Return the help of python -m tracelib.ngmpi."""
    return CliRunner().invoke(ngmpi.command, [flag(ngmpi.command)], prog_name=ngmpi.PROGRAM, terminal_width=100).output


def _write(page: Path, begin: str, shown: str) -> None:
    text = page.read_text()
    block = re.compile(rf"```(text|help)\nUsage: {re.escape(begin)} .*?\n```", re.DOTALL)
    page.write_text(block.sub(lambda found: f"```{found[1]}\n{shown.strip()}\n```", text, count=1))


if __name__ == "__main__":
    for page, name in ANALYZE.items():
        _write(page, f"analyze {name}", analyze_help(name))
    _write(DOCS / "analyze.md", "analyze [OPTIONS]", analyze_help())
    for page, name in TRACELIB.items():
        _write(page, f"tracelib {name}", tracelib_help(name))
    _write(DOCS / "ngmpi.md", ngmpi.PROGRAM, ngmpi_help())
