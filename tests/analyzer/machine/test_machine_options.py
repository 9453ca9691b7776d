"""Options of a machine on the command line: units that must be there, texts that are no numbers."""

import json

import pytest

from analyzer.cli import main
from analyzer.machine.description import Machine, Node


@pytest.fixture
def ring(tmp_path):
    assert main(["ring", "--tasks", "2", "--iterations", "2", "-q", "-o", str(tmp_path / "ring.dim")]) == 0
    return str(tmp_path / "ring.dim")


@pytest.mark.parametrize(
    "option, value",
    [
        ("--latency", "5"), ("--latency", "-5us"), ("--latency", "inf"), ("--latency", "1e400s"),
        ("--bandwidth", "100"), ("--bandwidth", "100furlongs"), ("--eager-limit", "-3"),
        ("--buses", "99999999999"), ("--links", "99999999999"), ("--cpus", "99999999999"), ("--cpus", "0"),
        ("--speed", "nan"), ("--speed", "inf"),
    ],
)  # fmt: skip
def test_what_is_no_machine_is_said_in_one_line(ring, capsys, option, value):
    assert main(["replay", ring, option, value]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"Error: Invalid value for '{option}'") and said.count("\n") == 1


@pytest.mark.parametrize("latency", ["5000us", "5ms", "0.005s", "5e+6ns"])
def test_latency_in_any_unit(ring, capsys, latency):
    """Four messages one after the other: 4.2 ms of computation and 5 ms for each, 0.84 ms after the last."""
    assert main(["replay", ring, "--latency", latency, "--json"]) == 0
    predicted = json.loads(capsys.readouterr().out)["predicted_s"]
    assert predicted == pytest.approx(4 * (4.2e-3 + 5e-3) + 0.84e-3, abs=1e-9)


def test_ranks_fill_nodes_with_any_number_of_cpus():
    nodes = tuple(Node(cpus=n) for n in (2, 1, 2**31 - 1))
    assert Machine(nodes=nodes).place(5, taken=1) == [0, 1, 2, 2, 2]
    assert Machine(nodes=nodes[:2]).place(5) == [0, 0, 1, 0, 0]
