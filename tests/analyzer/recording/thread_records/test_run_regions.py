"""Regions of any program, well nested or not, against a second way to nest them, and in any cut into windows."""

import struct
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import call, event, label, write_run

from analyzer.recording.rank_file.thread_table import GAP
from analyzer.recording.run.opening import open_run
from analyzer.recording.thread_records.regions import Regions as LaneRegions
from analyzer.trace import Regions
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from analyzer.writers.paraver_labels import write_pcf
from tracelib import schema
from tracelib.schema import PARALLEL_TYPE, PARAMETER_TYPE, REGION_TYPE, LabelKind

BEGIN, END = 1, 2
NAMES = ("solve", "exchange", "solve: inner")
LABELS = [label(LabelKind.REGION, n, name) for n, name in enumerate(NAMES, start=1)]


SMALL_BLOCKS = ReadOptions(sizes=ReadSizes(scan_rows=4))
"""Options that remember the open regions at every fourth event."""


def open_written(ranks):
    with tempfile.TemporaryDirectory() as folder:
        trace = open_run(str(write_run(Path(folder), ranks)), options=SMALL_BLOCKS)
        yield trace
        trace.close()


def nested(rows, stop):
    """(time, value) of Paraver's events, and how many ends belong to no region, and regions to the end of another."""
    stack, found, orphans, ended = [], [], 0, 0
    for row in rows:
        if row["flags"] == BEGIN:
            stack.append(row["value"])
            found.append((row["time"], row["value"]))
        elif stack and row["value"] in (0, *stack):
            while stack.pop() != row["value"] and row["value"]:
                found.append((row["time"], 0))
                ended += 1
            found.append((row["time"], 0))
        else:
            orphans += 1
    return found + [(stop, 0)] * len(stack), orphans, ended, len(stack)


@st.composite
def programs(draw):
    """Begins and ends of three regions by two threads, in no order; some at one time."""
    steps = draw(
        st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.booleans(), st.integers(0, 2)), max_size=40)
    )
    time, rows = 1, []
    for thread, value, is_end, pause in steps:
        time += pause
        if value or is_end:
            rows.append(event(time, REGION_TYPE, value, thread=thread, flags=END if is_end else BEGIN))
    return rows


@settings(max_examples=100)
@given(programs(), st.lists(st.integers(1, 90), max_size=6))
def test_regions_nest_in_any_windows(rows, cuts):
    calls = [call("MPI_Send", 100, 110), call("MPI_Send", 100, 105, thread=1)]
    for trace in open_written([{"events": rows, "calls": calls, "labels": LABELS}]):
        bounds = [0, *sorted(set(cuts)), trace.duration_ns + 1]
        events = np.concatenate([trace.events(a, b) for a, b in pairwise(bounds)])
        assert (events == trace.events()).all()
        problems = np.zeros(3, int)
        for thread, stop in ((0, 110), (1, 105)):
            mine = events[(events["type"] == REGION_TYPE) & (events["thread"] == thread)]
            expected, *counts = nested([r for r in rows if r["thread"] == thread], stop)
            assert list(zip(mine["time"].tolist(), mine["value"].tolist(), strict=True)) == expected
            problems += counts
        said = " ".join(p.text for p in trace.problems)
        for count, text in zip(problems, ("never begun", "end of an outer one", "open when"), strict=True):
            assert (text in said) == (count > 0)
            assert count == 0 or str(count) in said


def test_ranks_that_number_their_regions_differently(tmp_path):
    ranks = [
        {"labels": LABELS, "events": [event(10, REGION_TYPE, 1, flags=BEGIN), event(20, REGION_TYPE, 1, flags=END)]},
        {
            "labels": [label(LabelKind.REGION, 1, "other"), label(LabelKind.REGION, 2, "solve")],
            "events": [event(11, REGION_TYPE, 2, flags=BEGIN), event(21, REGION_TYPE, 2, flags=END)],
        },
    ]
    for trace in open_written(ranks):
        assert trace.extra(Regions).names == (*NAMES, "other")
        events = trace.events()
        events = events[events["type"] == REGION_TYPE]
        assert events[["time", "value"]].tolist() == [(10, 1), (11, 1), (20, 0), (21, 0)]
        values = {0: "End", 1: "solve", 2: "exchange", 3: "solve: inner", 4: "other"}
        assert trace.event_labels[REGION_TYPE] == ("User function", values)
        write_pcf(trace, tmp_path / "run.pcf")
        assert "60000019    User function\nVALUES\n0      End\n1      solve\n" in (tmp_path / "run.pcf").read_text()


def bits(value: float) -> int:
    return struct.unpack("q", struct.pack("d", value))[0]


def test_parameters_have_types_of_their_own():
    real = 1 << 15
    values = [(500, 1), (-3, 2), (bits(2.5), 1 | real), (bits(float("inf")), 2 | real), (bits(float("nan")), 1 | real)]
    rows = [event(5, REGION_TYPE, 1, flags=BEGIN), event(6, PARALLEL_TYPE, 8)]
    rows += [event(7 + k, PARAMETER_TYPE, value, flags=flags) for k, (value, flags) in enumerate(values)]
    labels = [*LABELS, label(LabelKind.PARAMETER, 1, "n"), label(LabelKind.PARAMETER, 2, "m")]
    for trace in open_written([{"events": rows, "labels": labels}]):
        events = trace.events(6, 12)
        pairs = [(49000002, 8), (49100001, 500), (49100002, -3), (49200001, 2500000)]
        assert events[["type", "value"]].tolist()[:4] == pairs
        assert events["value"][4] > 2**62
        assert events["value"][5] == 0
        names = {kind: name for kind, (name, _) in trace.event_labels.items() if 49100000 < kind < 70000000}
        assert names == {
            60000019: "User function",
            49100001: "Parameter n",
            49100002: "Parameter m",
            49200001: "Parameter n (millionths)",
            49200002: "Parameter m (millionths)",
        }


def test_names_of_events_and_unknown_numbers():
    labels = [
        label(LabelKind.EVENT_VALUE, 1, "first", 1000),
        label(LabelKind.EVENT_VALUE, 1, "really first", 1000),
        label(LabelKind.EVENT_VALUE, -7, "seventh", 1001),
        label(LabelKind.EVENT_TYPE, 0, "Step", 1001),
    ]
    rows = [event(5, 1000, 1), event(6, REGION_TYPE, 9, flags=BEGIN), event(7, REGION_TYPE, 9, flags=END)]
    for trace in open_written([{"events": rows, "labels": [*labels, *LABELS]}]):
        assert trace.event_labels[1000] == ("Event 1000", {1: "really first"})
        assert trace.event_labels[1001] == ("Step", {-7: "seventh"})
        assert trace.events(1)["type"].tolist() == [1000, 40000001]


class Rows:
    """A thread's events in memory."""

    def __init__(self, rows):
        self.scan = lambda: [np.array(rows, schema.EVENT)]


def test_regions_are_cut_where_rows_were_dropped():
    """Regions 1 and 2 are open there; the end of 1 comes after it, that of 2 was dropped; region 3 follows whole."""
    begin, end, region = 1, 2, schema.REGION_TYPE
    rows = [
        (10, 1, region, 0, begin), (20, 2, region, 0, begin), (30, 0, schema.TRACING_TYPE, 0, GAP),
        (50, 1, schema.TRACING_TYPE, 0, GAP), (60, 1, region, 0, end), (70, 3, region, 0, begin),
        (80, 3, region, 0, end),
    ]  # fmt: skip
    regions = LaneRegions(Rows(rows), (np.arange(4, dtype=np.int32), np.zeros(1, np.int32)))
    nested, open_ = regions._nest(np.zeros(0, schema.EVENT), np.array(rows, schema.EVENT))
    found = [(int(r["time"]), int(r["value"]), int(r["flags"])) for r in nested if r["type"] == region]
    assert found == [(10, 1, 1), (20, 2, 1), (30, 2, 2), (30, 1, 2), (70, 3, 1), (80, 3, 2)]
    assert (regions.cut, regions.without_begin, len(open_)) == (3, 0, 0)
