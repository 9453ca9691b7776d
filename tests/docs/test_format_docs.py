"""docs/format.md, the contract of the files, names all that the schema defines, and nothing else."""

import re

import pytest
from paths import DOCS

from csrc.generate.template import HALF_FANOUT
from tracelib import schema
from tracelib.schema import node

TEXT = (DOCS / "format.md").read_text()


def section(table: str) -> str:
    """Return the page's part on a table of a rank file."""
    return re.search(rf"\*\*`{table}`\*\*(.*?)(?=\n\*\*`|\n## )", TEXT, re.DOTALL)[1]


@pytest.mark.parametrize("table", [t for t in schema.TABLES if schema.TABLES[t].names])
def test_columns(table):
    named = set(re.findall(r"`(\w+)`", section(table)))
    columns = set(schema.TABLES[table].names)
    assert columns <= named
    elsewhere = {*schema.TABLES, "procedures", *schema.CALL.names, "id", "unit", "_end", "MPI_Send", "MPI_Send_c"}
    assert named - columns <= elsewhere


@pytest.mark.parametrize(("table", "size_bytes"), [("calls", 48), ("requests", 40), ("polls", 32)])
def test_sizes_of_rows(table, size_bytes):
    assert schema.TABLES[table].itemsize == size_bytes
    assert f"({size_bytes} bytes)" in section(table)


def test_attributes():
    rows = re.search(r"### Attributes\n(.*?)### Tables", TEXT, re.DOTALL)[1]
    named = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", rows, re.MULTILINE))))
    assert named == {"schema_version", *schema.INTEGER_ATTRIBUTES, *schema.TEXT_ATTRIBUTES}


def test_numbers_of_completions():
    numbers = [int(n) for n in re.findall(r"(?:\| |, )(\d+) (?=[a-z])", section("requests"))]
    assert numbers == [w.value for w in schema.RequestKind]


def test_numbers_of_peers_and_states():
    for peer in schema.Peer:
        assert f"{peer.value} " in section("calls")
    states = re.search(r"\| `state` \| (.*?) \|", TEXT)[1]
    assert [int(n) for n in re.findall(r"\d+", states)] == [s.value for s in schema.ProcessState]


def test_types_of_events_and_version():
    types = {value for name, value in vars(schema).items() if name.endswith("_TYPE")}
    assert types == {int(n) for n in re.findall(r"^\| (\d+) \|", section("events"), re.MULTILINE)}
    assert f"`schema_version` ({schema.VERSION})" in TEXT


def test_how_much_a_rank_can_record():
    chunks, rows = 2 * HALF_FANOUT, schema.CHUNK_ROWS["calls"]
    assert f"{round(chunks**2 * rows / 1e6)} million calls ({chunks} x {chunks} chunks of {rows} rows)" in " ".join(
        TEXT.split()
    )


def test_samples_of_a_node():
    part = re.search(r"## A node's samples\n(.*?)\n## ", TEXT, re.DOTALL)[1]
    attributes, columns = (re.findall(r"^\| (`.*)", half, re.MULTILINE) for half in part.split("| column |"))
    assert [n for row in attributes for n in re.findall(r"`(\w+)`", row.split(" | ")[0])] == [*node.SYSTEM_ATTRIBUTES]
    kinds = {n: row.split("|")[2].strip() for row in columns for n in re.findall(r"`(\w+)`", row.split("|")[0])}
    gauge = {name: "G" if kind is node.SampleKind.GAUGE else "C" for name, (_, kind) in node.SYSTEM.items()}
    assert kinds == dict.fromkeys(node.SYSTEM_TIMES, "") | gauge
