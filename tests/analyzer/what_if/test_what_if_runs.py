"""A region's factor in recorded runs: what waits in MPI_Wait or on another thread, by hand."""

import pytest
from synthetic import SELF, WORLD, call, event, label, request, write_run

from analyzer.cli import main
from analyzer.machine.description import Machine
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.what_if import blocks_of_regions, what_if
from tracelib import schema
from tracelib.schema import REGION_TYPE, RequestKind

FACTORS = [0.0, 0.5, 1.0, 3.0]


def solve(begin, end, thread=0):
    """The events of the region "solve"."""
    return [
        event(begin, REGION_TYPE, 1, thread=thread, flags=1),
        event(end, REGION_TYPE, 1, thread=thread, flags=2),
    ]


def times(folder, ranks, factor, only=None):
    """When the run ends on an ideal network, without and with a factor on the region "solve"."""
    for rank in ranks:
        rank["labels"] = [label(schema.LabelKind.REGION, 1, "solve")]
    trace = open_trace(write_run(folder, ranks))
    found = what_if(blocks_of_regions(trace, program_of(trace), only), Machine.ideal(), {0: factor}, Team())
    trace.close()
    return found.before_ns, found.after_ns


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("only", [None, 0, 1])
def test_what_overlaps_a_nonblocking_receive(tmp_path, factor, only):
    """Rank 1 posts its receive at 10, computes 100 and waits; rank 0 sends after 60."""
    ranks = [
        {"calls": [call("MPI_Send", 60, 62, comm=WORLD, peer=1, tag=3, sent=8)], "events": solve(0, 60)},
        {"calls": [call("MPI_Irecv", 10, 10, comm=WORLD, peer=0, tag=3), call("MPI_Wait", 110, 112)],
         "requests": [request(RequestKind.RECV_DONE, 10, 112, peer=0, tag=3, bytes=8)], "events": solve(10, 110)},
    ]  # fmt: skip
    of_rank = [factor if only in (None, rank) else 1 for rank in range(2)]
    expected = max(60 * of_rank[0], 10 + 100 * of_rank[1])
    assert times(tmp_path, ranks, factor, None if only is None else frozenset({only})) == (110, expected)


@pytest.mark.parametrize("factor", FACTORS)
def test_threads_of_a_rank(tmp_path, factor):
    """The second thread of rank 0 computes 100 before it sends what rank 1 waits for; the main one computes 70 in its
    region, which alone counts, and 30 after it."""
    ranks = [
        {"calls": [call("MPI_Barrier", 10, 10, comm=SELF), call("MPI_Comm_rank", 80, 80),
                   call("MPI_Comm_rank", 10, 10, thread=1),
                   call("MPI_Send", 110, 110, comm=WORLD, peer=1, tag=3, sent=8, thread=1)],
         "events": [*solve(10, 80), *solve(10, 110, thread=1)]},
        {"calls": [call("MPI_Recv", 20, 115, comm=WORLD, peer=0, tag=3, received=8)]},
    ]  # fmt: skip
    assert times(tmp_path, ranks, factor) == (110, max(110, 10 + 70 * factor + 30))


def test_a_region_of_other_threads_only_is_said_to_be_one(tmp_path, capsys):
    calls = [call("MPI_Barrier", 10, 10, comm=SELF), call("MPI_Comm_rank", 80, 80)]
    calls += [call("MPI_Comm_rank", time, time, thread=1) for time in (10, 70)]
    labels = [label(schema.LabelKind.REGION, 1, "solve")]
    path = write_run(tmp_path, [{"calls": calls, "events": solve(10, 70, thread=1), "labels": labels}])
    assert main(["what-if", str(path), "--region", "solve", "--machine", "ideal"]) == 0
    assert "No main thread computes there, and other threads do not count." in " ".join(capsys.readouterr().out.split())
