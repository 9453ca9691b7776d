"""Slack against the simulator: on an ideal network a burst can be longer by its slack, and beyond that the run is."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from timed_program import LARGE, SMALL, ProgramTrace

from analyzer.critical.path import critical_path
from analyzer.machine.description import COLLECTIVE_NAMES, Machine
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.simulate import simulate

IDEAL = Machine.ideal()
NAMES = {
    OperationKind.SEND: "MPI_Send",
    OperationKind.RECV: "MPI_Recv",
    OperationKind.COLLECTIVE: "MPI_Bcast",
    OperationKind.NONE: "MPI_Wtime",
}


def made(random: Random):
    """A program of random messages, some of which wait for their receive, and collectives; and its messages as (source,
    its operation, destination, its operation, bytes)."""
    ranks = random.randint(2, 4)
    rows = [[] for _ in range(ranks)]
    messages = []

    def add(rank, kind, **more):
        burst = random.choice((1, 1, 2, 4, 11, 31))
        rows[rank].append({"kind": kind, "burst": burst, "flags": OperationFlag.FIRST, "bytes": SMALL, **more})
        return len(rows[rank]) - 1

    for _ in range(random.randint(1, 12)):
        if random.random() < 0.7:
            source, destination = random.sample(range(ranks), 2)
            size, flags = random.choice(
                ((SMALL, OperationFlag.FIRST), (LARGE, OperationFlag.FIRST | OperationFlag.RENDEZVOUS))
            )
            sent = add(source, OperationKind.SEND, peer=destination, bytes=size, flags=flags)
            messages.append((source, sent, destination, add(destination, OperationKind.RECV, peer=source), size))
        else:
            for rank in range(ranks):
                add(rank, OperationKind.COLLECTIVE, tag=COLLECTIVE_NAMES.index("Bcast"), other=8, peer=0)
    for rank in range(ranks):
        add(rank, OperationKind.NONE)
    return Program.from_streams([operations(*of_rank) for of_rank in rows]), messages


def trace_of(program, times, messages):
    """The prediction as a trace, in which calls without costs take no time at all."""
    streams = [slice(*program.offsets[k : k + 2].tolist()) for k in range(program.ranks)]
    calls = [
        [
            (NAMES[OperationKind(op["kind"])], int(time["begin"]), int(time["end"]), {"comm": 0})
            for op, time in zip(program.ops[own], times[own], strict=True)
        ]
        for own in streams
    ]
    rows = []
    for source, sent, destination, received, size in messages:
        receive = times[streams[destination]][received]
        sending = times[streams[source]][sent]
        rows.append((source, destination, size, *map(int, (sending["begin"], receive["begin"], receive["end"]))))
    trace = ProgramTrace(calls, messages=rows, spans=[(0, int(times[own]["end"].max())) for own in streams])
    trace.origin = replace(trace.origin, predicted=True)
    return trace


@pytest.mark.parametrize("seed", range(0, 40, 10))
def test_every_burst(seed):
    for k in range(seed, seed + 10):
        program, messages = made(Random(k))
        prediction = simulate(program, IDEAL, times=True)
        path = critical_path(trace_of(program, prediction.times, messages), LARGE - 1)
        assert (path.length_ns, path.contradictions) == (prediction.end_ns, 0)
        for op, begin in enumerate(prediction.times["begin"].tolist()):
            rank = int(np.searchsorted(program.offsets, op, "right")) - 1
            own = path.nodes.thread_slice(rank)
            at = np.flatnonzero((path.nodes.enter[own] == begin) & (path.nodes.call[own] >= 0))[0]
            slack = int(path.slack[own][at])
            for more in (slack, slack + 5):
                ops = program.ops.copy()
                ops["burst"][op] += more
                end = simulate(replace(program, ops=ops), IDEAL).end_ns
                assert end == prediction.end_ns + more - slack, (k, op, slack)
