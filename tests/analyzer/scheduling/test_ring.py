"""The synthetic ring of the scheduling studies, rings that share processors, and which claims of the studies hold."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import Node
from analyzer.machine.policies import policy_of
from analyzer.opening import open_trace
from analyzer.program.operation import OperationKind
from analyzer.replay import Machine, program_of, simulate
from analyzer.scheduling.mix import share
from analyzer.scheduling.ring import PriorityRecords, RingProgram
from benchmarks.scheduling.claims import CLAIMS, verdicts
from benchmarks.scheduling.experiments import EXPERIMENTS, STUDIED, Setting, most


def test_the_thesis_example():
    """(4200, 60 %) of 8 tasks: b = 4200 (0.6 x 8 - 1) = 15960 us (F9), m_mct = 33.6 ms (F10), 29.76 iterations/s."""
    ring = RingProgram(4200, 60, 8)
    assert (ring.after_ns, ring.cycle_ns) == (15_960_000, 33_600_000)
    assert 1e9 / ring.cycle_ns == pytest.approx(29.76, abs=0.005)


@settings(max_examples=30)
@given(st.integers(1, 9), st.floats(0, 1), st.integers(1, 9000), st.sampled_from(PriorityRecords), st.integers(1, 12))
def test_alone_it_does_what_its_name_says(tasks, share_, compute_us, records, iterations):
    """An iteration lasts a N, and a processor is busy for a + b of it: the demand. Every message is received."""
    demand = 100 / tasks + share_ * (100 - 100 / tasks)
    ring = RingProgram(compute_us, demand, tasks, iterations, 8, records)
    program = ring.program()
    found = simulate(program, Machine.ideal(), times=True)
    sent = found.times["begin"][ring.sends()]
    assert sent.tolist() == [ring.compute_ns + k * ring.cycle_ns for k in range(iterations)]
    assert found.usage["computing"].tolist() == [iterations * (ring.compute_ns + ring.after_ns)] * tasks
    assert (ring.compute_ns + ring.after_ns) / ring.cycle_ns == pytest.approx(demand / 100, abs=1e-3)
    assert found.unreceived == 0 and found.usage["sends"].tolist() == [iterations] * tasks
    assert (program.ops["kind"] == OperationKind.PRIORITY).any() == (records is not PriorityRecords.NONE)


def test_each_sends_to_the_next():
    """F21; the first task sends before it receives."""
    ops = RingProgram(100, 50, 4, 2).program().ops
    kinds = ops["kind"][ops["kind"] != OperationKind.PRIORITY][:4].tolist()
    assert kinds == [OperationKind.SEND, OperationKind.RECV, OperationKind.SEND, OperationKind.NONE]
    sends = ops[ops["kind"] == OperationKind.SEND]["peer"].tolist()
    assert sends == [1, 1, 2, 2, 3, 3, 0, 0]


def test_priorities_say_path_and_laxity():
    """0 before the receive; after the send 1, or 1 and how late it may be: a N (1 - d) = 33600 x 0.4 us."""
    for records, outside in ((PriorityRecords.PATH, 1), (PriorityRecords.LAXITY, 1 + 13440)):
        ops = RingProgram(4200, 60, 8, 3, 0, records).program().ops
        said = ops[ops["kind"] == OperationKind.PRIORITY]["other"]
        assert set(said[::2].tolist()) == {0} and set(said[1::2].tolist()) == {outside}


@pytest.mark.parametrize(
    "wrong", [{"demand": 12}, {"demand": 101}, {"tasks": 0}, {"compute_us": 0}, {"iterations": 0}, {"size_bytes": -1}]
)
def test_what_cannot_be(wrong):
    with pytest.raises(TracelibError):
        RingProgram(**wrong)


@pytest.mark.parametrize("ending", ["dim", "h5"])
def test_the_command_writes_it(ending, tmp_path, capsys):
    """The same application by either way; only the .dim has priorities."""
    path = tmp_path / f"r.{ending}"
    given_ = ["--tasks", "4", "--compute", "100us", "--demand", "50", "--iterations", "5", "--size", "1K"]
    assert main(["ring", *given_, "-o", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["compute_after_s"], told["cycle_s"]) == (1e-4, 4e-4)
    trace = open_trace(path)
    assert [len(trace.messages()), int(trace.messages()["size"].sum())] == [20, 20 * 1024]
    assert simulate(program_of(trace), Machine.ideal()).end_ns == pytest.approx(5 * 400_000 + 100_000, abs=30)
    assert (program_of(trace).ops["kind"] == OperationKind.PRIORITY).any() == (ending == "dim")
    assert main(["ring", "--demand", "5", "-o", str(path), "-f"]) == 1
    assert "12.5 to 100" in capsys.readouterr().err


def shared(rings, policy="fcfs", priorities=(), **options):
    machine = Machine(nodes=(Node(),) * 8, mapping="round-robin", scheduling=policy_of({"policy": policy, **options}))
    return share(rings, machine, 40 * rings[0].cycle_ns, priorities=priorities)


def test_two_rings_that_do_not_meet_reach_the_closed_form():
    """59.52 iterations/s of both at 50 %, 29.76 at 100 %, where the processors are always busy."""
    assert shared([RingProgram(4200, 50)] * 2).throughput == pytest.approx(2 * 1e3 / 33.6, rel=1e-6)
    assert shared([RingProgram(4200, 100)] * 2).throughput == pytest.approx(1e3 / 33.6, rel=1e-3)
    both = shared([RingProgram(4200, 60)] * 2)
    assert both.stretches == pytest.approx([1.2, 1.2], rel=1e-3) and both.ratio == pytest.approx(1, rel=1e-3)


def test_who_is_starved_makes_no_iteration():
    found = shared([RingProgram(4200, 100)] * 2, "fixed-preemptive", (0, 1))
    assert found.rates[0] == pytest.approx(1e3 / 33.6) and found.rates[1] == 0 and np.isinf(found.ratio)


REDUCED = Setting(demands=(30, 60, 90, 100), computes_us=(200, 1000, 4200, 44200), policies=STUDIED, cycles=48)
NOT_SO = (
    ("E1", "reaches the maximum up to a demand of 50 %"),
    ("E1", "is unfair above 50 %"),
    ("E1", "leaves nobody without any progress"),
    ("E1", "is fair: SR = 1"),
    ("E2", "does more than CP_RR somewhere"),
    ("E3", "is the best where they are unlike (to 5 %)"),
    ("E3", "favouring the shorter, does a little more than RR and is less fair"),
    ("E3", "lies between RR and CP_RR where a is near the slice"),
    ("E3", "does the same as CP_RR where a is large (to 2 %)"),
    ("E4", "does about half of the maximum somewhere up to 40 % (55 % and less)"),
)
"""Claims that are false in our simulator: docs/scheduling.md says why."""


@pytest.fixture(scope="module")
def results():
    return REDUCED.all()


def test_what_is_claimed_is_stable(results):
    """The verdicts of the whole study, from a fifth of its points and of its time."""
    assert {claim.experiment for claim in CLAIMS} == set(EXPERIMENTS)
    for verdict in verdicts(results):
        name = (verdict.claim.experiment, verdict.claim.text)
        assert verdict.holds == (name not in NOT_SO), (name, verdict.against, verdict.answers)


def test_no_policy_does_more_than_is_possible(results):
    """The bound from the rings' own cycles and the processors' time, whatever the policy."""
    for experiment, by_policy in results.items():
        for policy, by_point in by_policy.items():
            for x, found in by_point.items():
                assert found.throughput <= 1.03 * most(experiment, x), (experiment, policy, x)
