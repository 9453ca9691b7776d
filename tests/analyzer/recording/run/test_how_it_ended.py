"""How a run ended, as told by a few facts about each rank; and what the end leaves half done."""

import json

import numpy as np
import pytest
from synthetic import call, request, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from analyzer.recording.rank_file.spool import Fate
from analyzer.recording.run.ends import Abort, End, end_problems
from analyzer.trace import Leftovers, Losses
from tracelib.schema import ProcessState, RequestKind

LABELS = ["MPI_COMM_WORLD", "communicator 2 of 0-1"]


def killed(rank, inside="", waited=None, last_s=1.5):
    waited = bool(inside) if waited is None else waited
    return End(rank, Fate.KILLED, int(last_s * 1e9), inside, waited)


def said(*ends, behind=()):
    return [problem.text for problem in end_problems(ends, set(behind), LABELS)]


def aborted(rank, code, comm=0, came_back=False):
    return End(rank, Fate.EXITED, 0, abort=Abort(code, comm, 1_250_000_000, came_back))


def test_who_called_abort_comes_first():
    found = said(killed(0, "MPI_Barrier"), killed(1), aborted(2, -5, comm=1), killed(3))
    assert found == [
        "rank 2 called MPI_Abort(-5) on communicator 2 of 0-1 after 1.25 s",
        "ranks 0-1,3 were killed after that, likely by the launcher",
    ]


def test_an_abort_that_came_back_killed_nobody():
    assert said(aborted(0, 7, comm=-1, came_back=True)) == [
        "rank 0 called MPI_Abort(7) after 1.25 s, which failed: it went on"
    ]


def test_the_only_one_that_did_not_wait_likely_died_first():
    (line,) = said(killed(0, "MPI_Barrier"), killed(1, last_s=0.75), killed(2, "MPI_Barrier"))
    assert line.startswith("rank 1 likely died first, outside MPI, 0.75 s after its start or later: the others waited")
    assert line.endswith("ranks 0,2 were killed after that, likely by the launcher")


def test_who_did_not_come_back_from_what_others_finished_counts_more():
    """Rank 0 has received what rank 1 died sending, and computed since."""
    (line,) = said(killed(0), killed(1, "MPI_Send"), behind=[1])
    assert line.startswith(
        "rank 1 likely died first, inside MPI_Send, 1.5 s after its start or later: the others had f"
    )


@pytest.mark.parametrize(
    ("ends", "line"),
    [
        ([killed(0), killed(1)], None),
        ([killed(0)], None),
        ([End(0, Fate.ENDED, 5), killed(1)], None),
        ([killed(0, "MPI_Recv", waited=None), End(1, Fate.KILLED, 5, waited=None)], None),  # buffers of an old version
        (
            [killed(0, "MPI_Recv"), killed(1, "MPI_Recv")],
            "ranks 0-1 were killed while all ranks waited in MPI: likely from outside, or by MPI, which found an error "
            "in a call and printed it",
        ),
        (
            [End(0, Fate.EXITED, 5), killed(1, "MPI_Recv")],
            "rank 0 ended without MPI_Finalize, and rank 1 was killed after that, likely by the launcher",
        ),
    ],
)  # fmt: skip
def test_nothing_is_said_that_is_not_likely(ends, line):
    assert said(*ends) == ([] if line is None else [line])


def world(name, enter, leave, **more):
    return call(name, enter, leave, comm=1, **more)


def test_the_file_of_a_run_that_aborted(tmp_path, capsys):
    ranks = [{"calls": [world("MPI_Barrier", 10, 20)]}, {"calls": [world("MPI_Barrier", 10, 20)]}]
    ranks[1] |= {"state": ProcessState.EXITED, "abort_ticks": 900, "abort_code": -3, "abort_comm": 1}
    run = str(write_run(tmp_path, ranks))
    assert main(["check", run]) == 1
    assert capsys.readouterr().out.startswith("rank 1 called MPI_Abort(-3) on MPI_COMM_WORLD after ")
    assert main(["look", "--no-files", run]) == 0
    assert capsys.readouterr().out.startswith("rank 1 called MPI_Abort(-3) on MPI_COMM_WORLD after ")
    assert main(["look", "--no-files", "--json", run]) == 0
    assert json.loads(capsys.readouterr().out)["ending"][0].startswith("rank 1 called MPI_Abort(-3)")


def half_done():
    """Rank 1 ended in the second of its sends, of which rank 0 has received both, and before the last barrier."""
    receives = [
        world("MPI_Recv", 30, 40, peer=1, tag=7, received=8),
        world("MPI_Recv", 50, 60, peer=1, tag=7, received=8),
    ]
    posted = [request(RequestKind.RECV_DONE, 62, 66, peer=1, tag=8)]
    ends = [world("MPI_Wait", 64, 66), world("MPI_Send", 70, 71, peer=1, tag=9, sent=8), world("MPI_Barrier", 80, 90)]
    first = [world("MPI_Barrier", 10, 20), *receives, world("MPI_Irecv", 62, 63, peer=1, tag=8), *ends]
    second = [world("MPI_Barrier", 10, 20), world("MPI_Send", 30, 35, peer=0, tag=7, sent=8)]
    return [{"calls": first, "requests": posted}, {"calls": second, "state": ProcessState.EXITED}]


def test_what_a_rank_left_half_done_is_left_out(tmp_path, capsys):
    """One message and one barrier have both sides. Two receives, a send and a barrier have not."""
    path = write_run(tmp_path, half_done())
    trace = open_trace(str(path))
    assert len(trace.messages()) == 1
    assert trace.extra(Leftovers).unmatched() == []
    left_out = "3 sends and receives and 1 call of a collective are left out"
    assert trace.extra(Losses).left_out == f"{left_out}, because rank 1 did not end in order"
    calls = np.concatenate(list(trace.calls(0)))
    names = [trace.procedures[k] for k in calls["call"]]
    assert names == ["MPI_Barrier", "MPI_Recv", "MPI_Recv", "MPI_Irecv", "MPI_Wait", "MPI_Send", "MPI_Barrier"]
    kept = [name for name, comm in zip(names, calls["comm"], strict=True) if comm >= 0]
    assert kept == ["MPI_Barrier", "MPI_Recv", "MPI_Irecv", "MPI_Wait"]
    assert calls["received"].sum() == 16  # as calls they count
    trace.close()
    main(["check", str(path)])
    assert "note: 3 sends and receives and 1 call of a collective are left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", ["replay", "limits", "critical-path", "waits", "efficiency", "what-if", "dim", "prv"]
)
def test_the_rest_of_the_run_is_analyzed(command, tmp_path, capsys):
    path = write_run(tmp_path, half_done())
    assert main([command, str(path)]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_of_ranks_that_ended_in_order_the_same_is_unmatched(tmp_path):
    ranks = half_done()
    ranks[1]["state"] = ProcessState.FINALIZED
    trace = open_trace(str(write_run(tmp_path, ranks)))
    assert (sum(found.count for found in trace.extra(Leftovers).unmatched()), trace.extra(Losses).left_out) == (3, "")
