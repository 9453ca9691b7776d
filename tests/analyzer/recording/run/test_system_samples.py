"""Samples of nodes as events and numbers, from files made by hand whose answers are known."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest
from grammar import check_pcf, check_prv
from hypothesis import given
from hypothesis import strategies as st
from paths import DOCS
from synthetic import ORIGIN_NS, REALTIME_NS, WORLD, call, write_run
from system_files import COLUMNS, MISSING, TIMES, write_samples

from analyzer.cli import main
from analyzer.recording.run.opening import open_run
from analyzer.trace import EVENT
from analyzer.trace.system import BUSY, EVENT_TYPES, with_events
from tracelib.schema.node import SYSTEM, SampleKind

EXPECTED = {
    "load_1": [25, 150, 100, 50],
    BUSY: [7500, 2857, 0],  # of 1 s: 0.75; of 3.5 s: 1; of nothing
    "cpu_user": [5000, 2857, 0],
    "cpu_system": [2500, 0, 0],
    "cpu_iowait": [0, 1429, 0],
    "cpu_idle": [2500, 5714, 0],
    "memory_used": [2**30, 3 * 2**30, 2**31, 2**30],
    "network_received": [600, 0, 0],
    "disk_written": [0, 4096, 1],
}


def two_ranks(folder: Path, **options) -> Path:
    """Two ranks of 1000 ns on one node, in MPI from 100 to 150, at 400 and from 900 on."""
    calls = [call("MPI_Init", 100, 150), call("MPI_Barrier", 400, 400, comm=WORLD), call("MPI_Finalize", 900, 1000)]
    return write_run(folder, [{"calls": calls}, {"calls": calls}], **options)


def system_events(trace, *window) -> np.ndarray:
    events = trace.events(*window)
    return events[(events["type"] > 49001000) & (events["type"] < 49001100)]


@pytest.mark.parametrize("tsc_per_us", [None, 2600])
def test_events_are_gauges_and_differences(tmp_path, tsc_per_us):
    run = two_ranks(tmp_path, tsc_per_us=tsc_per_us)
    write_samples(tmp_path)
    trace = open_run(str(run))
    events = system_events(trace)
    assert trace.problems == []
    assert {trace.nodes.samples[0].node, *events["rank"], *events["thread"]} == {0}
    for name, values in EXPECTED.items():
        chosen = events[events["type"] == EVENT_TYPES[name][0]]
        assert chosen["value"].tolist() == values, name
        assert np.abs(chosen["time"] - np.array(TIMES[-len(values) :])).max() <= 1
    assert len(events) == sum(map(len, EXPECTED.values()))
    assert set(trace.event_labels) == {EVENT_TYPES[name][0] for name in EXPECTED}
    trace.close()


def test_any_cut_into_windows_gives_the_same_events(tmp_path):
    run = two_ranks(tmp_path)
    write_samples(tmp_path)
    trace = open_run(str(run))
    whole = trace.events()
    assert len(whole) > len(system_events(trace)) > 0
    for step in (1, 7, 200, 333, 2000):
        bounds = range(0, trace.duration_ns + step + 1, step)
        parts = [trace.events(begin, end) for begin, end in pairwise(bounds)]
        assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(trace.events(ranks=range(1, 2)), whole[whole["rank"] == 1])
    assert np.array_equal(trace.events(ranks=range(0, 1)), whole[whole["rank"] == 0])
    trace.close()


ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 1)), max_size=12)


def sorted_events(rows, kind: int) -> np.ndarray:
    table = np.zeros(len(rows), EVENT)
    for event, (time, rank, thread) in zip(table, sorted(rows), strict=True):
        event["time"], event["rank"], event["thread"], event["type"] = time, rank, thread, kind
    return table


@given(ROWS, ROWS)
def test_events_are_merged_as_a_stable_sort_does(recorded, added):
    recorded, added = sorted_events(recorded, 1), sorted_events(added, 2)
    both = np.concatenate([recorded, added])
    order = np.lexsort((both["type"], both["thread"], both["rank"], both["time"]))
    assert np.array_equal(with_events(recorded, added), both[order])


def test_each_node_on_its_own_clock(tmp_path):
    """Node 1's CLOCK_MONOTONIC started 300 ns later, as its processes' wall clock tells; both first ranks carry."""
    here = {"calls": [call("MPI_Finalize", 900, 1000)], "host": "node0", "boot_id": "a"}
    there = {"calls": [call("MPI_Finalize", 600, 700)], "host": "node1", "boot_id": "b"}
    run = write_run(tmp_path, [here, there | {"start_realtime_ns": REALTIME_NS + 300}, here])
    for host, boot_id in (("node1", "b"), ("node0", "a")):
        write_samples(tmp_path, (100, 200), {"load_1": (1.0, 2.0)}, host=host, boot_id=boot_id)
    trace = open_run(str(run))
    assert [(node.node, node.rank, node.time.tolist()) for node in trace.nodes.samples] == [
        (0, 0, [100, 200]),
        (1, 1, [400, 500]),
    ]
    finalize = trace.events(ranks=range(1, 2))
    assert finalize["time"][finalize["type"] == 50000003].tolist() == [900, 1000]  # 600 and 700, shifted alike
    assert system_events(trace)[["time", "rank", "value"]].tolist() == [
        (100, 0, 100), (200, 0, 200), (400, 1, 100), (500, 1, 200)
    ]  # fmt: skip
    trace.close()


def test_samples_outside_the_trace_are_no_events(tmp_path):
    run = two_ranks(tmp_path)
    write_samples(tmp_path, (-5, 300, 1000, 1001), {"load_1": (1.0, 2.0, 3.0, 4.0), "disk_read": (0, 5, 7, 100)})
    trace = open_run(str(run))
    events = system_events(trace)
    assert events[events["type"] == EVENT_TYPES["load_1"][0]]["value"].tolist() == [200, 300]
    assert events[events["type"] == EVENT_TYPES["disk_read"][0]]["value"].tolist() == [5, 2]
    assert len(trace.nodes.samples[0].time) == 4
    trace.close()


def test_the_paraver_trace_holds_them_with_labels(tmp_path):
    run = two_ranks(tmp_path)
    write_samples(tmp_path)
    assert main(["prv", str(run)]) == 0
    assert check_prv(tmp_path / "run.prv") == []
    assert check_pcf(tmp_path / "run.pcf") == []
    lines = [line for line in (tmp_path / "run.prv").read_text().splitlines() if line.startswith("2:")]
    pairs = [tuple(map(int, pair)) for line in lines for pair in re.findall(r":(490010\d\d):(-?\d+)", line)]
    by_type = {name: [v for t, v in pairs if t == EVENT_TYPES[name][0]] for name in EXPECTED}
    assert by_type == EXPECTED
    assert all(re.match(r"2:1:1:1:1:(200|400|600|800):", line) for line in lines if ":490010" in line)
    labels = dict(re.findall(r"^\d+ +(490010\d\d) +(.*)$", (tmp_path / "run.pcf").read_text(), re.MULTILINE))
    assert labels == {str(EVENT_TYPES[name][0]): EVENT_TYPES[name][1] for name in EXPECTED}


def test_event_types_are_of_their_own():
    numbers = Counter(number for number, _ in EVENT_TYPES.values())
    assert set(numbers.values()) == {1}
    assert all(49001001 <= number <= 49001099 for number in numbers)
    assert set(EVENT_TYPES) == {*SYSTEM, BUSY}
    page = (DOCS / "analyze-prv.md").read_text()
    named = set(map(int, re.findall(r"490010\d\d", page)))
    for first, last in re.findall(r"(490010\d\d) to (490010\d\d)", page):
        named |= set(range(int(first), int(last) + 1))
    assert named == set(numbers)


def test_info(tmp_path, capsys):
    run = two_ranks(tmp_path)
    write_samples(tmp_path)
    assert main(["look", "--no-files", "--json", str(run)]) == 0
    (node,) = json.loads(capsys.readouterr().out)["system"]
    assert node == {
        "node": "node0", "samples": 4, "period_s": 200e-9, "ended": True, "cpus": 2,
        "cpu_busy": pytest.approx({"mean": (0.75 + 1 / 3.5) / 3, "max": 0.75}),
        "load": pytest.approx({"mean": 0.8125, "max": 1.5}),
        "cpu_frequency_mhz": None, "memory_total_bytes": 2**33, "memory_used_bytes": 3 * 2**30,
        "swap_used_bytes": None, "totals": {"network_received": 600, "disk_written": 4097}, "missing": MISSING,
    }  # fmt: skip
    assert main(["look", "--no-files", str(run)]) == 0
    text = capsys.readouterr().out
    assert "Node, sampled every 200 ns" in text
    assert re.search(r"node0 +2 +35 % +75 % +0.8 +1.5 +3.00G +600 +- +- +4.00K", text)
    assert "not measured on this node: load_5, load_15, cpu_steal, cpu_frequency," in text


def test_the_look_without_samples(tmp_path, capsys):
    run = two_ranks(tmp_path)
    assert main(["look", "--no-files", "--json", str(run)]) == 0
    assert json.loads(capsys.readouterr().out)["system"] == []
    assert main(["look", "--no-files", str(run)]) == 0
    assert "sampled" not in capsys.readouterr().out


def test_one_sample_is_no_difference(tmp_path, capsys):
    run = two_ranks(tmp_path)
    write_samples(tmp_path, (300,), {name: values[:1] for name, values in COLUMNS.items()})
    trace = open_run(str(run))
    gauges = {name for name in COLUMNS if SYSTEM[name][1] is SampleKind.GAUGE}
    assert sorted(system_events(trace)["type"]) == sorted(EVENT_TYPES[name][0] for name in gauges)
    trace.close()
    assert main(["look", "--no-files", "--json", str(run)]) == 0
    (node,) = json.loads(capsys.readouterr().out)["system"]
    assert node["cpu_busy"] is None
    assert node["totals"] == {"network_received": 0, "disk_written": 0}


def test_many_nodes_are_a_short_table(tmp_path, capsys):
    ranks = [{"calls": [call("MPI_Init", 0, 10)], "host": f"node{n}", "boot_id": f"b{n}"} for n in range(11)]
    run = write_run(tmp_path, ranks)
    for n in range(11):
        times = {"cpu_user": (0.0, n / 10), "cpu_idle": (0.0, 1 - n / 10)}
        write_samples(tmp_path, (1, 5), times, host=f"node{n}", boot_id=f"b{n}", missing="")
    assert main(["look", "--no-files", str(run)]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^ +(node\d+) +2 +(\d+ %)", text, re.MULTILINE) == [
        (f"node{n}", f"{10 * n} %") for n in range(3, 11)
    ]
    assert "and 3 less busy nodes" in text


def test_rows_that_were_never_written_are_left_out(tmp_path):
    """The sampler was killed when the table was longer already than what stood in it."""
    run = two_ranks(tmp_path)
    write_samples(tmp_path, (300, 500, -ORIGIN_NS), {"load_1": (1.0, 2.0, 0.0)}, state=0)
    trace = open_run(str(run))
    assert trace.nodes.samples[0].time.tolist() == [300, 500]
    assert not trace.nodes.samples[0].ended
    trace.close()


def _endless(path):
    with h5py.File(path, "a") as file:
        rows = file["samples"][:]
        name = next(name for name in rows.dtype.names if rows.dtype[name].kind == "f")
        rows[name][0] = np.inf
        file["samples"][:] = rows


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b""), "cannot be read"),
        (lambda path: path.write_bytes(path.read_bytes()[:2000]), "cannot be read"),
        (lambda path: h5py.File(path, "w").close(), "cannot be read"),
        (lambda path: h5py.File(path, "a").attrs.pop("period_ns"), "not the samples of a node"),
        (lambda path: h5py.File(path, "a").attrs.modify("schema_version", 99), "a later version"),
        (lambda path: h5py.File(path, "a").attrs.modify("time_namespace", 7), "no rank that shares the clock of node0"),
        (_endless, "not finite numbers"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_problem_and_no_more(tmp_path, capsys, spoil, said):
    run = two_ranks(tmp_path)
    spoil(write_samples(tmp_path))
    trace = open_run(str(run))
    assert trace.nodes.samples == ()
    (problem,) = trace.problems
    assert said in problem.text
    assert len(trace.events()) > 0
    trace.close()
    assert main(["check", str(run)]) == 1
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("codec", ["gzip", "lzf"])
def test_a_packed_run_keeps_them(tmp_path, capsys, codec):
    run = two_ranks(tmp_path)
    source = write_samples(tmp_path, host="node0")
    (tmp_path / "system-node0.h5").write_text("a stranger beside the packed run")
    packed = tmp_path / "run-packed.h5"
    assert main(["pack", "-q", str(run), "--codec", codec]) == 0
    with h5py.File(source) as before, h5py.File(packed) as after:
        assert before["samples"][:].tolist() == after["system/node0/samples"][:].tolist()
        assert dict(before.attrs) == dict(after["system/node0"].attrs)
        units = {name: unit.decode() for name, unit in after["system/node0/samples"].attrs.items()}
    assert units == {name: SYSTEM[name][0] for name in COLUMNS}
    said = []
    for path in (run, packed):
        assert main(["look", "--no-files", "--json", str(path)]) == 0
        said.append(json.loads(capsys.readouterr().out)["system"])
        trace = open_run(str(path))
        said[-1].append(system_events(trace).tolist())
        assert trace.problems == []
        trace.close()
    assert said[0] == said[1]
    assert main(["pack", "-q", str(packed), "-o", str(tmp_path / "again.h5")]) == 0
    with h5py.File(tmp_path / "again.h5") as again, h5py.File(source) as before:
        assert again["system/node0/samples"][:].tolist() == before["samples"][:].tolist()
