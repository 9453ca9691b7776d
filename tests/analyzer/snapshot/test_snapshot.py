"""A rank at a moment, against looking at every row one by one."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import WORLD, call, event, label, request, write_run

from analyzer.cli import main
from analyzer.snapshot import open_regions, take_snapshot
from analyzer.trace import CALL, MARK, MESSAGE, Mark
from analyzer.trace.call_trace import CallTrace
from tracelib import schema
from tracelib.schema import RequestKind

PROCEDURES = ("MPI_Recv", "MPI_Send", "MPI_Bcast")
END = 400


@st.composite
def threads_of_calls(draw):
    """CALL of up to three threads, each one call after the other."""
    rows = []
    for thread in range(draw(st.integers(1, 3))):
        edges = sorted(draw(st.lists(st.integers(0, END), min_size=2, max_size=24, unique=True)))
        pairs = zip(edges[::2], edges[1::2], strict=False)
        rows += [(enter, exit, draw(st.integers(0, 2)), thread) for enter, exit in pairs]
    found = np.zeros(len(rows), CALL)
    for column, values in zip(("enter", "exit", "call", "thread"), zip(*rows, strict=True), strict=True):
        found[column] = values
    found["inside"], found["count"], found["peer"] = found["exit"] - found["enter"], 1, -1
    return found


@pytest.mark.parametrize("records", [1, 5, 4096])
@given(rows=threads_of_calls(), time=st.integers(0, END), around=st.integers(0, 4))
def test_calls_and_states(records, rows, time, around):
    """With windows of any size."""
    trace = CallTrace("calls", PROCEDURES, [rows], spans=[(0, END)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.snapshot.RECORDS", records)
        found = take_snapshot(trace, 0, time, around)
    assert len(found.threads) == rows["thread"].max() + 1
    for one in found.threads:
        mine = np.sort(rows[rows["thread"] == one.thread], order="enter")
        before, after = mine[mine["enter"] <= time], mine[mine["enter"] > time]
        assert one.before.rows.tolist() == before[max(len(before) - around - 1, 0) :].tolist()
        assert one.after.rows.tolist() == after[:around].tolist()
        inside = [row for row in mine if row["enter"] <= time < row["exit"]]
        assert one.inside == bool(inside)
        states = [s for s in trace.states() if s["thread"] == one.thread and s["begin"] <= time < s["end"]]
        expected = [(s["state"], s["begin"], s["end"]) for s in states] or [(-1, time, time)]
        assert (one.state, one.begin_ns, one.end_ns) == expected[0]


@given(st.lists(st.booleans(), max_size=40))
def test_open_regions(begins):
    """Beside a stack."""
    marks, stack = [], []
    for time, begin in enumerate(begins):
        if begin:
            marks.append((time, 0, time % 7 + 1, 0, Mark.BEGIN))
            stack.append(time)
        elif stack:
            marks.append((time, 0, stack.pop() % 7 + 1, 0, Mark.END))
        else:
            marks.append((time, 5, 1, 0, Mark.INTEGER))
    assert open_regions(np.array(marks, MARK))["time"].tolist() == stack


@given(st.lists(st.tuples(*[st.integers(0, END)] * 2, *[st.integers(0, 2)] * 2), max_size=30), st.integers(0, END))
def test_messages_on_their_way(sent, time):
    """Sent until then, and received later, from or to the rank."""
    rows = np.zeros(len(sent), MESSAGE)
    for row, (begin, length, source, destination) in zip(rows, sent, strict=True):
        row["logical_send"] = row["physical_send"] = begin
        row["logical_receive"] = row["physical_receive"] = begin + length
        row["source"], row["destination"] = source, destination
    calls = [np.zeros(0, CALL)] * 3
    trace = CallTrace("messages", PROCEDURES, calls, rows, spans=[(0, END)] * 3)
    found = take_snapshot(trace, 1, time).messages
    expected = [(b, b + n, s, d) for b, n, s, d in sent if b <= time < b + n and 1 in (s, d)]
    columns = ["logical_send", "physical_receive", "source", "destination"]
    assert sorted(found[columns].tolist()) == sorted(expected)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Rank 1 computes in a region while a message of rank 0 waits for it, and its receive is open."""
    return write_run(
        tmp_path_factory.mktemp("moment"),
        [
            {"calls": [call("MPI_Send", 100, 900, comm=WORLD, peer=1, tag=5, sent=8)]},
            {
                "calls": [
                    call("MPI_Irecv", 200, 210, comm=WORLD, peer=0, tag=5),
                    call("MPI_Wait", 800, 880),
                ],
                "labels": [label(schema.LabelKind.REGION, 1, "solve", schema.REGION_TYPE)],
                "requests": [request(RequestKind.RECV_DONE, 200, 870, peer=0, tag=5, bytes=8)],
                "events": [event(300, schema.REGION_TYPE, 1, flags=1), event(700, schema.REGION_TYPE, 1, flags=2)],
            },
        ],
    )


def told(run, capsys, *words):
    assert main(["what", str(run), *words]) == 0
    return capsys.readouterr().out


def test_a_rank_in_words(run, capsys):
    said = told(run, capsys, "--rank", "1", "--at", "500ns")
    assert "rank 1 at 0.000001 s" in said or "rank 1 at 0.000000 s" in said
    assert "Thread 0 computes, for 290 ns of 590 ns" in said
    assert "in solve (since 0.000000 s)" in said
    assert "MPI_Irecv from 0" in said and "MPI_Wait" in said
    assert "Messages that are sent and not yet received" in said
    assert "Requests that are open" in said and "receive" in said


def test_all_ranks(run, capsys):
    said = told(run, capsys, "--at", "0.0000005")
    assert "rank 0: is in MPI_Send to 1, for 400 ns of 800 ns" in said
    assert "rank 1: computes, for 290 ns of 590 ns" in said


def test_the_same_as_data(run, capsys):
    (found,) = json.loads(told(run, capsys, "--rank", "1", "--at", "850ns", "--json"))["ranks"]
    (thread,) = found["threads"]
    assert thread["in_call"] and thread["state"] == "Wait/WaitAll" and thread["regions"] == []
    assert [one["call"] for one in thread["before"]] == ["MPI_Irecv", "MPI_Wait"] and thread["after"] == []
    (message,) = found["messages"]
    assert (message["source"], message["bytes"]) == (0, 8)
    assert message["sent_s"] == pytest.approx(100e-9) and message["received_s"] == pytest.approx(870e-9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "soon"), "is not a time such as 1.25, 20ms or 300us"),
        (("--at", "2"), "ends at 0.000001 s, before 2.000000 s"),
        (("--rank", "2", "--at", "0"), "has no rank 2 (give one from 0 to 1)"),
        (("--at", "0", "--place", "x"), "--place cannot be used here: a moment has few calls"),
        ((), "Missing option '--at'"),
    ],
)
def test_what_cannot_be_asked(run, capsys, words, said):
    assert main(["what", str(run), *words]) != 0
    assert said in capsys.readouterr().err
