"""Regions that stand for several threads: their computation is shared out where a node has the processors.

Source: "Dimemas specification", section 3.4.1 and row 4 of its checklist.
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, event, label, write_run

from analyzer.cli import main
from analyzer.efficiency.ideal import ideal_replay
from analyzer.machine.description import Node
from analyzer.metrics.unrecorded import unrecorded
from analyzer.opening import open_trace
from analyzer.operations import walk
from analyzer.parallel import Team
from analyzer.program.operation import OperationKind
from analyzer.replay import Machine, program_of, simulate
from analyzer.writers.dim import write_dim
from tracelib.schema import PARALLEL_TYPE, REGION_TYPE, LabelKind

LABELS = [label(LabelKind.REGION, n, name) for n, name in ((1, "solve"), (2, "exchange"))]


def begin(time, region):
    return event(time, REGION_TYPE, region, flags=1)


def end(time, region):
    return event(time, REGION_TYPE, region, flags=2)


def says(time, threads):
    return event(time, PARALLEL_TYPE, threads)


# solve is [100, 900) and stands for 4 threads, exchange in it from 300 on for 2, another one from 620 on for itself.
EVENTS = [
    begin(100, 1), says(180, 4), begin(300, 2), says(310, 2), end(500, 2), begin(620, 2), end(700, 2), end(900, 1),
]  # fmt: skip
CALLS = [call("MPI_Barrier", 1000, 1010, comm=WORLD)]


def opened(folder, events=EVENTS, calls=CALLS, ranks=1):
    rank = {"labels": LABELS, "start": 0, "clock": [(0, 0), (2000, 2000)], "events": events, "calls": calls}
    return open_trace(write_run(Path(folder), [rank] * ranks))


def test_blocks_by_hand(tmp_path):
    """Each burst within, also that before the region said so and that of a region inside; the innermost number."""
    ops = program_of(opened(tmp_path)).ops
    blocks = ops[ops["kind"] == OperationKind.PARALLEL]
    assert list(zip(blocks["burst"].tolist(), blocks["other"].tolist(), strict=True)) == [
        (80, 4), (120, 4), (10, 2), (190, 2), (120, 4), (80, 4), (200, 4),
    ]  # fmt: skip
    assert ops["burst"].sum() == 1000
    rest = ops["burst"][ops["kind"] != OperationKind.PARALLEL]
    assert rest[rest > 0].tolist() == [100, 100]


@pytest.mark.parametrize("cpus, time", [(4, 450), (2, 600), (1, 1000), (8, 450)])
def test_time_on_a_node(tmp_path, cpus, time):
    """800 of 1000 ns in regions: 600 by 4 threads, 200 by 2. The trace as .dim says the same."""
    trace = opened(tmp_path)
    write_dim(trace, tmp_path / "x.dim")
    for source in (trace, open_trace(tmp_path / "x.dim")):
        assert simulate(program_of(source), Machine(nodes=(Node(cpus=cpus),))).end_ns == time


def test_ranks_share_the_processors(tmp_path):
    """Two such ranks on a node of 4: 2 x 600 + 2 x 200 ns of work beside 2 x 200 that only they can do."""
    program = program_of(opened(tmp_path, ranks=2))
    assert simulate(program, Machine(nodes=(Node(cpus=8),), mapping=(0, 0))).end_ns == 450
    four = simulate(program, Machine(nodes=(Node(cpus=4),), mapping=(0, 0))).end_ns
    assert 200 + 1600 / 4 <= four <= 200 + 1600 / 2


def test_the_predicted_run_has_its_calls(tmp_path, capsys):
    """The call, which takes no time, is drawn in the last ns of the blocks before it; the ideal replay knows no such
    threads."""
    trace = opened(tmp_path)
    (tmp_path / "m.toml").write_text("[node]\ncpus = 4\n")
    arguments = ["replay", trace.path, "--machine", str(tmp_path / "m.toml"), "-o", str(tmp_path / "new.h5"), "-q"]
    assert main(arguments) == 0
    predicted = open_trace(tmp_path / "new.h5")
    calls = np.concatenate(list(predicted.calls(0)))
    assert calls[["enter", "exit"]].tolist() == [(449, 450)]
    assert ideal_replay(trace, unrecorded(trace, Team()), Team()).runtime_ns == 1000


@st.composite
def nested(draw):
    """Events of well nested regions, some of which say a number of threads."""
    rows, depth, time = [], 0, 0
    for _ in range(draw(st.integers(1, 25))):
        time += draw(st.integers(0, 9))
        what = draw(st.sampled_from(("begin", "end", "says", "says")))
        if what == "begin":
            rows.append(begin(time, draw(st.integers(1, 2))))
            depth += 1
        elif what == "end" and depth:
            rows.append(end(time, 0))
            depth -= 1
        elif what == "says" and depth:
            rows.append(says(time, draw(st.integers(0, 4))))
    return [*rows, *(end(time + 1, 0) for _ in range(depth))]


def expected(events):
    """(burst, threads) between events, by a stack; a region says its number for all of its time."""
    stack, said = [], {}
    for k, row in enumerate(events):
        if row["type"] == PARALLEL_TYPE:
            said[stack[-1]] = row["value"]
        elif row["flags"] == 1:
            stack.append(k)
        else:
            stack.pop()
    found, time = [], 0
    for k, row in enumerate(events):
        threads = [said[region] for region in stack if said.get(region, 1) > 1]
        found.append((row["time"] - time, threads[-1] if threads else 1))
        time = row["time"]
        if row["type"] == REGION_TYPE and row["flags"] == 1:
            stack.append(k)
        elif row["type"] == REGION_TYPE:
            stack.pop()
    return [pair for pair in found if pair[0] > 0 and pair[1] > 1]


@settings(max_examples=30)
@given(nested(), st.sets(st.integers(1, 200), max_size=4))
def test_blocks_against_a_stack(events, windows):
    """However the events are nested, and wherever one window of the work ends."""
    calls = [call("MPI_Barrier", 400, 410, comm=WORLD)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        trace = opened(folder, events, calls)
        bounds = np.array([0, *sorted(windows), trace.duration_ns + 1])
        patch.setattr(walk, "windows_of_rank", lambda trace, rank: bounds)
        ops = program_of(trace).ops
        trace.close()
    blocks = ops[ops["kind"] == OperationKind.PARALLEL]
    assert list(zip(blocks["burst"].tolist(), blocks["other"].tolist(), strict=True)) == expected(events)
    assert ops["burst"].sum() == 400
