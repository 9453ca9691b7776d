"""Regions and events in .dim files: they cut bursts, and change nothing else, where and however often they stand."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from dim_lines import without_eager_limit
from dim_programs import nanoseconds, programs, records, trace_of
from grammar import check_dim
from hypothesis import given, settings
from hypothesis import strategies as st
from ideal_replay import replay
from memory_trace import MemoryTrace, Noted
from synthetic import call, event, flush, label, write_run

from analyzer.opening import open_trace
from analyzer.operations import walk
from analyzer.operations.bursts import LATER
from analyzer.parallel import Team
from analyzer.trace import UNKNOWN, State
from analyzer.writers.dim import write_dim
from tracelib.schema import ERROR_TYPE, PARALLEL_TYPE, PARAMETER_TYPE, REGION_TYPE, LabelKind

moments = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 9), st.integers(0, 2)), max_size=20)


def events_of(said, trace):
    """Rows (time, value, type, rank, thread) of ranks and times that the trace has."""
    end = trace.duration_ns
    return [(min(time, end), value, 1000 + value, rank, 0) for time, value, rank in said if rank < trace.size]


def mark(trace, said):
    """The trace with events."""
    trace._events = MemoryTrace([[]], events=events_of(said, trace))._events
    trace.put(Noted(of_all=trace._events))
    return trace


def text_of(trace) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.dim"
        write_dim(trace, path, Team())
        assert check_dim(path) == []
        return without_eager_limit(path.read_text())


def without_events(text: str) -> list[str]:
    """The records of a .dim but for events; bursts that follow each other made one."""
    merged: list[str] = []
    for line in text.splitlines()[1:]:
        if line[0] in "ds" or line.startswith("20:"):
            continue
        if merged and line.startswith("1:") and merged[-1].startswith("1:") and same_task(merged[-1], line):
            both = sum(ns(burst) for burst in (merged[-1], line))
            line = f"{line.rpartition(':')[0]}:{both // 10**9}.{both % 10**9:09d}"
            merged.pop()
        merged.append(line)
    return merged


def same_task(one: str, other: str) -> bool:
    return one.split(":")[1] == other.split(":")[1]


def ns(burst: str) -> int:
    return int(burst.rpartition(":")[2].replace(".", ""))


def before_events(text: str, rank: int) -> list[int]:
    """How long the rank has computed at each of its events, by the bursts before it."""
    found, sum_ns = [], 0
    for line in text.splitlines():
        if line.startswith(f"1:{rank}:"):
            sum_ns += ns(line)
        elif line.startswith(f"20:{rank}:"):
            found.append(sum_ns)
    return found


@given(programs, moments)
def test_nothing_but_events_is_new(programs, said):
    plain = trace_of(programs)
    text = text_of(mark(trace_of(programs), said))
    assert without_events(text) == without_events(text_of(plain))
    assert nanoseconds(text, plain.size) == nanoseconds(text_of(plain), plain.size)
    for rank in range(plain.size):
        found = [[int(n) for n in record[3:]] for record in records(text, "20") if record[1] == str(rank)]
        mine = [row for row in sorted(events_of(said, plain), key=lambda row: row[0]) if row[3] == rank]
        assert found == [[kind, value] for _, value, kind, *_ in mine]


@given(programs, moments)
def test_an_event_stands_where_the_rank_has_computed_so_long(programs, said):
    """Against the sum of all its Running before that time, events in calls and flushes included."""
    trace = mark(trace_of(programs), said)
    text, states = text_of(trace), trace.states()
    for rank in range(trace.size):
        running = states[(states["rank"] == rank) & (states["state"] == State.RUNNING)]
        times = sorted(time for time, _, _, owner, _ in events_of(said, trace) if owner == rank)
        spent = [int((np.minimum(running["end"], t) - np.minimum(running["begin"], t)).sum()) for t in times]
        assert before_events(text, rank) == spent


@settings(max_examples=50)
@given(programs, moments, st.integers(1, 200))
def test_windows_do_not_show(programs, said, window):
    one, many = (mark(trace_of(programs, width), said) for width in (None, window))
    assert text_of(one) == text_of(many)


pieces = st.lists(
    st.tuples(st.booleans(), st.integers(0, 30), st.integers(1, 20), st.integers(-1, 60)), min_size=1, max_size=20
)


@given(pieces, moments, st.sampled_from([None, 7, 60]))
def test_measured_bursts_are_cut_in_proportion(actions, said, window):
    """Bursts of CPU time, some known only after failing polls, keep their sums to the nanosecond, and their order."""
    rows, measured, now = [], {}, 0
    for is_poll, gap, length, cpu in actions:
        enter, now = now + gap, now + gap + length
        more = {"count": 3, "inside": length // 2} if is_poll else {}
        rows.append(("MPI_Test" if is_poll else "MPI_Barrier", enter, now, {"comm": 0, **more}))
        measured[enter] = LATER if is_poll else max(cpu, UNKNOWN)

    def window_of(self, window, calls):
        return np.array([measured[enter] for enter in calls["enter"].tolist()], np.int64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk.CpuBursts, "window", window_of)
        plain = text_of(MemoryTrace([rows], window=window))
        text = text_of(mark(MemoryTrace([rows], window=window), said))
        assert without_events(text) == without_events(plain)
        assert text == text_of(mark(MemoryTrace([rows]), said))
    places = before_events(text, 0)
    assert places == sorted(places)


def test_half_of_a_measured_burst(tmp_path):
    """40 of 100 ns were computed; after 25 and 75 ns something is said: at 10 and 30 of 40."""
    rows = [[("MPI_Barrier", 0, 0, {"comm": 0}), ("MPI_Barrier", 100, 110, {"comm": 0})]]
    trace = MemoryTrace(rows, events=[(25, 7, 5, 0, 0), (75, 8, 5, 0, 0)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk.CpuBursts, "window", lambda self, window, calls: np.array([-1, 40]))
        text = text_of(trace)
    assert re.findall(r"^(?:1|20):0:0:(.*)$", text, re.M) == [
        "0.000000000",
        "0.000000010",
        "5:7",
        "0.000000020",
        "5:8",
        "0.000000010",
    ]


@pytest.mark.parametrize("measured, burst", [(500, 50), (51, 50), (40, 40)])
def test_the_cpu_time_of_failing_polls_is_no_computation(measured, burst):
    """20 ns before polls that fail, in which MPI spins, and 30 after them: at most 50 were computed."""
    polls = ("MPI_Test", 20, 600, {"count": 9, "inside": 580})
    rows = [[("MPI_Barrier", 0, 0, {"comm": 0}), polls, ("MPI_Barrier", 630, 640, {"comm": 0})]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk.CpuBursts, "window", lambda self, window, calls: np.array([-1, LATER, measured]))
        text = text_of(MemoryTrace(rows))
    assert nanoseconds(text, 1) == [burst]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 1)), max_size=15), moments)
def test_a_replay_is_unchanged(steps, said):
    """Two ranks that compute, send to each other and meet."""
    calls, now = [[], []], [3, 5]
    for left, right, kind in steps:
        starts = [now[0] + left, now[1] + right]
        names = ("MPI_Barrier", "MPI_Barrier") if kind else ("MPI_Send", "MPI_Recv")
        for rank, name in enumerate(names):
            more = {"comm": 0} if kind else {"comm": 0, "peer": 1 - rank, "tag": 1, "sent": 8, "received": 8}
            calls[rank].append((name, starts[rank], max(starts) + 4, more))
        now = [max(starts) + 4] * 2
    with TemporaryDirectory() as folder:
        ends = []
        for events in ([], said):
            path = Path(folder) / f"{len(ends)}.dim"
            write_dim(mark(MemoryTrace(calls), events), path, Team())
            ends.append(replay(path, 4))
        assert ends[0] == ends[1]


def test_what_a_real_file_says(tmp_path):
    """Regions nest, parameters and threads are there, the tracer's events, type 0 and others' regions are not."""
    labels = [label(LabelKind.REGION, 1, "solve"), label(LabelKind.PARAMETER, 1, "n")]
    events = [
        event(10, REGION_TYPE, 1, flags=1),
        event(11, PARAMETER_TYPE, 500, flags=1),
        event(12, PARALLEL_TYPE, 8),
        event(20, 1000, -3),
        event(21, 0, 1),
        *flush(30, 40),
        event(41, 2000, 1 << 40),
        event(50, ERROR_TYPE, 15),
        event(60, REGION_TYPE, 1, flags=2),
        event(13, REGION_TYPE, 1, thread=1, flags=1),
        event(14, 3000, 1, thread=1),
        event(15, REGION_TYPE, 1, thread=1, flags=2),
    ]
    calls = [call("MPI_Barrier", 45, 50, comm=1), call("MPI_Barrier", 70, 80, comm=1)]
    trace = open_trace(write_run(tmp_path, [{"calls": calls, "events": events, "labels": labels}]))
    report = write_dim(trace, tmp_path / "x.dim", Team())
    text = without_eager_limit((tmp_path / "x.dim").read_text())
    lines = [line for line in text.splitlines() if line[0] not in "#ds"]
    assert check_dim(tmp_path / "x.dim") == []
    assert report.left_out == {"events of type 0": 1}
    shared = "49000013:8"  # of 8 threads is what was computed before
    assert [line.split(":", 3)[3] for line in lines] == [
        "0.000000000",
        "0.000000010",
        f"{REGION_TYPE}:1",
        "0.000000001",
        shared,
        "49100001:500",
        "0.000000001",
        shared,
        f"{PARALLEL_TYPE}:8",
        "0.000000002",
        shared,
        "3000:1",
        "0.000000006",
        shared,
        "1000:-3",
        "0.000000011",
        shared,
        f"2000:{1 << 40}",
        "0.000000004",
        shared,
        "0:1:0:0:0:0:1",
        "0.000000010",
        shared,
        f"{REGION_TYPE}:0",
        "0.000000010",
        "0:1:0:0:0:0:1",
    ]


def test_an_imported_trace(tmp_path):
    """User functions and users' events stay, what Extrae adds by itself goes."""
    lines = ["2:1:1:1:1:10:60000019:4", "2:1:1:1:1:20:1000:7:70000001:3", "2:1:1:1:1:30:60000019:0:42000050:9"]
    lines += ["2:2:1:2:1:35:1000:8", "2:1:1:1:1:40:40000001:0", "2:2:1:2:1:40:40000001:0"]
    head = "#Paraver (01/01/2026 at 00:00):40_ns:1(2):1:2(1:1,1:1)\n1:1:1:1:1:0:40:1\n"
    (tmp_path / "run.prv").write_text(head + "\n".join(lines) + "\n")
    trace = open_trace(tmp_path / "run.prv")
    write_dim(trace, tmp_path / "run.dim", Team())
    text = without_eager_limit((tmp_path / "run.dim").read_text())
    found = [(int(task), int(kind), int(value)) for _, task, _, kind, value in records(text, "20")]
    assert found == [(0, 60000019, 4), (0, 1000, 7), (0, 60000019, 0), (1, 1000, 8)]
    assert (before_events(text, 0), before_events(text, 1)) == ([10, 20, 30], [35])
    assert nanoseconds(text, 2) == [40, 40]
    trace.close()
