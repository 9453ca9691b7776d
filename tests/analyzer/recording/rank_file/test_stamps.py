"""Time stamps that cannot be: a rank file for each invariant that breaks it and nothing else, and healthy ones."""

import json
from contextlib import closing

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, event, flush, poll, request, skipped, write_run

from analyzer.cli import main
from analyzer.metrics.useful import useful
from analyzer.parallel import Team
from analyzer.recording.rank_file import stamps
from analyzer.recording.run import file_findings as stamp_findings
from analyzer.recording.run.opening import open_run
from analyzer.recording.run.rank_files import find_ranks
from tracelib import schema
from tracelib.schema import ProcessState, RequestKind

MS = 10**6
LATER = MS // 2
"""Start of a process before which a row of time 0 lies."""
CALLS = [call("MPI_Init", 1 * MS, 2 * MS), call("MPI_Barrier", 3 * MS, 4 * MS, comm=WORLD)]
SEND = {"comm": WORLD, "peer": 0}


def findings(folder, rank, **options):
    """Return the findings of `check` in a run of one rank."""
    return findings_of(write_run(folder, [{"calls": CALLS} | rank], **options))


def findings_of(path):
    return stamp_findings.stamp_findings(find_ranks(str(path)).files)


def polls(*rows):
    return {"polls": [poll("MPI_Iprobe", *times, inside=inside, count=count) for *times, inside, count in rows]}


BAD = {
    "before_the_process, in the middle": (
        {"events": [event(5 * MS, 1000, 1), event(0, 1000, 2), event(6 * MS, 1000, 3)], "start": LATER},
        [
            "1 row of events stamped before the process started",
            "1 row of events stamped before the end of the previous row",
        ],
    ),
    "before_the_process, a request": (
        {"requests": [request(RequestKind.SEND_DONE, 0, 5 * MS, **SEND)], "start": LATER},
        ["1 row of requests stamped before the process started"],
    ),
    "after_its_end": (
        {"events": [event(5 * MS, 1000, 1), event(9 * MS, 1000, 1)], "clock": [(0, 0), (6 * MS, 6 * MS)]},
        ["1 row of events stamped after the process ended"],
    ),
    "ends_before_it_begins, polls": (polls((8 * MS, 7 * MS, 0, 1)), ["1 row of polls with an end before the begin"]),
    "ends_before_it_begins, requests": (
        {"requests": [request(RequestKind.SEND_DONE, 6 * MS, 5 * MS, **SEND)]},
        ["1 row of requests with an end before the begin"],
    ),
    "backwards": (
        polls((5 * MS, 7 * MS, 10, 1), (6 * MS, 8 * MS, 10, 1)),
        ["1 row of polls stamped before the end of the previous row of the same thread"],
    ),
    "inside_longer_than_it_lasted": (
        polls((5 * MS, 6 * MS, 2 * MS, 3)),
        ["1 row of polls with more time inside MPI than from begin to end"],
    ),
    "stands_for_no_call": (polls((5 * MS, 6 * MS, 10, 0)), ["1 row of polls that stands for no call"]),
    "unpaired": (
        {"events": [*flush(5 * MS, 6 * MS), event(7 * MS, schema.FLUSH_TYPE, 0)]},
        ["1 row of events flushes, measurements of clocks or searches for callers that begin or end twice"],
    ),
    "clock_without_start": (
        {"clock": [(1 * MS, 1 * MS), (10 * MS, 10 * MS)]},
        ["the first pair of clock readings is not from the start"],
    ),
    "clock_backwards": (
        {"clock": [(0, 0), (10 * MS, 10 * MS), (9 * MS, 9 * MS)]},
        ["a clock goes back from one pair of readings to the next"],
    ),
    "clock_contradicts_itself": (
        {"clock": [(0, 0), (10 * MS, 11 * MS)]},
        ["its clock readings contradict each other"],
    ),
    "sync_of_another_time": (
        {"sync": [(7, 7, 100, 0)]},
        ["clocks of nodes were measured when the process did not live, or in no time"],
    ),
    "made_at_another_time": (
        {"skipped": [skipped(RequestKind.SEND_DONE, 0, 1, peer=0)], "start": LATER},
        ["communicators, windows or files were made when the process did not live"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_each_invariant_is_broken_by_one_file(tmp_path, name):
    content, expected = BAD[name]
    found = findings(tmp_path, content)
    assert len(found) == len(expected), found
    for line, text in zip(found, expected, strict=True):
        assert line.startswith(f"rank 0: {text}")


def test_every_invariant_has_such_a_file():
    said = [line for _, expected in BAD.values() for line in expected]
    for text in (*stamps.FAULTS.values(), stamp_findings.UNPAIRED, *stamp_findings.OF_FILE.values()):
        assert any(text[:40] in line for line in said), text


def test_a_tsc_of_two_rates(tmp_path):
    """A counter of 2 ticks a ns, of which the last half goes twice as fast."""
    s = 10**9
    found = findings(tmp_path, {"clock": [(0, 0), (s, s), (2 * s, 3 * s)]}, tsc_per_us=2000)
    assert found == ["rank 0: its clock readings contradict each other"]


times = st.lists(st.integers(0, 10**7), min_size=2, max_size=40, unique=True).map(sorted)


@settings(max_examples=40)
@given(times, st.data(), st.sampled_from([None, 2100]))
def test_healthy_files_break_none(tmp_path_factory, stamps_ns, data, tsc_per_us):
    """Rows of all kinds laid over any rising times, on two threads; killed and finished."""
    rank = {"calls": [], "polls": [], "events": [], "requests": []}
    for begin, end in zip(stamps_ns[::2], stamps_ns[1::2], strict=False):
        kind, thread = data.draw(st.sampled_from(["call", "poll", "flush", "request"])), data.draw(st.integers(0, 1))
        if kind == "call":
            rank["calls"].append(call("MPI_Barrier", begin, end, comm=WORLD, thread=thread))
        elif kind == "poll":
            inside = data.draw(st.integers(0, end - begin))
            rank["polls"].append(poll("MPI_Iprobe", begin, end, inside=inside, count=2, thread=thread))
        elif kind == "flush":
            rank["events"] += flush(begin, end, thread=thread)
        else:
            rank["requests"].append(request(RequestKind.SEND_DONE, begin, end, thread=thread, **SEND))
    rank["state"] = data.draw(st.sampled_from([ProcessState.RECORDING, ProcessState.FINALIZED]))
    path = write_run(tmp_path_factory.mktemp("healthy"), [rank], tsc_per_us=tsc_per_us)
    assert findings_of(path) == []
    with closing(open_run(str(path))) as trace:
        tables = [table for lane in trace._lanes[0] for table in lane.tables.values()]
        read = sum(len(rows) for table in tables for rows in table.scan())
        assert read == sum(len(rank[name]) for name in ("calls", "polls", "events", "requests"))


def mixed_clocks(folder, first, **rank):
    """Write a run of two ranks; rank 0's first call has stamps of CLOCK_MONOTONIC, all other calls of the TSC."""
    calls = [call("MPI_Initialized", 0, 0), *CALLS]
    path = write_run(folder, [{"calls": calls} | rank, {"calls": CALLS}], tsc_per_us=2000)
    with h5py.File(folder / "run.ranks" / "000000.h5", "r+") as file:
        rows = file["calls"][:]
        rows["enter"][0], rows["exit"][0] = first, first + 1000
        file["calls"][:] = rows
    return path


@pytest.mark.parametrize("first", [764308717825, 9 * 10**18])
def test_a_first_call_by_another_clock_is_left_out_and_said(tmp_path, capsys, first):
    """The run is as without it: it lasts 4 ms, of which 2 ms are computation."""
    path = mixed_clocks(tmp_path, first)
    trace = open_run(str(path))
    said = "1 row of calls outside of the process's life left out (calls of constructors, stamped by another clock)"
    assert [(p.rank, p.text) for p in trace.problems] == [(0, said)]
    assert trace.duration_ns == 4 * MS
    assert useful(trace, Team()).by_rank().tolist() == [2 * MS, 2 * MS]
    trace.close()
    assert main(["check", "--json", str(path)]) == 1
    assert json.loads(capsys.readouterr().out)["findings"] == [f"rank 0: {said}"]
    assert main(["replay", str(path)]) == 0
    assert main(["dim", "-o", str(tmp_path / "run.dim"), str(path)]) == 0
    bursts = [float(line.split(":")[3]) for line in (tmp_path / "run.dim").read_text().splitlines() if line[:2] == "1:"]
    assert max(bursts) <= 0.004


def test_counters_of_such_a_file_are_refused(tmp_path, capsys):
    name = b"CPU_NS"
    counters = [(1, 0, schema.CPU_TIME_TYPE, int(schema.CounterBackend.CPU_CLOCK), name)]
    path = mixed_clocks(tmp_path, 764308717825, counters=counters, counts=np.arange(6, dtype="u8"))
    assert main(["look", "--no-files", str(path)]) != 0
    assert "trace the program again" in capsys.readouterr().err
