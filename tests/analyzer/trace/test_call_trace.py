"""States, events and windows of a trace that is made of calls alone."""

from itertools import pairwise

import numpy as np
import pytest

from analyzer.trace import CALL, State
from analyzer.trace.call_trace import CallTrace
from analyzer.trace.paraver import EventType

MESSAGES, TOGETHER = 50000001, 50000002
"""Extrae's types of point-to-point calls and of collectives."""
PROCEDURES = ("MPI_Recv", "MPI_Bcast")


def calls(*rows):
    """(enter, exit, call, thread)."""
    found = np.zeros(len(rows), CALL)
    for column, values in zip(("enter", "exit", "call", "thread"), zip(*rows, strict=True), strict=True):
        found[column] = values
    found["inside"], found["count"], found["comm"], found["peer"] = found["exit"] - found["enter"], 1, 0, 0
    found["sent"] = 8 * found["call"]
    return found


@pytest.fixture
def trace():
    """The main thread of rank 0 lives from 5 to 60, its other thread from its first call to its last."""
    mine = calls((10, 20, 0, 0), (20, 30, 1, 0), (12, 15, 0, 1), (25, 40, 0, 1))
    return CallTrace("calls", PROCEDURES, [mine, calls((0, 50, 1, 0))], spans=[(5, 60), (0, 50)])


def test_states(trace):
    running, receiving, together = State.RUNNING, State.WAITING_MESSAGE, State.GROUP_COMMUNICATION
    assert trace.states()[["begin", "end", "rank", "thread", "state"]].tolist() == [
        (0, 50, 1, 0, together),
        (5, 10, 0, 0, running),
        (10, 20, 0, 0, receiving),
        (12, 15, 0, 1, receiving),
        (15, 25, 0, 1, running),
        (20, 30, 0, 0, together),
        (25, 40, 0, 1, receiving),
        (30, 60, 0, 0, running),
    ]


def test_events(trace):
    """Rank 0 is the root, in communicator 1; a call that begins when another ends comes after it."""
    of_rank = trace.events(ranks=range(1))
    main = of_rank[of_rank["thread"] == 0]
    assert main[["time", "type", "value"]].tolist() == [
        (10, MESSAGES, 2),
        (20, MESSAGES, 0),
        (20, TOGETHER, 7),
        (20, EventType.COLLECTIVE_SEND_SIZE, 8),
        (20, EventType.COLLECTIVE_RECEIVE_SIZE, 0),
        (20, EventType.COLLECTIVE_ROOT, 1),
        (20, EventType.COLLECTIVE_COMMUNICATOR, 1),
        (30, TOGETHER, 0),
    ]


def test_windows_hold_everything_once(trace):
    bounds = trace.windows(1)
    assert bounds[0] == 0 and bounds[-1] == trace.duration_ns + 1 == 61
    parts = [trace.states(begin, end) for begin, end in pairwise(bounds.tolist())]
    assert np.concatenate(parts).tolist() == trace.states().tolist()


def test_what_is_around_it(trace):
    assert (trace.size, trace.threads.tolist(), trace.nodes.cpus) == (2, [2, 1], (3,))
    assert [c.name for c in trace.communicators] == ["MPI_COMM_WORLD"]
    assert CallTrace("none", (), [np.zeros(0, CALL)]).duration_ns == 0
