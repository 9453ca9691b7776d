"""A run of two ranks with regions, for what changes their computation."""

import pytest
from synthetic import WORLD, call, event, label, write_run

from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.sources.dimemas.reader import communicators_of
from analyzer.sources.dimemas.trace import ProgramTrace
from analyzer.what_if import blocks_of_regions
from tracelib import schema
from tracelib.schema import REGION_TYPE


def enter(region, burst=0):
    return {"kind": OperationKind.EVENT, "tag": REGION_TYPE, "other": region, "burst": burst}


def leave(burst):
    return enter(0, burst)


def op(kind, burst=0, **more):
    return {"kind": kind, "burst": burst, "flags": OperationFlag.FIRST, "bytes": 8, **more}


def trace_of(*ranks):
    program = Program.from_streams([operations(*rows) for rows in ranks])
    return ProgramTrace(program, communicators_of({}, len(ranks)), "made.dim")


def regions_of(trace, ranks=None):
    return blocks_of_regions(trace, trace.program, ranks)


def two_ranks():
    """Rank 0 computes 100 in region 1 and sends; rank 1 computes 40 in it, receives, and computes 60 outside."""
    return trace_of(
        [enter(1), leave(100), op(OperationKind.SEND, peer=1), op(OperationKind.NONE)],
        [enter(1), leave(40), op(OperationKind.RECV, peer=0), op(OperationKind.NONE, 60)],
    )


@pytest.fixture(scope="module", name="run")
def run_of_two_ranks(tmp_path_factory):
    """Rank 0 is 10 us late in "solve" before each of 20 messages; rank 1 in "other" for 3 us after each."""
    calls, events = ([], []), ([], [])
    for k in range(20):
        at = 20_000 * k
        events[0].append(event(at + 100, REGION_TYPE, 1, flags=1))
        events[0].append(event(at + 10_100, REGION_TYPE, 1, flags=2))
        calls[0].append(call("MPI_Send", at + 10_200, at + 10_300, comm=WORLD, peer=1, tag=k, sent=8))
        calls[1].append(call("MPI_Recv", at + 4_000, at + 11_000, comm=WORLD, peer=0, tag=k, received=8))
        events[1].append(event(at + 11_100, REGION_TYPE, 2, flags=1))
        events[1].append(event(at + 14_100, REGION_TYPE, 2, flags=2))
    calls[1].append(call("MPI_Finalize", 400_000, 400_100))
    labels = [label(schema.LabelKind.REGION, k + 1, name) for k, name in enumerate(("solve", "other"))]
    ranks = [{"calls": c, "events": e, "labels": labels} for c, e in zip(calls, events, strict=True)]
    return write_run(tmp_path_factory.mktemp("what_if"), ranks)
