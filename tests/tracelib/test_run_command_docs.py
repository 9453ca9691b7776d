"""The pages of the commands show their --help, word for word."""

import re

import pytest
from click.testing import CliRunner
from paths import DOCS

from tracelib import commands


@pytest.mark.parametrize("name", sorted(commands.commands.commands))
def test_page_shows_the_help(name):
    page = (DOCS / f"{name}.md").read_text()
    shown = re.search(r"```help\n(.*?)```", page, re.DOTALL)
    assert shown, f"docs/{name}.md has no ```help block"
    help_text = CliRunner().invoke(commands.commands, [name, "--help"], prog_name="tracelib", terminal_width=100).output
    assert shown.group(1) == help_text
