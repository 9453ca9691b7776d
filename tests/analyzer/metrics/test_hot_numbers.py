"""Computing time by samples, and without them by the calls around it, of runs of a few lines with numbers by hand."""

import json
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, event, write_run

from analyzer.cli import main
from analyzer.metrics.gaps import gaps
from analyzer.metrics.hot import hot
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace import CallPaths
from analyzer.writers.flame import FlameBox, tree, write_flame
from tracelib import schema
from tracelib.schema import SAMPLE_BEGIN, SAMPLE_END, SAMPLER_THREAD

MS = 1_000_000
SOLVE, SMOOTH, MAIN = 2, 3, 1
"""Rows of `paths`: `solve` and `smooth`, both called from `main`."""
CODE = {
    "functions": [
        (0, 0, b"", b""),
        (1, 1, b"run", b"heat.py"),
        (10, 1, b"solve", b"heat.py"),
        (30, 1, b"smooth", b"b.py"),
    ],
    "paths": [(0, 0, 0)]
    + [(parent, schema.PATH_IN_FUNCTION | f, line) for parent, f, line in ((0, 1, 2), (1, 2, 14), (1, 3, 33))],
}
CALLS = [
    call("MPI_Init", 1 * MS, 2 * MS),
    call("MPI_Barrier", 10 * MS, 12 * MS, comm=WORLD),
    call("MPI_Finalize", 20 * MS, 21 * MS),
]
"""The rank computes from 2 to 10 and from 12 to 20 ms."""


def sample(time_ms, cpu_ms, path, task=0, flags=0, lost=0):
    """A row of `samples`; task 1 makes no calls."""
    return int(time_ms * MS), int(cpu_ms * MS), path, task, lost, SAMPLER_THREAD if task else 0, flags


BEGIN = sample(2, 0, 0, flags=SAMPLE_BEGIN)
BUSY = [
    BEGIN,
    sample(4, 4, SOLVE), sample(6, 4, SOLVE), sample(9, 4, SOLVE), sample(11, 2, SOLVE), sample(13, 4, SMOOTH, lost=2),
    sample(14, 5, SOLVE, task=1), sample(19, 0, 0, flags=SAMPLE_END), sample(19, 1, 0, task=1, flags=SAMPLE_END),
]  # fmt: skip


def opened(folder, *samples, calls=CALLS):
    """A run with these samples of each rank."""
    ranks = [CODE | {"calls": calls, "samples": rows, "call_paths": [MAIN] * len(calls)} for rows in samples]
    return write_run(folder, ranks, [range(len(ranks))])


def by_function(folder, *samples):
    trace = open_trace(str(opened(folder, *samples)))
    found, places = hot(trace, Team()), trace.extra(CallPaths).named()
    sums = {}
    for row in found.rows:
        name = int(row["rank"]), places.function(int(places.place[row["path"]]))
        sums[name] = sums.get(name, 0) + row["ns"] / MS
    trace.close()
    return found, sums


def test_samples_share_the_time_that_was_measured(tmp_path):
    found, sums = by_function(tmp_path, BUSY)
    assert sums == pytest.approx({(0, "solve"): 12 + 6, (0, "smooth"): 4})  # that at 11 ms lies in MPI
    (rank,) = found.ranks
    assert (rank["computing_ns"], rank["idle_ns"], rank["mpi_ns"]) == (22 * MS, 0, 2 * MS)
    assert (rank["samples"], rank["lost"], rank["tasks"]) == (6, 2, 2)


def test_time_without_a_cpu_is_nobodys(tmp_path):
    """Half as much CPU time as the clock says."""
    rows = [(t, cpu // 2, *rest) for t, cpu, *rest in BUSY if rest[1] == 0]
    found, sums = by_function(tmp_path, rows)
    assert sums == pytest.approx({(0, "solve"): 6, (0, "smooth"): 2})
    assert found.ranks["idle_ns"][0] == 8 * MS
    assert found.busy_ns == 8 * MS


def test_a_little_less_is_chance(tmp_path):
    """All computing time has a function, although the samples say a little less of it."""
    rows = [BEGIN, sample(9, 7.9, SOLVE), sample(19, 7.95, SMOOTH)]
    found, sums = by_function(tmp_path, rows)
    assert sum(sums.values()) == pytest.approx(16)
    assert found.ranks["idle_ns"][0] == 0


def test_before_the_samples_begin_nothing_is_known(tmp_path):
    found, sums = by_function(tmp_path, [sample(14, 0, 0, flags=SAMPLE_BEGIN), sample(17, 3, SOLVE)])
    assert found.computing_ns == 6 * MS
    assert sums == pytest.approx({(0, "solve"): 6}, rel=0.6)


@settings(max_examples=30)
@given(st.integers(0, 13), st.integers(14, 19))
def test_with_what_came_before_it_is_the_computing_of_the_first_look(begin_ms, sample_ms):
    """A rank whose computing always has a CPU, whenever its samples begin."""
    with tempfile.TemporaryDirectory() as folder:
        run = opened(Path(folder), [sample(begin_ms, 0, 0, flags=SAMPLE_BEGIN), sample(sample_ms, 16, SOLVE)])
        trace = open_trace(str(run))
        found, whole = hot(trace, Team()), int(useful(trace, Team()).by_rank()[0])
        trace.close()
    assert found.computing_ns + found.before_ns == whole
    late = sum(min(max(begin_ms - begin, 0), end - begin) for begin, end in ((0, 1), (2, 10), (12, 20)))
    assert found.computing_ns == (17 - late) * MS


def test_what_came_before_the_samples_is_said(tmp_path, capsys):
    run = opened(tmp_path, [sample(14, 0, 0, flags=SAMPLE_BEGIN), sample(17, 3, SOLVE)])
    assert main(["hot", str(run)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Before samples began, with MPI_Init, the ranks computed for" in said
    assert main(["hot", str(run), "--json"]) == 0
    (rank,) = json.loads(capsys.readouterr().out)["ranks"]
    assert rank["computing_before_samples_s"] >= 0.010


def test_a_rank_without_samples_is_left_out(tmp_path):
    found, _ = by_function(tmp_path, BUSY, [], BUSY)
    assert found.ranks["rank"].tolist() == [0, 2]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 23), st.integers(0, 9), st.integers(0, 3), st.integers(0, 1)), max_size=30))
def test_the_sum_is_what_was_measured(tmp_path_factory, drawn):
    """Whatever was sampled: functions and the time without a CPU add up to the computing time of each rank."""
    rows = sorted(sample(time, cpu, path, task) for time, cpu, path, task in drawn)
    found, _ = by_function(tmp_path_factory.mktemp("hot"), [BEGIN, *rows])
    of_main = [path for time, cpu, path, task in drawn if not task and (2 <= time < 10 or 12 <= time < 20) and cpu]
    others = [(time, cpu) for time, cpu, _, task in drawn if task]
    met = any(cpu and time <= 21 for time, cpu in others)  # without a sample before the end nothing is known
    other = sum(cpu for _, cpu in others) if met else 0
    assert found.ranks["computing_ns"][0] == pytest.approx((16 + other) * MS)
    if of_main:
        assert found.rows["ns"].sum() == pytest.approx(found.busy_ns)


@pytest.fixture
def said(tmp_path, capsys, monkeypatch):
    """said("hot", "run.h5", ...): print a command's output for two ranks, the second with half of `smooth`."""
    monkeypatch.chdir(tmp_path)
    less = [(*row[:2], SOLVE if row[2] == SMOOTH else row[2], *row[3:]) for row in BUSY]
    opened(tmp_path, BUSY, less)

    def start(*words):
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return start


def test_as_data(said):
    found = json.loads(said("hot", "run.h5", "--json", "--lines"))
    solve, smooth = found["functions"]
    assert (solve["place"], smooth["place"]) == ("solve", "smooth")
    assert solve["by_rank_s"] == pytest.approx({"0": 0.018, "1": 0.022})
    assert (solve["most_on_rank"], smooth["most_on_rank"]) == (1, 0)
    assert (solve["imbalance"], smooth["imbalance"]) == pytest.approx((2 / 22, 0.5))
    assert found["computing_s"] == pytest.approx(0.044)
    assert [line["place"] for line in found["lines"]] == ["heat.py:14 in solve", "b.py:33 in smooth"]
    only = json.loads(said("hot", "run.h5", "--json", "--place", "^b.py:33$"))
    assert [f["place"] for f in only["functions"]] == ["smooth"]
    assert json.loads(said("hot", "run.h5", "--json", "--place", "^run$"))["functions"] == found["functions"]


def test_in_words(said):
    """Two samples of the twelve lie in MPI."""
    text = said("hot", "run.h5")
    assert " ".join(text.split()).startswith(
        "44.0 ms of computing on 2 ranks, by 10 of 12 samples (by the kernel); 12.0 ms of it is CPU time of 2 threads "
        "without calls Functions"
    )
    assert "4 samples were lost." in text
    assert "90.9 % of computing is in solve, most at heat.py:14; rank 1 has most of it" in said(
        "look", "--no-files", "run.h5"
    )


ASLEEP = [BEGIN, sample(4, 1, SOLVE), sample(12.5, 1, SOLVE), sample(19, 0, 0, flags=SAMPLE_END)]
"""2 ms of CPU time in the 16 ms that the rank computes."""


@pytest.mark.parametrize(("delay", "said"), [
    (3, "In 12.0 ms of it (75.0 %) threads had no CPU: they waited for one for 3.00 ms, and slept for 9.00 ms"),
    (-1, "of it (75.0 %), an estimate by samples, threads had no CPU: they slept, or waited for one"),
    (None, "of it (87.5 %), an estimate by samples, threads had no CPU"),
])  # fmt: skip
def test_time_without_a_cpu_is_the_kernels(tmp_path, capsys, delay, said):
    """It had none for 12 ms by the kernel, in which it waited for one for `delay`; None: only samples know."""
    kernel = [
        event(time * MS, kind, value)
        for time, off, wait in ((0, 0, min(delay or 0, 0)), (10, 5, delay), (20, 7, min(delay or 0, 0)))
        for kind, value in ((schema.OFF_CPU_TYPE, off * MS), (schema.RUN_DELAY_TYPE, max((wait or 0) * MS, -1)))
        if delay is not None
    ]  # fmt: skip
    rank = CODE | {"calls": CALLS, "samples": ASLEEP, "call_paths": [MAIN] * len(CALLS), "events": kernel}
    run = str(write_run(tmp_path, [rank]))
    assert main(["hot", run]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
    assert main(["look", "--no-files", run]) == 0
    look = " ".join(capsys.readouterr().out.split())
    assert "of computing with a CPU is in solve" in look
    if delay == 3:
        assert "Ranks wait for a CPU during 3.00 ms" in look and "asleep during 9.00 ms" in look


def test_stacks_for_other_tools(said, tmp_path):
    said("hot", "run.h5", "--collapsed", "c.txt", "--speedscope", "s.json", "-q")
    assert (tmp_path / "c.txt").read_text() == "run;smooth 4000\nrun;solve 40000\n"
    scope = json.loads((tmp_path / "s.json").read_text())
    names = [frame["name"] for frame in scope["shared"]["frames"]]
    sums = [
        {tuple(names[i] for i in stack): weight for stack, weight in zip(p["samples"], p["weights"], strict=True)}
        for p in scope["profiles"]
    ]
    assert sums == [{("run", "solve"): 18 * MS, ("run", "smooth"): 4 * MS}, {("run", "solve"): 22 * MS}]
    assert scope["profiles"][0]["endValue"] == 22 * MS


def boxes(path):
    """Return title, left edge, width, height above the bottom and colour of each box of a picture."""
    space = "{http://www.w3.org/2000/svg}"
    found = {}
    for group in ElementTree.parse(path).iter(f"{space}g"):
        box = group.find(f"{space}rect")
        numbers = [float(box.get(name)) for name in ("x", "width", "y")]
        found[group.get("data-n")] = group.find(f"{space}title").text, *numbers, box.get("fill")
    return found


def test_a_flame_graph(said, tmp_path):
    said("hot", "run.h5", "--flame", "f.svg", "-q")
    found = boxes(tmp_path / "f.svg")
    assert set(found) == {"all", "run", "solve", "smooth"}
    whole = found["all"][2]
    assert found["solve"][2] == pytest.approx(whole * 40 / 44, abs=1)
    assert found["smooth"][2] == pytest.approx(whole * 4 / 44, abs=1)
    assert found["solve"][1] >= found["smooth"][1] + found["smooth"][2]
    assert found["all"][3] > found["run"][3] > found["solve"][3] == found["smooth"][3]
    assert found["solve"][0].startswith("solve: 0.040 s, 90.9%")
    assert "heat.py:14: 90.9%" in found["solve"][0]


def test_a_difference(said, tmp_path):
    (tmp_path / "other").mkdir()
    opened(tmp_path / "other", BUSY, BUSY)
    said("hot", "run.h5", "--flame", "f.svg", "--against", "other/run.h5", "-q")
    found = boxes(tmp_path / "f.svg")
    assert found["run"][4] == "rgb(245,245,245)"
    red, blue = found["solve"][4], found["smooth"][4]
    assert red.startswith("rgb(245,") and blue.endswith(",245)")
    assert "(other run: 0.036 s, +0.004 s)" in found["solve"][0]


@given(st.lists(st.tuples(st.lists(st.sampled_from('abc<&"'), max_size=6), st.integers(0, 1000)), max_size=12))
def test_boxes_lie_within_those_below(tmp_path_factory, stacks):
    """For any stacks the picture is well-formed, and as wide as the time."""
    rows = np.zeros(len(stacks), [("path", "<i8"), ("ns", "<f8")])
    rows["path"], rows["ns"] = np.arange(len(stacks)), [ns for _, ns in stacks]
    root = tree(rows, {i: [(name, "") for name in stack] for i, (stack, _) in enumerate(stacks)}, None, {})
    assert root.ns == sum(ns for _, ns in stacks)

    def check(box: FlameBox) -> None:
        assert sum(above.ns for above in box.above.values()) <= box.ns
        for above in box.above.values():
            check(above)

    check(root)
    path = tmp_path_factory.mktemp("flame") / "f.svg"
    write_flame(path, root, "<a>", "&", compared=False)
    ElementTree.parse(path)


def test_without_samples_the_calls_around_are_named(tmp_path, capsys):
    path = opened(tmp_path, [])
    trace = open_trace(str(path))
    rows = gaps(trace, Team()).rows
    names = [trace.procedures[c] if c >= 0 else "" for c in rows["before_call"].tolist()]
    assert dict(zip(names, rows["ns"].tolist(), strict=True)) == {"": MS, "MPI_Init": 8 * MS, "MPI_Barrier": 8 * MS}
    trace.close()
    assert main(["hot", str(path)]) == 0
    text = capsys.readouterr().out
    assert "no samples, run again with TRACELIB_SAMPLE=10ms" in text
    assert "Barrier heat.py:2 in run" in text
    assert main(["hot", str(path), "--flame", str(tmp_path / "f.svg")]) != 0
    assert capsys.readouterr().err.count("\n") <= 2
    assert not (tmp_path / "f.svg").exists()
