"""The pages say what the command and its file are."""

import re
from pathlib import Path

import pytest
from help_pages import ngmpi_help
from paths import DOCS

from tracelib.ngmpi import config, options
from tracelib.schema import net, net_collectives

PAGE = (DOCS / "ngmpi.md").read_text()
FORMAT = re.search(r"## A network\n(.*?)\n## ", (DOCS / "format.md").read_text(), re.DOTALL)[1]


def test_page_shows_the_help():
    assert re.search(r"```help\n(.*?)```", PAGE, re.DOTALL)[1] == ngmpi_help()


def test_page_shows_every_mode_and_an_options_file_that_works():
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(options.MODES)
    said = config.parse(re.search(r"```text\n(CLL.*?)```", PAGE, re.DOTALL)[1], "page")
    assert options.decide(said, 6, output=Path("net.h5")).ranks == (1, 3, 5)


@pytest.mark.parametrize(
    ("table", "columns"),
    [*((name, dtype.names) for name, dtype in net.TABLES.items()), ("receiver", net.RECEIVER.names)],
)
def test_format_names_every_column(table, columns):
    part = re.search(rf"\*\*`{table}`\*\*(.*?)(?=\n\*\*`|\Z)", FORMAT, re.DOTALL)[1]
    assert set(columns) <= set(re.findall(r"`(\w+)`", part))


def test_format_names_every_number():
    rows = re.search(r"\| `flags` \|(.*)", FORMAT)[1]
    assert sum(int(n) for n in re.findall(r"\b(1|2|4|8|16|32)\b(?! PRTT)", rows)) == sum(
        flag.value for flag in net.RowFlag
    )
    assert all(f"{mode.value} {mode.name.lower()}" in " ".join(FORMAT.split()) for mode in net.PairMode)
    assert f'"{net.FORMAT}", {net.VERSION}' in FORMAT


def test_format_names_every_column_of_collectives():
    part = re.search(r"\*\*`collectives`\*\* and \*\*`broadcasts`\*\*(.*?)(?=\n\*\*`|\Z)", FORMAT, re.DOTALL)[1]
    columns = {name for dtype in net_collectives.TABLES.values() for name in dtype.names}
    assert columns <= set(re.findall(r"`(\w+)`", part))
