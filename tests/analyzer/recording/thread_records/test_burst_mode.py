"""Events of a .prv in place of calls that were summed up: where detail is missing, and sums equal to the rows'."""

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import call, event, flush, write_run

from analyzer.recording.run.opening import open_run
from analyzer.sources.paraver.trace import open_prv
from analyzer.trace import CpuWaits
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from analyzer.writers.paraver_labels import write_pcf
from analyzer.writers.prv import write_prv
from tracelib import schema

NAMES = ["MPI_Send", "MPI_Waitall", "MPI_Allreduce_c", "MPI_Comm_dup", "MPI_Finalize"]
MODE, CALLS, TIME, SENT, RECEIVED = 40000018, 49000030, 49000031, 49000032, 49000033
OURS = (MODE, *range(CALLS, RECEIVED + 1), *range(54000000, 54000015))


def summary(enter, exit_, inside, count, sent=0, received=0, flags=0):
    row = {"enter": enter, "exit": exit_, "inside": inside, "count": count, "sent": sent, "received": received}
    return {**row, "thread": 0, "flags": flags}


def of_call(name, *values):
    return summary(*values, flags=NAMES.index(name) + 1)


def statistics(trace, bounds=None):
    """(time, type, value) of the events that stand for calls that were summed up."""
    parts = [trace.events(a, b) for a, b in pairwise(bounds or [0, trace.duration_ns + 1])]
    events = np.concatenate(parts)
    assert (np.diff(events["time"]) >= 0).all()
    return [row for row in events[["time", "type", "value"]].tolist() if row[1] in OURS]


@pytest.mark.parametrize(("tsc_per_us", "scanned"), [(None, 100), (2000, 2)])
def test_by_hand(tmp_path, tsc_per_us, scanned):
    """Two buffers: 3 Sends and 2 Waitalls in two stretches, then an Allreduce and a Comm_dup in one. The first buffer
    is written as soon as the last call is over; while the second fills up, recording stops for a while. Also where a
    ns has two ticks and a buffer is read in several pieces."""
    first = [
        of_call("MPI_Send", 10, 60, 9, 3, 24, 0),
        summary(10, 40, 12, 3, 16, 8),
        of_call("MPI_Waitall", 20, 70, 20, 2, 0, 16),
        summary(50, 70, 17, 2, 8, 8),
    ]
    second = [
        of_call("MPI_Allreduce_c", 110, 120, 10, 1, 4, 5),
        summary(110, 130, 15, 2, 4, 5),
        of_call("MPI_Comm_dup", 125, 130, 5, 1),
    ]
    off = [event(121, schema.TRACING_TYPE, 0), event(124, schema.TRACING_TYPE, 1)]
    events = [*flush(70, 90), *off, *flush(150, 160)]
    rank = {"summaries": first + second, "events": events, "calls": [call("MPI_Finalize", 140, 170)]}
    path = write_run(tmp_path, [{**rank, "procedures": NAMES}], tsc_per_us=tsc_per_us)
    trace = open_run(str(path), options=ReadOptions(sizes=ReadSizes(scan_rows=scanned)))
    found = statistics(trace)
    modes = [(10, 2), (40, 1), (50, 2), (70, 1), (110, 2), (130, 1)]
    assert [(time, value) for time, kind, value in found if kind == MODE] == modes
    stretches = [(10, 0), (40, 3), (50, 0), (70, 2), (110, 0), (130, 2)]
    assert [(time, value) for time, kind, value in found if kind == CALLS] == stretches
    assert [value for _, kind, value in found if kind == TIME and value] == [12, 17, 15]
    assert [value for _, kind, value in found if kind == SENT and value] == [16, 8, 4]
    write_prv(trace, tmp_path / "run.prv")
    imported = open_prv(tmp_path / "run.prv")
    assert not imported.origin.predicted and not len(imported.extra(CpuWaits).of(0))
    imported.close()
    assert [value for _, kind, value in found if kind == RECEIVED and value] == [8, 8, 5]
    of_buffers = {(time, kind): value for time, kind, value in found if kind >= 54000000}
    point_to_point = {54000000: 5, 54000001: 24, 54000002: 16, 54000006: 29, 54000012: 29}
    others = {54000003: 1, 54000004: 4, 54000005: 5, 54000006: 15, 54000011: 5, 54000013: 10, 54000014: 1}
    expected = {(70, kind): value for kind, value in point_to_point.items()}
    expected |= {(130, kind): value for kind, value in others.items()}
    expected |= dict.fromkeys([(10, kind) for kind in point_to_point] + [(110, kind) for kind in others], 0)
    assert of_buffers == expected
    write_pcf(trace, tmp_path / "run.pcf")
    text = (tmp_path / "run.pcf").read_text()
    assert "40000018    Tracing mode:\nVALUES\n1      Detailed\n2      CPU Bursts\n" in text
    assert "54000000    Number of P2P MPI calls\n" in text


def test_none_where_every_call_is_there(tmp_path):
    trace = open_run(str(write_run(tmp_path, [{"calls": [call("MPI_Send", 1, 2)]}])))
    assert statistics(trace) == []
    assert not set(OURS) & set(trace.event_labels)


@st.composite
def summed(draw):
    """Stretches of calls in buffers, each buffer behind the rows by call that have the same sums."""
    now, rows, events, total = 1, [], [], Counter()
    for _ in range(draw(st.integers(1, 4))):
        begin, by_call, stretches = now, {}, []
        for _ in range(draw(st.integers(1, 5))):
            enter = now = now + draw(st.integers(1, 20))
            inside, sums = 0, Counter()
            for name, length in draw(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 9)), min_size=1)):
                sums.update(count=1, sent=length, received=2 * length)
                by_call.setdefault(name, Counter()).update(count=1, sent=length, received=2 * length, inside=length)
                inside, now = inside + length, now + length
            stretches.append(summary(enter, now, inside, sums["count"], sums["sent"], sums["received"]))
        for name, sums in by_call.items():
            rows.append(of_call(name, begin + 1, now, sums["inside"], sums["count"], sums["sent"], sums["received"]))
            total[name] += sums["count"]
        rows += stretches
        events += flush(now + 1, now + 2)
        now += 2
    return rows, events, total


@settings(max_examples=40)
@given(summed(), st.lists(st.integers(1, 200), max_size=6))
def test_sums_are_those_of_all_calls_in_any_windows(rows, cuts):
    summaries, events, total = rows
    rank = {"summaries": summaries, "events": events, "procedures": NAMES, "start": 0}
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), [rank])))
        found = statistics(trace)
        bounds = [0, *sorted({cut for cut in cuts if cut <= trace.duration_ns}), trace.duration_ns + 1]
        assert statistics(trace, bounds) == found
        trace.close()
    sums = Counter()
    for _, kind, value in found:
        sums[kind] += value
    assert sums[54000000] == total["MPI_Send"] + total["MPI_Waitall"]
    assert sums[54000003] == total["MPI_Allreduce_c"]
    assert sums[54000014] == total["MPI_Comm_dup"] + total["MPI_Finalize"]
    assert sums[CALLS] == total.total()
    assert sums[TIME] == sums[54000006] == sums[54000011] + sums[54000012] + sums[54000013]
    assert sums[RECEIVED] == 2 * sums[SENT] == 2 * sums[TIME]
    modes = [value for _, kind, value in found if kind == MODE]
    assert modes == [2, 1] * (len(modes) // 2)
