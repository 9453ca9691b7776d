"""Machines so slow that times are more than 64 bits hold: one clear error, never a time that wrapped."""

from dataclasses import replace
from random import Random

import pytest
from random_replays import random_machine, random_program, with_absurd

from analyzer.errors import TracelibError
from analyzer.machine.description import DIALECTS, CpuScheduling, Machine, Network, Node
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay.simulate import simulate

LONGEST = 2**61
LINKS = {"links_in": 1, "links_out": 1}
ABSURD = {
    "speed": {"node": Node(speed=1e-300)},
    "latency": {"node": Node(latency_s=1e300)},
    "latency, whose ns are a little more than 64 bits": {"node": Node(latency_s=9.3e9)},
    "latencies, of which each alone is possible": {"node": Node(latency_s=1e9)},
    "latency within a node": {"nodes": (Node(cpus=1, intra_latency_s=9.3e9),)},
    "latency within a node with enough processors": {"nodes": (Node(cpus=2, intra_latency_s=9.3e9),)},
    "bandwidth": {"networks": (Network(1e-300),)},
    "links": {"node": Node(**LINKS), "networks": (Network(1e-14),)},
    "rendezvous": {"node": Node(**LINKS), "networks": (Network(1e-14),), "eager_limit": 0},
}


def exchange(*more, burst=1):
    """Both ranks receive from each other, three times."""
    one = [
        operations(
            *(
                {"kind": OperationKind.IRECV, "peer": 1 - rank, "request": 0, "bytes": 800, "burst": burst},
                {"kind": OperationKind.SEND, "peer": 1 - rank, "bytes": 800},
                {"kind": OperationKind.WAIT, "peer": 1 - rank, "request": 0},
            )
            * 3,
            *more,
        )
        for rank in (0, 1)
    ]
    return Program.from_streams(one)


def assert_too_long(program, machine):
    with pytest.raises(TracelibError, match="longer than 73 years") as caught:
        simulate(program, machine)
    assert "machine" in caught.value.hint


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ABSURD)
def test_machines(name, dialect):
    assert_too_long(exchange(), Machine(**{"eager_limit": 1024, "dialect": dialect} | ABSURD[name]))


def test_collectives():
    """Linear in the members: their number times the latency, twice."""
    barrier = {"kind": OperationKind.COLLECTIVE, "comm": 0, "tag": 0}
    program = replace(exchange(barrier), communicators=((0, 1),))
    once = Machine(eager_limit=1024, nodes=(Node(cpus=2, latency_s=0, intra_latency_s=0.3e9),))
    assert simulate(exchange(), once).end_ns < LONGEST
    assert_too_long(program, once)


def test_bursts():
    assert_too_long(exchange(burst=2**63 - 1), Machine.ideal(eager_limit=1024))


@pytest.mark.parametrize("ns", [2**61, 2**63 - 1, 10**30])
def test_slices_and_busy_waits_without_end(ns):
    """A time that never comes has no effect: a slice of 73 years is as good as none, on one processor or two."""
    for name, cpus in (("slice_ns", 1), ("slice_ns", 2), ("least_run_ns", 1), ("busy_wait_ns", 2)):
        machine = Machine(eager_limit=1024, nodes=(Node(cpus=cpus),))
        absurd = replace(machine, scheduling=CpuScheduling(**{name: ns}))
        assert simulate(exchange(), absurd).end_ns == simulate(exchange(), machine).end_ns


@pytest.mark.parametrize("dialect", DIALECTS)
def test_random_machines(dialect):
    """Each replay ends within the time that numbers hold, or says that it would not."""
    refused = 0
    for k in range(200):
        random = Random(f"absurd {dialect} {k}")
        program = random_program(random)
        machine = with_absurd(random, random_machine(random, program.ranks, dialect))
        try:
            found = simulate(program, machine, times=True, transfers=True)
        except TracelibError as error:
            assert "73 years" in str(error)
            refused += 1
            continue
        assert 0 <= found.end_ns <= LONGEST
        assert (found.times["begin"] <= found.times["end"]).all()
        assert (found.times["end"] <= found.end_ns).all()
        assert all((found.usage[name] >= 0).all() for name in found.usage.dtype.names)
    assert 40 < refused < 160
