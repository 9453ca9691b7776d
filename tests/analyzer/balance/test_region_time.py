"""CPU time in a region, where it is measured from call to call only: by hand."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, event, label, write_run
from two_ranks import enter, leave, op

from analyzer.balance.scaled_program import bounds
from analyzer.cli import main
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from tracelib import schema
from tracelib.schema import REGION_TYPE

IN_REGION = np.array([False, True])


def program(*bursts):
    """Build the program of one rank that repeats: ns before, in and after the region, and then a call."""
    rows = []
    for before, inside, after in bursts:
        rows += [enter(1, before), leave(inside), op(OperationKind.COLLECTIVE, after, comm=0, tag=0, peer=-1, other=0)]
    found = Program.from_streams([operations(*rows)])
    found.ops["block"] = np.tile([0, 1, 0], len(bursts))
    return found


@pytest.mark.parametrize(
    "clock, cpu, low, high",
    [
        ((10, 30, 60), 100, 30, 30),  # it never waited
        ((10, 30, 60), 50, 0, 30),  # it waited for 50, perhaps in the region
        ((10, 30, 60), 80, 10, 30),  # for 20
        ((5, 90, 5), 50, 40, 50),  # nearly all is in the region
        ((0, 100, 0), 7, 7, 7),
    ],
)
def test_bounds(clock, cpu, low, high):
    found = bounds(program((cpu, 0, 0)), program(clock), IN_REGION)
    assert (found[0].tolist(), found[1].tolist()) == ([low], [high])


@given(st.lists(st.tuples(*[st.tuples(st.integers(0, 99), st.integers(0, 99))] * 3), min_size=1, max_size=6))
@settings(max_examples=60)
def test_the_truth_is_between(parts):
    """Whatever a rank computes and waits before, in and after the region."""
    clock = [tuple(own + waited for own, waited in one) for one in parts]
    measured = [(sum(own for own, _ in one), 0, 0) for one in parts]
    low, high = bounds(program(*measured), program(*clock), IN_REGION)
    assert low[0] <= sum(one[1][0] for one in parts) <= high[0]


def written(folder, waits_outside):
    """Ten bursts of 10 us by the clock, 9 of them in solve. Rank 0 has a CPU all the time, rank 1 for 3 us; or the same
    with 5 us more outside of solve, which rank 1 waits."""
    ranks = []
    for rank in range(2):
        calls, events, counts, cpu = [], [], [], 0
        for k in range(10):
            at, extra = 40_000 * k, 5_000 * waits_outside
            events += [event(at + 500, REGION_TYPE, 1, flags=1), event(at + 9_500, REGION_TYPE, 1, flags=2)]
            calls.append(call("MPI_Barrier", at + 10_000 + extra, at + 40_000, comm=WORLD))
            cpu += 3_000 if rank else 10_000 + extra
            counts += [cpu, cpu]
        block = np.zeros(1, schema.BLOCK)
        block["count"][0, [0, 3, 6]], block["set"] = (len(calls), len(events), len(counts)), 1
        ranks.append(
            {
                "calls": calls,
                "events": events,
                "counts": np.array(counts, np.uint64),
                "counters": [(1, 0, schema.CPU_TIME_TYPE, 1, b"CPU_NS")],
                "blocks": block,
                "cpus": "0",
                "labels": [label(schema.LabelKind.REGION, 1, "solve")],
            }
        )
    return write_run(folder, ranks)


def test_a_region_that_is_nearly_all(tmp_path, capsys):
    """Rank 1 computes for 2 to 3 us of 3 in each: too little is known. By all computation it is 10 to 3."""
    run = str(written(tmp_path, waits_outside=False))
    assert main(["balance", run, "--region", "solve", "--cpu-time", "--machine", "ideal"]) == 1
    said = capsys.readouterr().err
    assert "rank 1 waited for its CPU" in said and "in solve" in said and len(said.splitlines()) == 1
    (tmp_path / "a.plan").write_text("tracelib-plan 1\nranks 2\nspeeds 0 1 1\n")
    shares = ["replay", run, "--shares", str(tmp_path / "a.plan"), "--shares-region", "solve"]
    assert main(shares) == 1 and "rank 1 waited for its CPU" in capsys.readouterr().err
    assert main(["balance", run, "--cpu-time", "--machine", "ideal", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["ranks"]
    assert second["speed"] / first["speed"] == pytest.approx(10 / 3, rel=0.05)


def test_by_the_clock_it_is_not_said(tmp_path, capsys):
    """Without --cpu-time the region's time is known; its CPU time is left out."""
    run = str(written(tmp_path, waits_outside=True))
    assert main(["balance", run, "--region", "solve", "--machine", "ideal", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["ranks"]
    assert first["speed"] == pytest.approx(second["speed"]) and first["cpu_s"] is None
    assert first["computing_s"] == pytest.approx(90e-6, rel=0.01)
