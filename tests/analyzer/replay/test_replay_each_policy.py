"""Each scheduling policy by its name, by hand (rows 17 and 18); no message costs anything, so both dialects agree.

Three ranks share a processor, the fourth has its own and sends at 5. Slices are 10 ns.
"""

import pytest

from analyzer.machine.description import Machine, Node
from analyzer.machine.policies import POLICIES, policy_of
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay.simulate import simulate

SLICE = {"slice_us": 0.01}
SECOND_IS_BETTER = {"priorities": [[1, 1, 0, 0]]}


def compute(burst):
    return {"kind": OperationKind.NONE, "burst": burst}


def send(peer, burst):
    return {"kind": OperationKind.SEND, "peer": peer, "burst": burst}


def receive(peer):
    return {"kind": OperationKind.RECV, "peer": peer}


def priority(value):
    return {"kind": OperationKind.PRIORITY, "other": value}


LAST = [[compute(33)], [compute(22)], [receive(3), compute(21)], [send(2, 5)]]
"""The last of the three in the queue receives."""
PATH = [[priority(1), *LAST[0]], [priority(1), *LAST[1]], [priority(0), *LAST[2]], LAST[3]]
"""The same with records: the receiver is on the critical path, the others are not."""
LAXITY = [[priority(5), *LAST[0]], [priority(3), *LAST[1]], [priority(0), *LAST[2]], LAST[3]]
"""The others have laxities."""
FIRST = [[receive(3), compute(21)], [compute(33)], [compute(22)], [send(0, 5)]]
"""The first in the queue receives."""

SVR4 = {"levels": [[0.01, 1, 0], [0.02, 1, 0]], "base": 0}
"""10 ns on the better level, then 20 ns each on the other one."""
DECAY = {
    "slice_us": 0, "tick_us": 0.01, "settle_us": 0.01, "decay_us": 0, "load_us": 0, "base": 0, "best": 0, "worst": 127,
}  # fmt: skip

CASES = {  # options, what ranks do, when they end, how often the processor changed hands
    "fcfs": ({}, LAST, [33, 55, 76, 5], 2),
    "rr": (SLICE, LAST, [76, 72, 73, 5], 9),
    "fixed": (SECOND_IS_BETTER, LAST, [33, 76, 54, 5], 3),
    "fixed-preemptive": (SECOND_IS_BETTER, LAST, [76, 48, 26, 5], 4),
    "fixed-rr": (SLICE | SECOND_IS_BETTER, LAST, [76, 73, 31, 5], 8),
    "fixed-rr-preemptive": (SLICE | SECOND_IS_BETTER, LAST, [76, 68, 26, 5], 8),
    "cp-fifo": ({}, PATH, [76, 48, 26, 5], 6),
    "cp-rr": (SLICE, PATH, [76, 68, 26, 5], 10),
    "cp-fifo-dep": ({}, LAXITY, [76, 43, 26, 5], 6),
    "cp-rr-dep": (SLICE, LAXITY, [76, 43, 26, 5], 6),
    "svr4": (SVR4, LAST, [76, 62, 73, 5], 6),
    "decay": (DECAY, LAST, [76, 62, 63, 5], 6),
    "boost1": ({}, FIRST, [54, 33, 76, 5], 3),
    "boost2": ({}, FIRST, [76, 33, 55, 5], 3),
    "boost3": ({}, FIRST, [76, 33, 55, 5], 3),
    "boost1-rr": (SLICE, FIRST, [31, 76, 73, 5], 8),
    "boost2-rr": (SLICE, FIRST, [76, 55, 52, 5], 8),
    "boost3-rr": (SLICE, FIRST, [76, 55, 52, 5], 8),
}
"""BOOST: who waits at 0 was first. BOOST1 has it next, at 33 or when a slice ends; BOOST2 and 3 after all others."""


def replayed(name, options, streams, dialect, mapping=(0, 0, 0, 1)):
    on = Machine(nodes=(Node(), Node()), mapping=mapping, scheduling=policy_of({"policy": name, **options}))
    program = Program.from_streams([operations(*stream) for stream in streams])
    return simulate(program, Machine(**(vars(on) | {"dialect": dialect}))).usage


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
@pytest.mark.parametrize("name", CASES)
def test_by_hand(name, dialect):
    options, streams, ends, switches = CASES[name]
    usage = replayed(name, options, streams, dialect)
    assert (usage["end"].tolist(), usage["switches"].sum()) == (ends, switches)


def test_none_is_left_out():
    assert CASES.keys() == POLICIES.keys()


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
@pytest.mark.parametrize("name, ends", [("boost1", [50, 33, 40]), ("boost2", [50, 33, 40]), ("boost3", [50, 40, 7])])
def test_boost3_brings_the_sender_forward(name, ends, dialect):
    """All three share the processor; rank 0 waits at 0 for rank 2, which is behind rank 1."""
    streams = [[receive(2), compute(10)], [compute(33)], [send(0, 7)]]
    assert replayed(name, {}, streams, dialect, (0, 0, 0))["end"].tolist() == ends


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
@pytest.mark.parametrize(
    "name, options, ends, column, sums",
    [
        ("fcfs", {"context_switch_us": 0.003}, [33, 58, 82, 5], "context_switch", [0, 3, 3, 0]),
        ("rr", SLICE | {"context_switch_us": 0.001}, [85, 79, 81, 5], "context_switch", [3, 3, 3, 0]),
        ("fixed", SECOND_IS_BETTER | {"busy_wait_us": 0.004}, [37, 80, 58, 5], "busy_wait", [0, 0, 4, 0]),
        ("fixed", SECOND_IS_BETTER | {"busy_wait_us": 0.006}, [59, 81, 26, 5], "busy_wait", [0, 0, 5, 0]),
        ("fixed-preemptive", SECOND_IS_BETTER | {"least_run_us": 0.012}, [76, 55, 33, 5], "switches", [2, 1, 1, 0]),
        ("fixed-preemptive", SECOND_IS_BETTER | {"preemptive": False}, [33, 76, 54, 5], "switches", [1, 1, 1, 0]),
        ("fixed", SECOND_IS_BETTER | {"preemptive": True}, [76, 48, 26, 5], "switches", [2, 1, 1, 0]),
        ("decay", DECAY | {"worst": 1}, [64, 76, 41, 5], "switches", [1, 2, 1, 0]),
    ],
)
def test_options_by_hand(name, options, ends, column, sums, dialect):
    """Row 18: each shows in the time that it takes, or in how often the processor changes hands."""
    usage = replayed(name, options, LAST, dialect)
    assert (usage["end"].tolist(), usage[column].tolist()) == (ends, sums)


@pytest.mark.parametrize(("levels", "expected"), [
    ([[0.03, 0, 0]], [220, 160]),  # round robin
    ([[0.03, 1, 0], [0.02, 1, 0]], [220, 140]),  # 30, 30, 20, 20, 20, 20; that slice ends with the last burst
    ([[0.01, 1, 0], [0.04, 2, 0], [0.02, 2, 0]], [220, 150]),  # 40, 40, 20, 20, 20, 10
])  # fmt: skip
def test_threads_begin_in_the_middle_level_of_their_own_table(levels, expected):
    """Also of a table that is shorter than the one which svr4 has by itself."""
    found = replayed("svr4", {"levels": levels}, [[compute(100), compute(50)], [compute(70)]], "thesis", mapping=(0, 0))
    assert found["end"].tolist() == expected
