"""A measured network in the replay: a ping-pong takes what the model says, back-to-back messages one gap each."""

import numpy as np
import pytest

from analyzer.loggp.line_fit import CostLine
from analyzer.loggp.model import LoOgGP, SizeInterval
from analyzer.machine.description import Machine, Network, Node
from analyzer.machine.measured_network import costs_of
from analyzer.machine.read_toml import read_toml
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.simulate import simulate


def line(start, slope):
    return CostLine(start, slope, (start, start), (slope, slope))


MODEL = LoOgGP(
    5e-6,
    (5e-6, 5e-6),
    (
        SizeInterval(1, 4000, line(1e-6, 1e-10), line(2e-6, 3e-10)),
        SizeInterval(4200, 1 << 20, line(3e-6, 2e-10), line(9e-6, 8e-10)),
    ),
)
SIZES = [0, 1, 100, 4000, 4100, 4101, 4200, 65536, 1 << 20, 1 << 22]


def machine(inside, **links):
    """Both ranks on one node, or each on its own."""
    costs = costs_of(MODEL)
    if inside:
        node = Node(cpus=2, intra=costs, **{f"intra_{name}": n for name, n in links.items()})
        return Machine(nodes=(node,), dialect="thesis")
    network = Network(pieces=costs)
    return Machine(node=Node(**links), networks=(network,), mapping="round-robin", dialect="thesis")


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_ping_pong(size, inside):
    """Half of a ping-pong is the model's time."""
    there = {"kind": OperationKind.SEND, "bytes": size, "flags": OperationFlag.IMMEDIATE}
    back = {"kind": OperationKind.RECV, "bytes": size}
    streams = [
        operations({**there, "peer": 1}, {**back, "peer": 1}),
        operations({**back, "peer": 0}, {**there, "peer": 0}),
    ]
    found = simulate(Program.from_streams([*streams]), machine(inside))
    assert found.end_ns / 2 == pytest.approx(float(MODEL.time(size)) * 1e9, abs=2)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_messages_follow_each_other_at_the_gap(size, inside):
    n = 50
    send = {"kind": OperationKind.SEND, "peer": 1, "bytes": size, "flags": OperationFlag.IMMEDIATE}
    receive = {"kind": OperationKind.RECV, "peer": 0, "bytes": size}
    program = Program.from_streams([operations(*[send] * n), operations(*[receive] * n)])
    found = simulate(program, machine(inside, links_out=1, links_in=1), transfers=True)
    starts = found.transfers["start"][:n]
    between = max(float(MODEL.gap(size)), float(MODEL.overhead(size))) * 1e9
    assert np.diff(starts).mean() == pytest.approx(between, abs=1)


def test_a_machine_file_names_its_model(tmp_path):
    MODEL.write(tmp_path / "net.json")
    (tmp_path / "m.toml").write_text('[network]\nmodel = "net.json"\n[node]\nintra_model = "net.json"\n')
    found = read_toml(tmp_path / "m.toml")
    assert found.networks[0].pieces == found.node.intra == costs_of(MODEL)
