"""The pages of the commands show their --help, word for word."""

import re

import pytest
from help_pages import tracelib_help
from paths import DOCS

from tracelib import commands


@pytest.mark.parametrize("name", sorted(commands.commands.commands))
def test_page_shows_the_help(name):
    page = (DOCS / f"{name}.md").read_text()
    shown = re.search(r"```help\n(.*?)```", page, re.DOTALL)
    assert shown, f"docs/{name}.md has no ```help block"
    assert shown.group(1) == tracelib_help(name)
