"""Predictions of our runs in their files."""

import json

import pytest
from grammar import check_prv
from synthetic import WORLD, call, poll, request, write_run

from analyzer.cli import main
from analyzer.opening import open_trace
from tracelib.schema import RequestKind


@pytest.fixture
def run(tmp_path):
    """Rank 0 makes nine calls that take no time in a replay before it sends; rank 1 has waited for long."""
    between = [call("MPI_Group_translate_ranks", 100 + 2 * i, 101 + 2 * i) for i in range(9)]
    send = call("MPI_Send", 120, 121, comm=WORLD, peer=1, tag=3, sent=8)
    receive = call("MPI_Recv", 20, 300, comm=WORLD, peer=0, tag=3, received=8)
    ends = call("MPI_Init", 0, 10), call("MPI_Finalize", 400, 410)
    return write_run(tmp_path, [{"calls": [ends[0], *rows, ends[1]]} for rows in ([*between, send], [receive])])


def test_nothing_is_received_before_it_was_sent(run, tmp_path):
    """Calls that take no time last a nanosecond each in a trace: those before a send begin earlier, if they can."""
    for name in ("p.h5", "p.prv"):
        assert main(["replay", str(run), "-o", str(tmp_path / name), "-q"]) == 0
    (message,) = open_trace(tmp_path / "p.h5").messages()
    assert message["logical_send"] <= message["physical_receive"]
    assert not check_prv(tmp_path / "p.prv")


def test_no_number_of_a_wide_table_is_cut(run, capsys, monkeypatch):
    monkeypatch.chdir(run.parent)  # the last line says what to type next, with the file's name
    assert main(["what-if", run.name, "--machine", "ideal"]) == 0
    out = capsys.readouterr().out
    assert "…" not in out and out.count("MPI_Group_translate_ranks ...") == 2
    assert max(map(len, out.splitlines())) <= 80


def test_what_is_between_polls_is_computation_on_the_path_as_in_the_replay(tmp_path, capsys):
    """Rank 1 asks thousands of times in vain, and computes in between for up to 170 us. Both files say the same."""
    us = 1000
    ends = call("MPI_Init", 0, 10 * us), call("MPI_Finalize", 2000 * us, 2010 * us)
    first = [call("MPI_Send", 500 * us, 501 * us, comm=WORLD, peer=1, tag=1, sent=8)]
    first += [call("MPI_Recv", 502 * us, 1700 * us, comm=WORLD, peer=1, tag=2, received=8)]
    tests = [call("MPI_Test", at * us, (at + 1) * us) for at in (30, 230, 300)]
    found = call("MPI_Test", 600 * us, 601 * us, comm=WORLD, peer=0, tag=1, received=8)
    posted = call("MPI_Irecv", 20 * us, 21 * us, comm=WORLD, peer=0, tag=1)
    reply = call("MPI_Send", 1600 * us, 1601 * us, comm=WORLD, peer=0, tag=2, sent=8)
    polls = [poll("MPI_Test", 31 * us + 200, 200 * us, inside=30 * us, count=1000)]
    polls += [poll("MPI_Test", 302 * us, 590 * us, inside=100 * us, count=2000)]
    done = request(RequestKind.RECV_DONE, 20 * us, 601 * us, peer=0, tag=1, comm=WORLD) | {"bytes": 8}
    second = {"calls": [ends[0], posted, *tests, found, reply, ends[1]], "polls": polls, "requests": [done]}
    run = write_run(tmp_path, [{"calls": [ends[0], *first, ends[1]]}, second])
    assert main(["replay", str(run), "--latency", "5us", "--json"]) == 0
    computing = json.loads(capsys.readouterr().out)["parts_s"]["computing"]
    paths = []
    for name in ("p.h5", "p.prv"):
        assert main(["replay", str(run), "--latency", "5us", "-o", str(tmp_path / name), "-q"]) == 0
        assert open_trace(tmp_path / name).origin.predicted
        assert main(["critical-path", str(tmp_path / name), "--json"]) == 0
        paths.append(json.loads(capsys.readouterr().out) | {"file": ""})
    assert paths[0] == paths[1]
    on_path = next(row for row in paths[0]["functions"] if row["kind"] == "computation")
    assert on_path["mean_s"] == pytest.approx(computing / 2, abs=1e-8)
