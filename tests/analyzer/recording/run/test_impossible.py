"""Every command that computes with the rows of a run refuses impossible rows, at any place in a table."""

import json
from contextlib import nullcontext
from itertools import pairwise
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, flush, poll, request, write_run

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.recording.rank_file.pieces import Piece
from analyzer.recording.rank_file.row_stream import RowStream
from analyzer.recording.rank_file.stamps import SLACK_TICKS, Life, Watch
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.trace import SummedCalls
from analyzer.trace.read_sizes import ReadSizes
from tracelib import schema
from tracelib.schema import ProcessState, RequestKind

MS = 10**6
STEPS = 12
MIDDLE = 5
START = MS


def healthy(folder, **attributes):
    """Two ranks that send to each other in turn, poll, complete requests and write buffers, a step each 10 ms."""
    ranks = []
    for rank in range(2):
        rows = {"calls": [call("MPI_Init", START, 2 * MS)], "polls": [], "requests": [], "events": []}
        for t in range(10 * MS, 10 * MS * (STEPS + 1), 10 * MS):
            other = {"comm": WORLD, "peer": 1 - rank}
            rows["calls"].append(call("MPI_Isend", t, t + MS, tag=1, sent=8, **other))
            rows["polls"].append(poll("MPI_Test", t + 2 * MS, t + 3 * MS, inside=1000, count=4))
            rows["calls"].append(call("MPI_Recv", t + 4 * MS, t + 5 * MS, tag=1, received=8, **other))
            rows["calls"].append(call("MPI_Wait", t + 6 * MS, t + 7 * MS))
            rows["requests"].append(request(RequestKind.SEND_DONE, t, t + 7 * MS, tag=1, bytes=8, **other))
            rows["events"] += flush(t + 8 * MS, t + 9 * MS)
        rows["calls"].append(call("MPI_Finalize", t + 20 * MS, t + 21 * MS))
        ranks.append(rows | {"start": START} | attributes)
    return write_run(folder, ranks)


def damage(folder, table, row, **columns):
    """Move stamps of one row of rank 1 by ticks, or change other columns by the functions in `columns`."""
    with h5py.File(folder / "run.ranks" / "000001.h5", "r+") as file:
        rows = file[table][:]
        for column, change in columns.items():
            rows[column][row] = change(int(rows[column][row]))
        file[table][:] = rows


def later(ms):
    return lambda ticks: ticks + ms * MS


AN_HOUR = 3600 * 1000
IMPOSSIBLE = {
    "begins before the one before it began": ("calls", 10, {"enter": later(-20)}, "before the end of the previous row"),
    "exit before enter": ("calls", 10, {"exit": later(-2)}, "an end before the begin"),
    "overlaps the next one": ("calls", 10, {"exit": later(4)}, "before the end of the previous row"),
    "enter before the process": ("calls", 10, {"enter": lambda _: 1000}, "before the process started"),
    "a burst longer than the run": ("calls", 10, {"enter": later(AN_HOUR), "exit": later(AN_HOUR)}, "process ended"),
    "an exit of another clock": ("calls", 10, {"exit": lambda _: 2**63}, "after the process ended"),
    "the last call ends after the process": ("calls", -1, {"exit": later(AN_HOUR)}, "after the process ended"),
    "the last call is of another clock": ("calls", -1, {"enter": lambda _: 1000}, "before the process started"),
    "a flush before it began": ("events", 8, {"time": later(-20)}, "before the end of the previous row"),
    "a flush after the process": ("events", -1, {"time": later(AN_HOUR)}, "after the process ended"),
    "a flush before the process": ("events", 8, {"time": lambda _: 1000}, "before the process started"),
    "polls longer inside": ("polls", MIDDLE, {"inside": later(2)}, "more time inside MPI than from begin to end"),
    "polls that go backwards": ("polls", MIDDLE, {"enter": later(-20)}, "before the end of the previous row"),
    "polls of no call": ("polls", MIDDLE, {"count": lambda _: 0}, "that stands for no call"),
    "a request completed before": ("requests", MIDDLE, {"completed": later(-8)}, "an end before the begin"),
    "a request of the future": ("requests", MIDDLE, {"completed": later(AN_HOUR)}, "after the process ended"),
}
READS_CALLS = {
    "look": ["{run}"],
    "info": ["look", "--no-files", "{run}"],
    "prv": ["prv", "{run}", "-o", "{out}.prv"],
    "dim": ["dim", "{run}", "-o", "{out}.dim"],
    "critical-path": ["critical-path", "{run}"],
    "efficiency": ["efficiency", "{run}"],
    "limits": ["limits", "{run}", "--quick", "--jobs", "1"],
    "monte-carlo": ["monte-carlo", "{run}", "--vary", "latency=1us..100us", "-n", "2", "--jobs", "1"],
    "profile": ["profile", "{run}"],
    "replay": ["replay", "{run}"],
    "sensitivity": ["sensitivity", "{run}", "--latency", "5us", "--bandwidth", "1000MB/s", "--jobs", "1"],
    "waits": ["waits", "{run}"],
    "what-if": ["what-if", "{run}", "--by", "calls", "--jobs", "1"],
}

READS_NO_REQUESTS = ("profile",)  # of a measured run: it needs no sizes


@pytest.fixture
def type_in(tmp_path, capsys):
    """Run a command on the run in the folder. Return whether it succeeded, and its output."""

    def type_in(words):
        code = main([word.format(run=tmp_path / "run.h5", out=tmp_path / "written") for word in words])
        said = capsys.readouterr()
        return code, said.err

    return type_in


@pytest.mark.parametrize("command", READS_CALLS)
def test_a_healthy_run_is_read(tmp_path, type_in, command):
    healthy(tmp_path)
    assert type_in(READS_CALLS[command])[0] == 0


@pytest.mark.parametrize("kind", IMPOSSIBLE)
@pytest.mark.parametrize("command", READS_CALLS)
def test_every_command_refuses_it_in_one_line(tmp_path, type_in, command, kind):
    table, row, columns, text = IMPOSSIBLE[kind]
    if table == "requests" and command in READS_NO_REQUESTS:
        return
    healthy(tmp_path)
    damage(tmp_path, table, row, **columns)
    code, said = type_in(READS_CALLS[command])
    assert code == 1, said
    assert f"000001.h5: a row of {table} " in said and text in said


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_check_counts_it(tmp_path, capsys, kind):
    table, row, columns, _ = IMPOSSIBLE[kind]
    damage(healthy(tmp_path).parent, table, row, **columns)
    assert main(["check", "--json", str(tmp_path / "run.h5")]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert any(line.startswith("rank 1: ") and table in line for line in found), found


def test_a_killed_rank_whose_first_call_is_of_a_larger_clock(tmp_path):
    """Nobody knows when it ended, but its first call is no later than its last."""
    healthy(tmp_path, state=ProcessState.EXITED)
    before = open_trace(tmp_path / "run.h5")
    damage(tmp_path, "calls", 0, enter=later(AN_HOUR), exit=later(AN_HOUR))
    after = open_trace(tmp_path / "run.h5")
    assert [p.rank for p in after.problems if "1 row of calls outside of the process's life left out" in p.text] == [1]
    assert after.duration_ns == before.duration_ns


def test_a_killed_rank_with_such_a_call_among_others_is_refused(tmp_path, type_in):
    healthy(tmp_path, state=ProcessState.EXITED)
    damage(tmp_path, "calls", 10, enter=later(AN_HOUR), exit=later(AN_HOUR))
    code, said = type_in(READS_CALLS["replay"])
    assert code == 1 and "number 11 of thread 0 of rank 1" in said


def test_bytes_without_calls_are_no_such_row(tmp_path):
    """Bytes received in another buffer than the buffer of their call, and a row that a kill left unfinished."""
    rows = [dict.fromkeys(schema.SUMMARY.names, 0) | {"enter": t, "flags": 1} for t in (5, 9)]
    rows[0] |= {"exit": 5, "received": 8}
    trace = open_trace(write_run(tmp_path, [{"summaries": rows, "procedures": ["MPI_Irecv"]}]))
    assert trace.extra(SummedCalls).of(0)["received"].tolist() == [8]


def of_calls(times):
    """One thread's table of calls with these begins and ends, watched, and a reader of the same rows as a stream."""
    rows = np.zeros(len(times) // 2, schema.CALL)
    rows["enter"], rows["exit"] = times[::2], times[1::2]
    table = ThreadTable(None, "calls", [Piece(0, 0, len(rows), rows)])
    table.watch(Watch(SimpleNamespace(path="file", rank=0), 0, "calls", Life(0, None)), ends=True)
    return table


STEP = SLACK_TICKS + 1
"""Ticks: the shortest way back that is no difference between CPUs."""

rising = (
    st.lists(st.integers(0, 10**6), min_size=4, max_size=60, unique=True)
    .map(lambda times: [STEP * time for time in sorted(times)])
    .filter(lambda times: len(times) % 2 == 0)
)


def test_cpus_may_read_the_clock_a_little_differently():
    for back, refused in ((SLACK_TICKS, False), (STEP, True)):
        with pytest.raises(TracelibError) if refused else nullcontext():
            table = of_calls([10 * STEP, 20 * STEP, 20 * STEP - back, 30 * STEP])
            assert len(table.window(0, 2**40)) == 2


@settings(max_examples=50)
@given(rising, st.data())
def test_any_way_of_reading_all_finds_it_and_nothing_else(times, data):
    """In windows of any times, and in blocks of any number of rows: between two windows it is noticed, too."""
    cuts = sorted(STEP * cut for cut in data.draw(st.lists(st.integers(0, 10**6), max_size=6)))
    windows = list(pairwise([0, *cuts, 2**40]))
    table = of_calls(times)
    assert sum(len(table.window(*window)) for window in windows) == len(times) // 2
    at = data.draw(st.integers(1, len(times) - 2))
    times[at], times[at + 1] = times[at + 1], times[at]  # an end before its begin, or a begin before the last end
    with pytest.raises(TracelibError):
        for window in windows:
            (table := of_calls(times) if window[0] == 0 else table).window(*window)


@settings(max_examples=20)
@given(rising, st.data())
def test_so_does_a_stream(times, data):
    at = data.draw(st.integers(1, len(times) - 2))
    times[at], times[at + 1] = times[at + 1], times[at]
    with pytest.raises(TracelibError):
        table = of_calls(times)
        table.sizes = ReadSizes(stream_rows=data.draw(st.integers(1, 5)))
        stream = RowStream(table, "calls", 0, len(times) // 2)
        while stream.limit is not None:
            stream.advance()
