"""Files for Perfetto and Chrome: by hand, in any cut into windows, and as Perfetto's own SQL sees them."""

import json
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from marked import LABELS, begin, end
from memory_trace import MemoryTrace
from perfetto_file import decode
from random_runs import COUNTERS, RATES, runs
from synthetic import SELF, WORLD, call, event, label, poll, request, write_run
from system_files import TIMES, write_samples
from trace_processor import NODE, ask

from analyzer.errors import TracelibError
from analyzer.metrics.regions import region_visits
from analyzer.opening import open_trace
from analyzer.trace import Regions
from analyzer.writers.timeline import TimelineFormat, write_timeline
from benchmarks.synthetic.run import write_run as write_pattern
from tracelib import schema
from tracelib.schema import LabelKind, RequestKind

THREADS = ("main thread", "thread 1", "thread 2")


def written(trace, folder, form=TimelineFormat.PERFETTO):
    path = folder / f"written.{form.name.lower()}"
    return path, write_timeline(trace, path, form)


def by_hand(folder):
    """Rank 0 sends while it is in a region; rank 1 posts a receive, polls, and completes it in a second region."""
    first = [call("MPI_Send", 120, 150, comm=WORLD, peer=1, tag=5, sent=80), call("MPI_Barrier", 200, 300, comm=WORLD)]
    second = [
        call("MPI_Irecv", 100, 110, comm=WORLD, peer=0, tag=5),
        call("MPI_Wait", 190, 195, comm=WORLD, peer=0, tag=5, received=80),
        call("MPI_Barrier", 210, 300, comm=WORLD),
    ]
    ranks = [
        {"calls": first, "events": [begin(110, 1), begin(115, 2), end(150, 2), end(200, 1)], "labels": LABELS},
        {
            "calls": second,
            "polls": [poll("MPI_Test", 130, 180, inside=20, count=4)],
            "requests": [request(RequestKind.RECV_DONE, 100, 195, peer=0, tag=5, bytes=80)],
        },
    ]
    return open_trace(write_run(folder, ranks))


def test_by_hand(tmp_path):
    trace = by_hand(tmp_path)
    path, counts = written(trace, tmp_path)
    assert (counts.calls, counts.regions, counts.messages, counts.values) == (6, 2, 1, 0)
    zero, one = ("rank 0", "main thread"), ("rank 1", "main thread")
    found = decode(path)
    world = {"comm": "MPI_COMM_WORLD"}
    assert sorted(found.slices, key=lambda slice: (slice[0], slice[2])) == [
        (zero, 120, 150, "MPI_Send", "mpi", {"peer": 1, "tag": 5, "sent_bytes": 80, **world}),
        (zero, 115, 150, "exchange", "region", {}),
        (zero, 110, 200, "solve", "region", {}),
        (zero, 200, 300, "MPI_Barrier", "mpi", world),
        (one, 100, 110, "MPI_Irecv", "mpi", {"peer": 0, "tag": 5, **world}),
        (one, 130, 150, "MPI_Test", "mpi", {"calls": 4}),
        (one, 190, 195, "MPI_Wait", "mpi", {"peer": 0, "tag": 5, "received_bytes": 80, **world}),
        (one, 210, 300, "MPI_Barrier", "mpi", world),
    ]
    assert (found.opened, found.closed) == ({1: (zero, 120)}, {1: (one, 195)})
    assert not found.instants and not found.values and not found.notes


def test_chrome_by_hand(tmp_path):
    """Times in microseconds; the end of an arrow lies before that of its slice."""
    path, _ = written(by_hand(tmp_path), tmp_path, TimelineFormat.CHROME)
    events = json.loads(path.read_text())["traceEvents"]
    of_send = [e for e in events if (e["pid"], e["tid"]) == (1, 1) and e["ph"] != "M"][2:5]
    common = {"pid": 1, "tid": 1, "ts": 0.12}
    arguments = {"peer": 1, "tag": 5, "sent_bytes": 80, "comm": "MPI_COMM_WORLD"}
    assert of_send == [
        {"ph": "B", **common, "name": "MPI_Send", "cat": "mpi", "args": arguments},
        {"ph": "s", **common, "name": "message", "cat": "message", "id": 1},
        {"ph": "E", **common, "ts": 0.15},
    ]
    arrow = next(number for number, e in enumerate(events) if e["ph"] == "f")
    assert [(e["ph"], e["pid"], e["ts"]) for e in events[arrow : arrow + 2]] == [("f", 2, 0.195), ("E", 2, 0.195)]
    names = [(e["name"], e["pid"], e["args"]["name"]) for e in events if e["ph"] == "M" and "name" in e["args"]]
    assert names[:2] == [("process_name", 1, "rank 0"), ("thread_name", 1, "main thread")]


def calls_of(trace):
    """Yield (track, begin, end, name) of all calls; a folded row's calls are at its beginning."""
    for rank in range(trace.size):
        for row in (row for block in trace.calls(rank) for row in block):
            last = row["enter"] + row["inside"] if row["count"] > 1 else row["exit"]
            name = trace.procedures[row["call"]]
            yield (f"rank {rank}", THREADS[row["thread"]]), int(row["enter"]), int(last), name


def visits_of(trace):
    names = trace.extra(Regions).names
    for rank in range(trace.size):
        for row in region_visits(trace, rank):
            track = f"rank {rank}", THREADS[row["thread"]]
            yield track, int(row["begin"]), int(row["end"]), names[row["region"]]


@settings(max_examples=15)
@given(runs(most_threads=3))
def test_any_run_in_any_windows(made):
    ranks, tsc_per_us = made
    with tempfile.TemporaryDirectory() as folder:
        trace = open_trace(write_run(Path(folder), ranks, tsc_per_us=tsc_per_us))
        trace.windows = lambda records=0: np.unique(np.linspace(0, trace.duration_ns + 1, 7).astype(np.int64))
        path, counts = written(trace, Path(folder))
        found = decode(path)
        slices = Counter((track, a, b, name, category) for track, a, b, name, category, _ in found.slices)
        expected = Counter((*call, "mpi") for call in calls_of(trace))
        assert slices == expected + Counter((*visit, "region") for visit in visits_of(trace))
        messages = trace.messages()
        assert counts.messages == len(messages) == len(found.opened) == len(found.closed)
        ends = Counter((m["logical_send"], m["physical_receive"], m["source"], m["destination"]) for m in messages)
        arrows = [(found.opened[n], found.closed[n]) for n in found.opened]
        assert ends == Counter((a[1], b[1], int(a[0][0][5:]), int(b[0][0][5:])) for a, b in arrows)
        assert set(found.instants) <= set(found.closed.values())
        json.loads(written(trace, Path(folder), TimelineFormat.CHROME)[0].read_text())
        trace.close()


def test_a_late_sender(tmp_path):
    """Perfetto would turn an arrow around that goes to a slice which began before the send."""
    ranks = [
        [call("MPI_Send", 120, 150, comm=WORLD, peer=1, sent=80)],
        [call("MPI_Recv", 100, 190, comm=WORLD, peer=0, received=80), call("MPI_Barrier", 200, 210, comm=WORLD)],
    ]
    trace = open_trace(write_run(tmp_path, [{"calls": rows} for rows in ranks]))
    found = decode(written(trace, tmp_path)[0])
    one = ("rank 1", "main thread")
    assert [(track, a, b, name) for track, a, b, name, *_ in found.slices if track == one] == [
        (one, 100, 190, "MPI_Recv"),
        (one, 200, 210, "MPI_Barrier"),
    ]
    assert (found.opened[1][1], found.closed[1], found.instants) == (120, (one, 190), [(one, 190)])


def test_the_counters_of_a_run(tmp_path):
    """Two of them are read at each entry and exit, in a track of their own."""
    rows = [call("MPI_Barrier", a, a + 10, comm=WORLD) for a in (10, 40)]
    content = {"calls": rows, "counters": COUNTERS, "counts": [r * t for t in (10, 20, 40, 50) for r in RATES]}
    blocks = np.zeros(1, schema.BLOCK)
    blocks["count"] = [len(content.get(name, ())) for name in schema.BUFFERED]
    blocks["flags"] = blocks["set"] = 1
    path, counts = written(open_trace(write_run(tmp_path, [content | {"blocks": blocks}])), tmp_path)
    names = [name.decode() for *_, name in COUNTERS]
    expected = {
        (("rank 0", "main thread", name), time, rate * time)
        for name, rate in zip(names, RATES, strict=True)
        for time in (10, 20, 40, 50)
    }
    assert set(decode(path).values) == expected and counts.values == len(expected) == 8


OWN = 1000
NAMED = [*LABELS, label(LabelKind.EVENT_TYPE, 0, "step", OWN), label(LabelKind.EVENT_VALUE, 1, "the first", OWN)]


def test_events_of_the_program(tmp_path):
    """Events have the names of type and value if there are some; events of regions are only slices."""
    events = [begin(10, 1), event(12, OWN, 1), event(13, OWN, 2), end(20, 1), event(21, 7, -5)]
    ranks = [
        {"calls": [call("MPI_Barrier", 15, 18, comm=WORLD)]},
        {"calls": [call("MPI_Barrier", 15, 18, comm=WORLD)], "events": events, "labels": NAMED},
    ]
    trace = open_trace(write_run(tmp_path, ranks))
    path, counts = written(trace, tmp_path)
    one, found = ("rank 1", "main thread"), decode(path)
    assert found.notes == [
        (one, 12, "step", {"value": 1, "label": "the first"}),
        (one, 13, "step", {"value": 2}),
        (one, 21, "event 7", {"value": -5}),
    ]
    assert [s[3] for s in found.slices if s[4] == "region"] == ["solve"] and counts.events == 3
    said = json.loads(written(trace, tmp_path, TimelineFormat.CHROME)[0].read_text())["traceEvents"]
    assert [(e["ts"], e["name"], e["args"]) for e in said if e["ph"] == "i"] == [
        (0.012, "step", {"value": 1, "label": "the first"}),
        (0.013, "step", {"value": 2}),
        (0.021, "event 7", {"value": -5}),
    ]


def test_samples_of_a_node(tmp_path):
    """Gauges as they were; what is counted as a rate from each sample to the next. Samples lie 200 ns apart."""
    run = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 100, 1000, comm=WORLD)]}])
    write_samples(tmp_path)
    trace = open_trace(run)
    path, counts = written(trace, tmp_path)
    of = {}
    for (node, name), time, value in decode(path).values:
        assert node == "node node0"
        of.setdefault(name, []).append((time, value))
    assert counts.samples == sum(map(len, of.values()))
    assert of["load_1 (processes)"] == list(zip(TIMES, (0.25, 1.5, 1.0, 0.5), strict=True))
    assert of["memory_used (bytes)"] == list(zip(TIMES, (2**30, 3 * 2**30, 2**31, 2**30), strict=True))
    assert of["network_received (bytes/s)"] == [(200, 3e9), (400, 0), (600, 0), (800, 0)]
    assert of["disk_written (bytes/s)"] == [(200, 0), (400, pytest.approx(4096 / 200e-9)), (600, 5e6), (800, 0)]
    assert of["cpu_user (%)"] == [(200, 50), (400, pytest.approx(100 / 3.5)), (600, 0), (800, 0)]
    assert of["cpu_busy (%)"] == [(200, 75), (400, pytest.approx(100 / 3.5)), (600, 0), (800, 0)]
    said = json.loads(written(trace, tmp_path, TimelineFormat.CHROME)[0].read_text())["traceEvents"]
    loads = [(e["ts"], e["args"]["value"]) for e in said if e["ph"] == "C" and e["name"] == "load_1 (processes)"]
    assert loads == [(0.2, 0.25), (0.4, 1.5), (0.6, 1.0), (0.8, 0.5)]
    assert [e["args"]["name"] for e in said if e.get("name") == "process_name"] == ["rank 0", "node node0"]


@pytest.mark.skipif(not NODE, reason="no node to run Perfetto's trace processor")
@pytest.mark.parametrize("form", TimelineFormat)
def test_perfettos_sql_sees_events_and_nodes(tmp_path, form):
    events = [event(12, OWN, 1), event(13, OWN, 2)]
    content = {"calls": [call("MPI_Barrier", 100, 1000, comm=WORLD)], "events": events, "labels": NAMED}
    run = write_run(tmp_path, [content])
    write_samples(tmp_path)
    notes, loads, errors = ask(
        written(open_trace(run), tmp_path, form)[0],
        tmp_path,
        "select ts, name from slice where category = 'event' order by ts",
        "select c.ts, c.value from counter c join track t on t.id = c.track_id "
        "where t.name like '%load_1 (processes)%' order by c.ts",
        "select name from stats where severity in ('error', 'data_loss') and value > 0",
    )
    assert notes == [(12, "step"), (13, "step")] and not errors
    assert loads == [(200, 0.25), (400, 1.5), (600, 1.0), (800, 0.5)]


def test_a_message_in_no_call(tmp_path):
    """Its arrow goes between two instants; one whose receive is before its send by the clocks begins there."""
    calls = [[("MPI_Init", 0, 5, {}), ("MPI_Finalize", 90, 99, {})]] * 2
    trace = MemoryTrace(calls, messages=[(0, 1, 8, 0, 20, 50), (1, 0, 8, 0, 60, 40)])
    found = decode(written(trace, tmp_path)[0])
    zero, one = ("rank 0", "main thread"), ("rank 1", "main thread")
    assert sorted(found.instants) == [(zero, 20), (zero, 40), (one, 50), (one, 60)]
    assert found.opened == {1: (zero, 20), 2: (zero, 40)} and found.closed == {1: (one, 50), 2: (one, 60)}


def test_names_that_json_must_quote(tmp_path):
    rows = [begin(10, 1), end(20, 1)]
    labels = [(*LABELS[0][:3], 'a "b"\\\n\u00e9'.encode())]
    run = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 30, 40, comm=SELF)], "events": rows, "labels": labels}])
    trace = open_trace(run)
    events = json.loads(written(trace, tmp_path, TimelineFormat.CHROME)[0].read_text())["traceEvents"]
    name = trace.extra(Regions).names[0]
    assert [e["name"] for e in events if e.get("cat") == "region"] == [name] and '"b"' in name
    assert [s[3] for s in decode(written(trace, tmp_path)[0]).slices if s[4] == "region"] == [name]


@pytest.mark.skipif(not NODE, reason="no node to run Perfetto's trace processor")
@pytest.mark.parametrize("form", TimelineFormat)
def test_perfettos_sql_counts_the_same(tmp_path, form):
    """As many calls of each procedure, with the same time in all; as many arrows, none back in time; no errors."""
    trace = open_trace(write_pattern(tmp_path / "run", "irregular", 4, 300).path)
    path, _ = written(trace, tmp_path, form)
    by_name, arrows, errors, threads = ask(
        path,
        tmp_path,
        "select name, count(*), sum(dur) from slice where category = 'mpi' group by name",
        "select s.ts, r.ts + r.dur, s.track_id != r.track_id from flow "
        "join slice s on s.id = slice_out join slice r on r.id = slice_in",
        "select name from stats where severity in ('error', 'data_loss') and value > 0",
        "select count(distinct utid) from thread_track",
    )
    count, ns = Counter(), Counter()
    for _, enter, last, name in calls_of(trace):
        count[name] += 1
        ns[name] += last - enter
    assert by_name == [(name, count[name], ns[name]) for name in sorted(count)]
    messages = trace.messages()
    assert len(messages) > 100
    assert Counter(arrows) == Counter(
        (int(m["logical_send"]), end_of_arrow(trace, m), int(m["source"] != m["destination"])) for m in messages
    )
    assert not errors and threads == [(4,)]


def end_of_arrow(trace, message):
    """The end of the call in which a message was received, or where that waited for the send, the receive."""
    calls = np.concatenate(list(trace.calls(message["destination"])))
    received = message["physical_receive"]
    (around,) = calls[(calls["enter"] < received) & (received <= calls["exit"])]
    return int(received if around["enter"] < message["logical_send"] else around["exit"])


def test_where_it_cannot_be_written(tmp_path):
    trace = MemoryTrace([[("MPI_Init", 0, 5, {})]])
    with pytest.raises(TracelibError, match="cannot write"):
        write_timeline(trace, tmp_path / "none" / "x.pftrace", TimelineFormat.PERFETTO)
