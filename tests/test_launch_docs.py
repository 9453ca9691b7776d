"""The pages of the commands show their --help, word for word."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tracelib import commands

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("name", sorted(commands.commands.commands))
def test_page_shows_the_help(name):
    page = (DOCS / f"{name}.md").read_text()
    shown = re.search(r"```help\n(.*?)```", page, re.DOTALL)
    assert shown, f"docs/{name}.md has no ```help block"
    help_text = CliRunner().invoke(commands.commands, [name, "--help"], prog_name="tracelib", terminal_width=100).output
    assert shown.group(1) == help_text
