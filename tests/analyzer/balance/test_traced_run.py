"""The distribution that a run asks for: by hand, and as properties of any run."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import WORLD, call, write_run
from two_ranks import enter, leave, op, trace_of

from analyzer.balance.traced_run import propose
from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import Machine, Node
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.program.operation import OperationKind
from tracelib.schema.shares import read_plan

ONE, IDEAL = Team(), Machine.ideal()


def barrier(burst):
    return op(OperationKind.COLLECTIVE, burst, comm=0, tag=0, peer=-1, other=0)


def ranks_of(*bursts):
    return trace_of(*([barrier(burst), op(OperationKind.NONE)] for burst in bursts))


def test_by_hand():
    """100 and 300 ns for equal shares: three quarters for rank 0, and both end after 150."""
    found = propose(ranks_of(100, 300), IDEAL, ONE)
    assert found.parts == pytest.approx([0.75, 0.25]) and found.speeds == pytest.approx([3, 1])
    assert (found.replayed_ns, found.even_ns, found.planned_ns) == (300, 300, 150)
    assert found.expected.gain == pytest.approx(0.5) and found.plan.shares(8) == [6, 2]


def test_from_a_run_that_had_a_plan():
    """With 3/4 and 1/4 of the work both took 150: the same speeds, and equal shares would take 300."""
    found = propose(ranks_of(150, 150), IDEAL, ONE, now=np.array([3, 1]))
    assert found.parts == pytest.approx([0.75, 0.25])
    assert (found.replayed_ns, found.even_ns, found.planned_ns) == (150, 300, 150)


def test_only_a_region_is_shared():
    """Rank 0: 100 in region 1 and 50 outside, rank 1: 300 in it. 75 + 75: the 50 stay."""
    rows = [[enter(1), leave(burst), barrier(rest), op(OperationKind.NONE)] for burst, rest in ((100, 50), (300, 0))]
    found = propose(trace_of(*rows), IDEAL, ONE, region="region 1")
    assert found.parts == pytest.approx([0.75, 0.25]) and (found.replayed_ns, found.planned_ns) == (300, 200)
    with pytest.raises(TracelibError, match="no region 'two'"):
        propose(trace_of(*rows), IDEAL, ONE, region="two")


def test_speeds_of_another_machine():
    """Equal bursts; the second node is three times as fast."""
    machine = Machine(nodes=(Node(), Node(speed=3.0)), mapping=(0, 1))
    found = propose(ranks_of(300, 300), machine, ONE)
    assert found.parts == pytest.approx([0.25, 0.75])
    assert (found.replayed_ns, found.planned_ns) == (300, 150)


def test_a_shared_cpu():
    """Two of three ranks share a CPU of the machine: they get half as much each."""
    machine = Machine(nodes=(Node(cpus=1), Node(cpus=1)), mapping=(0, 1, 1))
    found = propose(ranks_of(300, 300, 300), machine, ONE)
    assert found.parts == pytest.approx([0.5, 0.25, 0.25])
    assert (found.replayed_ns, found.planned_ns) == (600, 450)


def test_messages_grow():
    """A rank's bytes grow with its share, if asked: 1000 become 1500."""
    send = [op(OperationKind.SEND, 100, peer=1, bytes=1000), op(OperationKind.NONE)]
    receive = [op(OperationKind.RECV, 300, peer=0, bytes=1000), op(OperationKind.NONE)]
    slow = Machine(node=Node(), networks=(Machine.ideal().networks[0].__class__(bandwidth_mb=1.0),))
    small, large = (propose(trace_of(send, receive), slow, ONE, messages=grow).planned_ns for grow in (False, True))
    per_byte = 1e9 / 2**20
    assert large - small == pytest.approx(500 * per_byte, rel=0.01)


def test_the_interval_allows_for_what_varied():
    """Eighths of rank 1 take 90 and 110 in turn: their standard deviation is 10 % times the square root of 8 / 7."""
    bursts = [[100] * 8, [90, 110] * 4]
    found = propose(trace_of(*([barrier(burst) for burst in row] for row in bursts)), IDEAL, ONE)
    expected = found.expected
    assert found.varied == pytest.approx(0.1 * np.sqrt(8 / 7))
    assert expected.low_s == pytest.approx(expected.time_s * (1 - found.varied))
    assert expected.high_s == pytest.approx(expected.time_s * (1 + found.varied))


@given(st.lists(st.integers(10_000, 10**6), min_size=1, max_size=8))
@settings(max_examples=60)
def test_all_finish_together(bursts):
    """One phase: the planned time is that of equal finish, the harmonic mean of the bursts."""
    found = propose(ranks_of(*bursts), IDEAL, ONE)
    harmonic = len(bursts) / sum(1 / burst for burst in bursts)
    assert found.planned_ns == pytest.approx(harmonic, abs=2) and found.planned_ns <= found.even_ns + 2
    assert found.parts.sum() == pytest.approx(1)


def test_who_computed_nothing():
    with pytest.raises(TracelibError, match="rank 1 computed nothing"):
        propose(ranks_of(100, 0), IDEAL, ONE)
    with pytest.raises(TracelibError, match="shares are of 3 ranks"):
        propose(ranks_of(100, 100), IDEAL, ONE, now=np.ones(3))


@pytest.fixture(scope="module", name="run")
def run_of_unequal_ranks(tmp_path_factory):
    """Ten barriers: rank 1 comes 30 us after the one before, rank 0 after 10 us."""
    calls = ([], [])
    for k in range(10):
        at = 31_000 * k
        calls[0].append(call("MPI_Barrier", at + 10_000, at + 31_000, comm=WORLD))
        calls[1].append(call("MPI_Barrier", at + 30_000, at + 31_000, comm=WORLD))
    return write_run(tmp_path_factory.mktemp("balance"), [{"calls": c} for c in calls])


def test_command(run, tmp_path, capsys):
    plan = tmp_path / "next.plan"
    assert main(["balance", str(run), "--items", "400", "--machine", "ideal", "-o", str(plan), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [rank["items"] for rank in data["ranks"]] == pytest.approx([300, 100], abs=4)
    assert data["expected"]["gain"] == pytest.approx(0.5, abs=0.02)
    written = read_plan(plan.read_text())
    assert written.shares(400) == [rank["items"] for rank in data["ranks"]]
    assert main(["balance", str(run), "--machine", "ideal"]) == 0
    text = capsys.readouterr().out
    assert "Expected:" in text and "less" in text and "rank" in text


def test_replay_under_a_plan(run, tmp_path, capsys):
    """`replay --shares` and the proposal agree; under the plan that it ran with nothing changes."""
    plan, same = tmp_path / "next.plan", tmp_path / "same.plan"
    assert main(["balance", str(run), "--machine", "ideal", "-o", str(plan), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["expected"]["time_s"]
    same.write_text("tracelib-plan 1\nranks 2\nspeeds 0 1 1\n")

    def replayed(*more):
        assert main(["replay", str(run), *map(str, more), "--json"]) == 0
        return json.loads(capsys.readouterr().out)["predicted_s"]

    assert replayed("--shares", plan) == pytest.approx(expected, abs=1e-8)
    assert replayed("--shares", same) == replayed()
    assert replayed("--shares", plan, "--shares-now", plan) == replayed()
    assert replayed("--shares", plan, "--items", 4) == pytest.approx(expected, rel=0.05)


def test_compared(run, tmp_path, capsys):
    """A run of 310 us beside an expectation."""
    plan = tmp_path / "a.plan"
    plan.write_text("tracelib-plan 1\nranks 2\nspeeds 0 1 1\nexpect 0 0.0003 0.0003 0.00032 0.0004\n")
    assert main(["balance", str(run), "--plan", str(plan), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    took = open_trace(str(run)).duration_ns / 1e9
    assert data["took_s"] == took and data["inside"] and data["error"] == pytest.approx(took / 0.0003 - 1)
    assert main(["balance", str(run), "--plan", str(plan)]) == 0
    assert "in the interval" in capsys.readouterr().out


def test_models(tmp_path, capsys):
    """From times to a plan, by the command."""
    lines = [f"{m},{n},1,{c * n * n},{m} inside" for m, c in (("slow", 4e-6), ("fast", 1e-6)) for n in (100, 200, 300)]
    times, models, plan = tmp_path / "times.csv", tmp_path / "models.json", tmp_path / "mix.plan"
    times.write_text("\n".join(["machine,n,p,time_s,cpu", *lines]))
    assert main(["balance", "--models", str(models), "--learn", str(times)]) == 0
    assert main(["balance", "--models", str(models)]) == 0
    assert "cpu: slow inside" in capsys.readouterr().out
    mix = ["--machines", "slow=2,fast=3", "--size", "140", "--size", "280"]
    assert main(["balance", "--models", str(models), *mix, "-o", str(plan)]) == 0
    assert "Dynamic plan" in capsys.readouterr().out
    assert read_plan(plan.read_text()).shares(140) == [10, 10, 40, 40, 40]
    assert main(["balance", "--models", str(models), *mix, "--static", "100", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["sizes"][0]["items"] == [10, 10, 40, 40, 40] and not data["dynamic"]


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "from a run, or from --models"),
        (["--models", "no.json"], "cannot read no.json"),
        (["--models", "{}/m.json", "--learn", "no.csv"], "cannot read no.csv"),
        (["{}/run.h5", "--plan", "no.plan"], "cannot read no.plan"),
        (["{}/run.h5", "--region", "solve"], "no region 'solve'"),
    ],
)
def test_mistakes(run, arguments, said, capsys):
    assert main(["balance", *(word.format(run.parent) for word in arguments)]) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and said in lines[0]


def test_cpu_time_that_was_not_recorded_is_refused(run, capsys):
    assert main(["balance", str(run), "--cpu-time", "--machine", "ideal"]) == 1
    said = capsys.readouterr().err
    assert "the CPU time of any rank was not recorded" in said and "TRACELIB_CPUTIME=on" in said
