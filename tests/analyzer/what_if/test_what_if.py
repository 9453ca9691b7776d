"""Gains by faster computation: by hand to the nanosecond, and properties that hold for any program."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from synthetic import call, write_run
from two_ranks import enter, leave, op, regions_of, run_of_two_ranks, trace_of, two_ranks  # noqa: F401, a fixture

from analyzer.cli import main
from analyzer.machine.description import Machine
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind
from analyzer.replay.simulate import simulate
from analyzer.report.what_if import WhatIfReport, print_what_if, what_if_json
from analyzer.report.words.eager import Eager
from analyzer.trace import Regions
from analyzer.what_if import blocks_between_calls, each_for_free, what_if

ONE, IDEAL = Team(), Machine.ideal()


def test_by_hand():
    """160 before; with half of region 1, rank 0 sends at 50: 110. Amdahl: 140 of 200 ns are there."""
    found = what_if(regions_of(two_ranks()), IDEAL, {0: 0.5}, ONE)
    assert (found.before_ns, found.after_ns, found.free_ns) == (160, 110, 60)
    assert (found.computing_ns, found.inside_ns, found.scaled_ns) == (200, 140, 70)
    assert found.amdahl_ns == pytest.approx(160 * (1 - 0.7 * 0.5))
    assert found.amdahl_free_ns == pytest.approx(160 * 0.3)
    assert found.elasticity == pytest.approx((50 / 160) / 0.5)


def whole_and_parts(solve, write, rest):
    """Region 1 is the whole program: region 2, then region 3, and something outside of both."""
    rows = [enter(1), enter(2), leave(solve), enter(3), leave(write), leave(rest), op(OperationKind.NONE)]
    return trace_of(rows, rows)


@pytest.mark.parametrize(
    "times, advised, said",
    [
        ((80, 15, 5), "region 2", "region 1 is nearly the whole program, so what it gains says little. Most worth"),
        ((15, 80, 5), "region 3", "faster: region 3. If it took no time, the replay would be 80 ns (80.0 %)"),
        ((3, 2, 95), "region 2", "says little; 95.0 % of its computation is in no region inside it."),
        ((0, 0, 100), "region 1", "faster: region 1. If it took no time, the replay would be 100 ns"),
    ],
)
def test_the_whole_program_is_not_advised_where_a_part_is_known(times, advised, said):
    trace = whole_and_parts(*times)
    found = each_for_free(regions_of(trace), IDEAL, 9, ONE)
    asked = WhatIfReport("x.dim", 0, "an ideal machine", Eager(None, "calls"), "", found, True, None)
    assert what_if_json(asked)["best"] == advised
    text = io.StringIO()
    print_what_if(asked, Console(file=text, width=1000))
    assert said in text.getvalue()
    assert f'Next, twice as fast: analyze what-if x.dim --region "{advised}"' in text.getvalue()


def test_on_some_ranks_only():
    """Rank 1 waits for rank 0 anyway: faster computation there gains nothing."""
    found = what_if(regions_of(two_ranks(), frozenset({1})), IDEAL, {0: 0.5}, ONE)
    assert (found.before_ns, found.after_ns, found.inside_ns, found.elasticity) == (160, 160, 40, 0)
    assert what_if(regions_of(two_ranks(), frozenset({0})), IDEAL, {0: 2.0}, ONE).after_ns == 260


def test_a_region_in_another():
    """Time inside belongs to both; factors of both count; a region inside itself counts once."""
    trace = trace_of(
        [enter(1, 5), enter(2, 10), enter(1, 20), leave(40), leave(80), leave(160), op(OperationKind.NONE, 1000)]
    )
    blocks = regions_of(trace)
    assert blocks.names == ("region 1", "region 2")
    assert [blocks.part_ns(part) for part in (0, 1)] == [10 + 20 + 40 + 80 + 160, 20 + 40 + 80]
    found = what_if(blocks, IDEAL, {0: 0.5, 1: 0.5}, ONE)
    assert (found.before_ns, found.after_ns) == (1315, 1005 + (10 + 160) // 2 + 140 // 4)


def test_regions_that_do_not_nest():
    """An end without a begin ends nothing; what is not ended goes on to the end."""
    trace = trace_of([leave(1), enter(1, 2), leave(4), leave(8), leave(16), enter(1, 32), op(OperationKind.NONE, 64)])
    assert regions_of(trace).part_ns(0) == 4 + 64


def test_serial_time_changes_by_the_block(tmp_path):
    """Checklist 21: factor f on a block changes the serial time by (f - 1) x the block's time."""
    for factor in (0.0, 0.25, 1.0, 3.0):
        blocks = regions_of(trace_of([enter(1, 100), leave(400), op(OperationKind.NONE, 7)]))
        assert what_if(blocks, IDEAL, {0: factor}, ONE).after_ns == 507 + (factor - 1) * 400


def test_between_calls():
    """Parts are named after the calls around them; events in between cut nothing."""
    trace = trace_of(
        [
            op(OperationKind.SEND, 10, peer=1),
            enter(1, 3),
            op(OperationKind.SEND, 20, peer=1),
            leave(2),
            op(OperationKind.NONE, 5),
        ],
        [op(OperationKind.RECV, 1, peer=0), op(OperationKind.RECV, 100, peer=0), op(OperationKind.NONE)],
    )
    blocks = blocks_between_calls(trace, trace.program)
    times = {name: blocks.part_ns(part) for part, name in enumerate(blocks.names)}
    assert times == {
        "start ... SEND": 10, "SEND ... SEND": 23, "SEND ... NONE": 7,
        "start ... RECV": 1, "RECV ... RECV": 100, "RECV ... NONE": 0,
    }  # fmt: skip
    best = each_for_free(blocks, IDEAL, 3, ONE)
    assert [(one.names[0], one.before_ns, one.free_ns) for one in best] == [
        ("RECV ... RECV", 110, 40), ("start ... SEND", 110, 101), ("SEND ... SEND", 110, 110),
    ]  # fmt: skip


@st.composite
def programs(draw):
    """Two or three ranks that compute in regions 1 and 2 and send each other messages, in an order without deadlock."""
    ranks = draw(st.integers(2, 3))
    rows = [[] for _ in range(ranks)]
    ns = st.integers(0, 60).map(lambda n: 2 * n)
    for _ in range(draw(st.integers(1, 10))):
        source, destination = draw(st.permutations(range(ranks)))[:2]
        for rank in (source, destination):
            region = draw(st.integers(0, 2))
            rows[rank] += [enter(region, draw(ns)), leave(draw(ns))] if region else []
        rows[source].append(
            op(
                OperationKind.SEND,
                draw(ns),
                peer=destination,
                flags=draw(st.sampled_from([1, 1 | OperationFlag.RENDEZVOUS])),
            )
        )
        rows[destination].append(op(OperationKind.RECV, draw(ns), peer=source))
    return trace_of(*([*of_rank, op(OperationKind.NONE, draw(ns))] for of_rank in rows))


@settings(max_examples=40)
@given(programs(), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]))
def test_properties(trace, factor):
    """Factor 1 changes nothing; the run is no shorter the larger the factor; the same as the bursts scaled by hand."""
    blocks = regions_of(trace)
    if not blocks.names:
        return
    found = what_if(blocks, IDEAL, {0: factor}, ONE)
    assert what_if(blocks, IDEAL, {0: 1.0}, ONE).after_ns == found.before_ns
    assert found.free_ns <= min(found.after_ns, found.before_ns)
    assert (found.after_ns >= found.before_ns) if factor >= 1 else (found.after_ns <= found.before_ns)
    ops = trace.program.ops.copy()
    inside, depth = np.zeros(len(ops), bool), []
    for k, row in enumerate(ops):
        if k in trace.program.offsets:
            depth = []
        inside[k] = int(trace.extra(Regions).names[0].split()[1]) in depth
        if row["kind"] == OperationKind.EVENT:
            depth = [*depth, int(row["other"])] if row["other"] else depth[:-1]
    ops["burst"] = np.where(inside, ops["burst"] * factor, ops["burst"])
    ops["block"] = 0
    streams = np.split(ops, trace.program.offsets[1:-1])
    assert simulate(Program.from_streams(streams), IDEAL).end_ns == found.after_ns


def answer(capsys, *arguments):
    assert main(["what-if", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_command(run, capsys):
    """Ideal: rank 0 computes all the time, and rank 1 waits for it, but for what comes after the last message."""
    found = answer(capsys, run, "--region", "solve", "--factor", "0.5", "--machine", "ideal")
    assert found["inside_s"] == pytest.approx(20 * 10e-6)
    assert found["gain_s"] == pytest.approx(20 * 5e-6)
    assert found["parts"] == [{"name": "solve", "factor": 0.5}]
    both = answer(capsys, run, "--region", "solve", "--region", "other", "--factor", "0.5", "--machine", "ideal")
    assert both["gain_s"] == pytest.approx(20 * 5e-6 + 1.5e-6)
    each = answer(capsys, run, "--machine", "ideal")["each_free"]
    assert [one["parts"][0]["name"] for one in each] == ["solve", "other"]
    assert each[1]["gain_s"] == pytest.approx(3e-6)
    by_calls = answer(capsys, run, "--machine", "ideal", "--by", "calls", "--top", "2")["each_free"]
    assert by_calls[0]["parts"][0]["name"] == "MPI_Send ... MPI_Send"
    assert main(["what-if", str(run), "--region", "solve", "--on-ranks", "0", "--machine", "ideal"]) == 0
    assert "solve x 0.5 on rank 0" in capsys.readouterr().out
    assert main(["what-if", str(run), "--latency", "1us", "--bandwidth", "1GB/s"]) == 0
    assert "Most worth making faster: solve" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--region", "slove"], "has no part 'slove' (it has solve, other)"),
        (["--factor", "2"], "--factor needs a --region"),
        (["--region", "solve", "--region", "solve"], "named twice"),
        (["--region", "solve", "--factor", "1", "--factor", "2"], "1 regions and 2 factors"),
        (["--region", "solve", "--factor", "-1"], "-1"),
        (["--rank", "2"], "there is no rank 2 (ranks are 0 to 1)"),
        (["--rank", "1-"], "not a list of ranks such as"),
    ],
)
def test_mistakes(run, arguments, says, capsys):
    assert main(["what-if", str(run), "--machine", "ideal", *arguments]) != 0
    assert says in " ".join(capsys.readouterr().err.split())


def test_a_run_without_regions(tmp_path, capsys):
    made = write_run(tmp_path, [{"calls": [call("MPI_Init", 10, 20)]}])
    assert main(["what-if", str(made), "--machine", "ideal", "--by", "regions"]) == 1
    assert "has no regions" in capsys.readouterr().err
    trace = open_trace(made)
    blocks = blocks_between_calls(trace, program_of(trace))
    assert blocks.part_ns(blocks.names.index("start ... MPI_Init")) == 10
    trace.close()


def test_a_run_whose_network_is_not_known(tmp_path, capsys):
    """Without messages the machine is ideal, and the output says so."""
    made = write_run(tmp_path, [{"calls": [call("MPI_Init", 10, 20), call("MPI_Finalize", 1020, 1030)]}])
    assert main(["what-if", str(made)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "1.01 us replayed with bursts in wall-clock time on an ideal machine (the messages of the run do not show its "
        "network; --machine names a machine)" in text
    )
    assert (
        "Most worth making faster: MPI_Init ... MPI_Finalize. If it took no time, the replay would be 1.00 us" in text
    )


def test_operations_without_times_were_not_measured(tmp_path, capsys):
    (tmp_path / "x.dim").write_text('#DIMEMAS:"x":0:1(1),0\n20:0:0:60000019:1\n1:0:0:0.002\n20:0:0:60000019:0\n')
    arguments = [str(tmp_path / "x.dim"), "--region", "region 1", "--machine", "ideal", "--json"]
    assert main(["what-if", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["measured_s"], found["before_s"], found["after_s"]) == (None, 0.002, 0.001)
