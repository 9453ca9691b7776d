"""What faster computation would gain: by hand to the nanosecond, and properties that hold for any program."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, event, label, write_run

import analyzer
from analyzer.cli import main
from analyzer.operations.operation import Flag, Kind, Program, operations
from analyzer.parallel import Team
from analyzer.replay.machine import Machine
from analyzer.replay.program import program_of
from analyzer.replay.program_trace import ProgramTrace, communicators_of
from analyzer.replay.simulate import simulate
from analyzer.what_if import blocks_between_calls, blocks_of_regions, each_for_free, what_if
from tracelib import schema
from tracelib.schema import REGION_TYPE

ONE, IDEAL = Team(), Machine.ideal()


def enter(region, burst=0):
    return {"kind": Kind.EVENT, "tag": REGION_TYPE, "other": region, "burst": burst}


def leave(burst):
    return enter(0, burst)


def op(kind, burst=0, **more):
    return {"kind": kind, "burst": burst, "flags": Flag.FIRST, "bytes": 8, **more}


def trace_of(*ranks):
    program = Program.of([operations(*rows) for rows in ranks])
    return ProgramTrace(program, communicators_of({}, len(ranks)), "made.dim")


def regions_of(trace, ranks=None):
    return blocks_of_regions(trace, trace.program, ranks)


def two_ranks():
    """Rank 0 computes 100 in region 1 and sends; rank 1 computes 40 in it, receives, and computes 60 outside."""
    return trace_of(
        [enter(1), leave(100), op(Kind.SEND, peer=1), op(Kind.NONE)],
        [enter(1), leave(40), op(Kind.RECV, peer=0), op(Kind.NONE, 60)],
    )


def test_by_hand():
    """160 before; with half of region 1, rank 0 sends at 50: 110. Amdahl: 140 of 200 ns are there."""
    found = what_if(regions_of(two_ranks()), IDEAL, {0: 0.5}, ONE)
    assert (found.before_ns, found.after_ns, found.free_ns) == (160, 110, 60)
    assert (found.computing_ns, found.inside_ns, found.scaled_ns) == (200, 140, 70)
    assert found.amdahl_ns == pytest.approx(160 * (1 - 0.7 * 0.5))
    assert found.amdahl_free_ns == pytest.approx(160 * 0.3)
    assert found.elasticity == pytest.approx((50 / 160) / 0.5)


def test_on_some_ranks_only():
    """Rank 1 waits for rank 0 anyway: faster computation there gains nothing."""
    found = what_if(regions_of(two_ranks(), frozenset({1})), IDEAL, {0: 0.5}, ONE)
    assert (found.before_ns, found.after_ns, found.inside_ns, found.elasticity) == (160, 160, 40, 0)
    assert what_if(regions_of(two_ranks(), frozenset({0})), IDEAL, {0: 2.0}, ONE).after_ns == 260


def test_a_region_in_another():
    """What is inside belongs to both; factors of both count; a region inside itself counts once."""
    trace = trace_of([enter(1, 5), enter(2, 10), enter(1, 20), leave(40), leave(80), leave(160), op(Kind.NONE, 1000)])
    blocks = regions_of(trace)
    assert blocks.names == ("region 1", "region 2")
    assert [blocks.part_ns(part) for part in (0, 1)] == [10 + 20 + 40 + 80 + 160, 20 + 40 + 80]
    found = what_if(blocks, IDEAL, {0: 0.5, 1: 0.5}, ONE)
    assert (found.before_ns, found.after_ns) == (1315, 1005 + (10 + 160) // 2 + 140 // 4)


def test_regions_that_do_not_nest():
    """An end without a begin ends nothing; what is not ended goes on to the end."""
    trace = trace_of([leave(1), enter(1, 2), leave(4), leave(8), leave(16), enter(1, 32), op(Kind.NONE, 64)])
    assert regions_of(trace).part_ns(0) == 4 + 64


def test_serial_time_changes_by_the_block(tmp_path):
    """Checklist 21: factor f on a block changes the serial time by (f - 1) x the block's time."""
    for factor in (0.0, 0.25, 1.0, 3.0):
        blocks = regions_of(trace_of([enter(1, 100), leave(400), op(Kind.NONE, 7)]))
        assert what_if(blocks, IDEAL, {0: factor}, ONE).after_ns == 507 + (factor - 1) * 400


def test_between_calls():
    """Parts are named after the calls around them; events in between cut nothing."""
    trace = trace_of(
        [op(Kind.SEND, 10, peer=1), enter(1, 3), op(Kind.SEND, 20, peer=1), leave(2), op(Kind.NONE, 5)],
        [op(Kind.RECV, 1, peer=0), op(Kind.RECV, 100, peer=0), op(Kind.NONE)],
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
            op(Kind.SEND, draw(ns), peer=destination, flags=draw(st.sampled_from([1, 1 | Flag.RENDEZVOUS])))
        )
        rows[destination].append(op(Kind.RECV, draw(ns), peer=source))
    return trace_of(*([*of_rank, op(Kind.NONE, draw(ns))] for of_rank in rows))


@settings(max_examples=60, deadline=None)
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
        inside[k] = int(trace.region_names[0].split()[1]) in depth
        if row["kind"] == Kind.EVENT:
            depth = [*depth, int(row["other"])] if row["other"] else depth[:-1]
    ops["burst"] = np.where(inside, ops["burst"] * factor, ops["burst"])
    ops["block"] = 0
    streams = np.split(ops, trace.program.offsets[1:-1])
    assert simulate(Program.of(streams), IDEAL).end_ns == found.after_ns


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Rank 0 is 10 us late in "solve" before each of 20 messages; rank 1 in "other" for 3 us after each."""
    calls, events = ([], []), ([], [])
    for k in range(20):
        at = 20_000 * k
        events[0].append(event(at + 100, REGION_TYPE, 1, flags=1))
        events[0].append(event(at + 10_100, REGION_TYPE, 1, flags=2))
        calls[0].append(call("MPI_Send", at + 10_200, at + 10_300, comm=WORLD, peer=1, tag=k, sent=8))
        calls[1].append(call("MPI_Recv", at + 4_000, at + 11_000, comm=WORLD, peer=0, tag=k, received=8))
        events[1].append(event(at + 11_100, REGION_TYPE, 2, flags=1))
        events[1].append(event(at + 14_100, REGION_TYPE, 2, flags=2))
    calls[1].append(call("MPI_Finalize", 400_000, 400_100))
    labels = [label(schema.LabelKind.REGION, k + 1, name) for k, name in enumerate(("solve", "other"))]
    ranks = [{"calls": c, "events": e, "labels": labels} for c, e in zip(calls, events, strict=True)]
    return write_run(tmp_path_factory.mktemp("what_if"), ranks)


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
    assert main(["what-if", str(run), "--region", "solve", "--rank", "0", "--machine", "ideal"]) == 0
    assert "solve x 0.5 on rank 0" in capsys.readouterr().out
    assert main(["what-if", str(run), "--latency", "1us", "--bandwidth", "1GB/s"]) == 0
    assert "Most worth making faster: solve" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--region", "slove"], "has no 'slove' (it has solve, other)"),
        (["--factor", "2"], "--factor needs a --region"),
        (["--region", "solve", "--region", "solve"], "named twice"),
        (["--region", "solve", "--factor", "1", "--factor", "2"], "1 regions and 2 factors"),
        (["--region", "solve", "--factor", "-1"], "-1"),
        (["--rank", "2"], "there is no rank 2 (ranks are 0 to 1)"),
        (["--rank", "1-"], "no ranks such as"),
    ],
)
def test_mistakes(run, arguments, says, capsys):
    assert main(["what-if", str(run), "--machine", "ideal", *arguments]) != 0
    assert says in " ".join(capsys.readouterr().err.split())


def test_a_run_without_regions(tmp_path, capsys):
    made = write_run(tmp_path, [{"calls": [call("MPI_Init", 10, 20)]}])
    assert main(["what-if", str(made), "--machine", "ideal", "--by", "regions"]) == 1
    assert "has no regions" in capsys.readouterr().err
    trace = analyzer.open(made)
    blocks = blocks_between_calls(trace, program_of(trace))
    assert blocks.part_ns(blocks.names.index("start ... MPI_Init")) == 10
    trace.close()


def test_a_run_whose_network_is_not_known(tmp_path, capsys):
    """Without messages the machine is ideal, and that is said."""
    made = write_run(tmp_path, [{"calls": [call("MPI_Init", 10, 20), call("MPI_Finalize", 1020, 1030)]}])
    assert main(["what-if", str(made)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "on an ideal machine (its messages do not show its own; --machine names one): 1.01 us" in text
    assert "Most worth making faster: MPI_Init ... MPI_Finalize, at most 99.0 % of the run (1.00 us)." in text


def test_operations_without_times_were_not_measured(tmp_path, capsys):
    (tmp_path / "x.dim").write_text('#DIMEMAS:"x":0:1(1),0\n20:0:0:60000019:1\n1:0:0:0.002\n20:0:0:60000019:0\n')
    arguments = [str(tmp_path / "x.dim"), "--region", "region 1", "--machine", "ideal", "--json"]
    assert main(["what-if", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["measured_s"], found["before_s"], found["after_s"]) == (None, 0.002, 0.001)
