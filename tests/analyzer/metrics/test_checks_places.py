"""Findings of `analyze check` name the place of the call."""

import pytest
from placed_runs import placed
from synthetic import WORLD, call, request, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.trace import Leftovers
from tracelib.schema import RequestKind

MAIN = ("main", 40)
PAIR = {"comm": WORLD, "tag": 3}


def said(tmp_path, ranks, capsys):
    run = write_run(tmp_path, ranks)
    code = main(["check", str(run)])
    return code, capsys.readouterr().out.splitlines()


def test_unmatched_calls(tmp_path, capsys):
    """Two sends from one line and one from another; a receive by a request that MPI_Irecv posted."""
    sends = [call("MPI_Send", t, t + 5, peer=1, sent=8, **PAIR) for t in (10, 20, 30)]
    posted = [call("MPI_Irecv", 50, 55, peer=1, **PAIR), call("MPI_Wait", 60, 70)]
    of = [request(RequestKind.RECV_DONE, 50, 70, peer=1, tag=3, bytes=8)]
    ranks = [
        placed({"calls": sends + posted, "requests": of},
               [(MAIN, ("halo", 7)), (MAIN, ("halo", 7)), (MAIN, ("halo", 9)), (MAIN,), (("main", 41),)]),
        placed({"calls": [call("MPI_Init", 0, 5)]}, [(MAIN,)]),
    ]  # fmt: skip
    code, lines = said(tmp_path, ranks, capsys)
    world = "MPI_COMM_WORLD"
    assert code == 1 and lines == [
        f"rank 0: 1 x MPI_Irecv from rank 1, tag 3, at main.py:40 in main, {world}: 8 bytes unmatched",
        f"rank 0: 2 x MPI_Send to rank 1, tag 3, at halo.py:7 in halo < main main.py:40, {world}: 16 bytes unmatched",
        f"rank 0: 1 x MPI_Send to rank 1, tag 3, at halo.py:9 in halo < main main.py:40, {world}: 8 bytes unmatched",
    ]


@pytest.mark.parametrize("chain", [(), (MAIN, ("halo", 7))])
def test_a_rank_that_makes_one_collective_more(tmp_path, capsys, chain):
    both = [call("MPI_Barrier", 10, 20, comm=WORLD)]
    ranks = [
        placed({"calls": [*both, call("MPI_Bcast", 30, 40, comm=WORLD)]}, [(MAIN,), chain]),
        placed({"calls": both}, [(MAIN,)]),
    ]
    _, lines = said(tmp_path, ranks, capsys)
    at = " at halo.py:7 in halo < main main.py:40" if chain else ""
    assert f"MPI_COMM_WORLD: rank 1 made 1 collective calls, rank 0 2, the first more is MPI_Bcast{at}" in lines


def test_calls_that_cannot_be(tmp_path, capsys):
    ranks = [placed({"calls": [call("MPI_Barrier", 10, 40, comm=WORLD), call("MPI_Init", 30, 35)]}, [(MAIN,)] * 2)]
    _, lines = said(tmp_path, ranks, capsys)
    assert any(
        line.endswith(
            "begin before the previous call of their thread ended, the first is MPI_Init at main.py:40 in main"
        )
        for line in lines
    )


def test_received_before_it_was_sent(tmp_path, capsys):
    ranks = [
        placed({"calls": [call("MPI_Send", 50, 55, peer=1, sent=8, **PAIR)]}, [(MAIN, ("halo", 7))]),
        placed({"calls": [call("MPI_Recv", 10, 20, peer=0, received=8, **PAIR)]}, [(MAIN,)]),
    ]
    _, lines = said(tmp_path, ranks, capsys)
    assert any("(the first by 30 ns, sent at halo.py:7 in halo < main main.py:40)" in line for line in lines)


def test_sums_over_paths_are_those_without(tmp_path):
    sends = [call("MPI_Send", t, t + 5, peer=1, sent=t, **PAIR) for t in range(10, 200, 10)]
    calls = [
        placed({"calls": sends}, [(("f", 1 + t % 3),) for t in range(len(sends))]),
        {"calls": [call("MPI_Init", 0, 5)]},
    ]
    trace = open_trace(write_run(tmp_path, calls))
    rows = trace.extra(Leftovers).unmatched()
    assert (sum(row.count for row in rows), sum(row.bytes for row in rows)) == (19, sum(range(10, 200, 10)))
    assert [row.place for row in rows] == [f"f.py:{line} in f" for line in (1, 2, 3)]
    trace.close()
