"""Scheduling policies whose priorities change, by hand (rows 17 and 18 of the checklist, F7 and F8), and random draws.

Smaller priorities are better here. Both dialects agree: no message costs anything.
"""

from dataclasses import replace
from math import erf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.machine.description import (
    CpuScheduling,
    ExponentialNumber,
    GaussianNumber,
    Machine,
    Node,
    PriorityLevel,
    PrioritySource,
    UniformNumber,
)
from analyzer.machine.policies import policy_of
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay.simulate import simulate
from analyzer.scheduling.sharing import closed


def compute(burst):
    return {"kind": OperationKind.NONE, "burst": burst}


def send(peer, burst=0):
    return {"kind": OperationKind.SEND, "peer": peer, "burst": burst}


def receive(peer, burst=0):
    return {"kind": OperationKind.RECV, "peer": peer, "burst": burst}


def ends(streams, policy, mapping, dialect="standard"):
    """When each rank ends; each node has one processor."""
    nodes = (Node(),) * (max(mapping) + 1)
    on = Machine(nodes=nodes, mapping=mapping, scheduling=policy, dialect=dialect)
    return simulate(Program.from_streams([operations(*s) for s in streams]), on).usage["end"].tolist()


@pytest.mark.parametrize(
    "priorities, expected", [((0, 1), [100, 200]), ((1, 0), [200, 100]), ((5,), [200, 100]), ((), [100, 200])]
)
def test_fixed_priorities_of_applications(priorities, expected):
    """Row 17: the machine has a priority for each application that shares it; the second run has 0 by default."""
    programs = [Program.from_streams([operations(compute(100))])] * 2
    policy = policy_of({"policy": "fixed", "priorities": [*priorities]})
    on = Machine(nodes=(Node(),), mapping=(0,), scheduling=policy)
    assert simulate(programs, on).usage["end"].tolist() == expected
    wide = replace(on, nodes=(Node(cpus=2),))
    assert closed(programs, wide, simulate(programs, wide, repetitions=1)).alone == (100e-9, 100e-9)


def test_fixed_priorities_of_ranks():
    policy = policy_of({"policy": "fixed", "priorities": [[2, 1, 0]]})
    assert ends([[compute(100)]] * 3, policy, (0, 0, 0)) == [300, 200, 100]
    with pytest.raises(TracelibError, match="given for 3 ranks, but application 0 has 4"):
        ends([[compute(100)]] * 4, policy, (0, 0, 0, 0))
    for wrong in (3, [1.5], [[]], [True], ["a"]):
        with pytest.raises(TracelibError, match="priorities"):
            policy_of({"policy": "fixed", "priorities": wrong})


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
def test_critical_path_records(dialect):
    """CP: at 100 rank 0 leaves the critical path, and rank 1 takes the processor from it until 250."""
    policy = CpuScheduling(priority=PrioritySource.RECORDS, preemptive=True)
    streams = [[compute(100), {"kind": OperationKind.PRIORITY, "other": 5}, compute(100)], [compute(150)]]
    assert ends(streams, policy, (0, 0), dialect) == [350, 250]


def test_critical_path_records_without_preemption():
    policy = CpuScheduling(priority=PrioritySource.RECORDS)
    streams = [[compute(100), {"kind": OperationKind.PRIORITY, "other": 5}, compute(100)], [compute(150)]]
    assert ends(streams, policy, (0, 0)) == [200, 350]


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
def test_svr4_slices_grow(dialect):
    """Level 0 for 10 each, then level 1 for 40 each, then the last 10 of each."""
    policy = CpuScheduling(priority=PrioritySource.SVR4, levels=(PriorityLevel(10, 1, 0), PriorityLevel(40, 1, 0)))
    assert ends([[compute(60)], [compute(60)]], policy, (0, 0), dialect) == [110, 120]


def test_svr4_sleepers_return_to_a_better_level():
    """Rank 0 sleeps from 5 to 7 and comes back better than rank 1, whose slice it ends at once."""
    policy = CpuScheduling(
        priority=PrioritySource.SVR4, preemptive=True, levels=(PriorityLevel(10, 1, 0), PriorityLevel(40, 1, 0)), base=1
    )
    assert ends([[receive(2, 5), compute(8)], [compute(30)], [send(0, 7)]], policy, (0, 0, 1)) == [15, 43, 7]


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
def test_decay_counts_what_was_used(dialect):
    """F7 without forgetting: ticks of 10. Rank 0 has 1 at 10, rank 1 has 2 at 30, rank 0 ends at 50."""
    policy = CpuScheduling(priority=PrioritySource.DECAY, preemptive=True, best=0, worst=127, tick_ns=10, settle_ns=10)
    assert ends([[compute(30)], [compute(30)]], policy, (0, 0), dialect) == [50, 60]


def test_decay_forgets_by_the_load():
    """F7: two threads, so the load is (2 + 0) / 2 = 1 at 10, and 2/3 of the use is kept: its whole part is 0, and
    rank 0 goes on. Without forgetting it has 1 and loses the processor to rank 1 until 25."""
    keeps = CpuScheduling(
        priority=PrioritySource.DECAY, preemptive=True, best=0, worst=127, tick_ns=10, settle_ns=10, load_ns=10
    )
    assert ends([[compute(15)], [compute(15)]], keeps, (0, 0)) == [30, 25]
    assert ends([[compute(15)], [compute(15)]], replace(keeps, decay_ns=10), (0, 0)) == [15, 30]


def boost(first, last, sender=0):
    return CpuScheduling(
        priority=PrioritySource.BOOST, slice_ns=10, base=5, best=0, worst=10,
        receiver_first=first, receiver_last=last, sender_receiver_first=sender,
    )  # fmt: skip


@pytest.mark.parametrize("policy, expected", [(boost(1, -1), [30, 50, 0]), (boost(-1, 1), [50, 30, 0])])
def test_boost_where_the_message_was_there(policy, expected):
    """BOOST2 raises rank 0 at 5, so it keeps the processor at 10; BOOST1 lowers it, and rank 1 has its 20 first."""
    assert ends([[receive(2, 5), compute(25)], [compute(20)], [send(0)]], policy, (0, 0, 1)) == expected


@pytest.mark.parametrize("policy, expected", [(boost(1, -1), [50, 25, 7]), (boost(-1, 1), [40, 50, 7])])
def test_boost_where_the_receiver_was_first(policy, expected):
    """Rank 0 sleeps from 5 to 7; at 15, when the slice of rank 1 ends, BOOST2 lets rank 1 go on, BOOST1 rank 0."""
    assert ends([[receive(2, 5), compute(25)], [compute(20)], [send(0, 7)]], policy, (0, 0, 1)) == expected


@pytest.mark.parametrize("sender, expected", [(-3, [25, 25, 55]), (0, [45, 45, 55])])
def test_boost_raises_the_sender(sender, expected):
    """BOOST3: rank 1, whose message rank 0 waits for since 5, is not taken off for rank 2."""
    streams = [[receive(1, 5)], [send(0, 25)], [compute(30)]]
    assert ends(streams, boost(1, -1, sender), (0, 1, 1)) == expected


def normal(x):
    return 0.5 * (1 + np.vectorize(erf)((x - 1e6) / 2e5 / 2**0.5))


@pytest.mark.parametrize(
    "law, distribution",
    [
        (UniformNumber(1e-3, 3e-3), lambda x: (x - 1e6) / 2e6),
        (GaussianNumber(1e-3, 2e-4), normal),
        (ExponentialNumber(1e-3, 5e-4), lambda x: 1 - np.exp(-(x - 1e6) / 5e5)),
    ],
)
def test_draws_have_their_distribution(law, distribution):
    """Row 22: the largest distance of 5000 latencies' distribution from its law (Kolmogorov: 1 in 1000 is further)."""
    n = 5000
    streams = [operations(*[send(1)] * n), operations(*[receive(0)] * n)]
    on = Machine(node=Node(latency_s=law), dialect="thesis", mapping="round-robin", seed=7)
    found = simulate(Program.from_streams(streams), on, times=True).times[:n]
    drawn = np.sort(found["end"] - found["begin"]).astype(float)
    steps = np.arange(n + 1) / n
    expected = distribution(drawn)
    assert max((steps[1:] - expected).max(), (expected - steps[:-1]).max()) < 1.95 / n**0.5
    assert abs(np.corrcoef(np.diff(found["end"])[:-1], np.diff(found["end"])[1:])[0, 1]) < 0.06


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
def test_intervals_of_decay_end_at_ticks(dialect):
    """Ticks of 10, priorities made anew each 25: at 30 rank 0 has 3, and rank 1 runs to its end."""
    policy = policy_of({
        "policy": "decay", "slice_us": 0, "tick_us": 0.01, "settle_us": 0.025, "decay_us": 0, "load_us": 0,
        "base": 0, "best": 0, "worst": 127,
    })  # fmt: skip
    assert ends([[compute(45)], [compute(25)]], policy, (0, 0), dialect) == [70, 55]


@pytest.mark.parametrize("policy", ["svr4", "decay"])
def test_quanta_and_intervals_at_random(policy):
    """Row 22: without variance they are the constants; with it another seed is another run."""
    constant = {
        "svr4": {"levels": [[0.01, 1, 0], [0.04, 1, 0]], "base": 0},
        "decay": {"tick_us": 0.01, "settle_us": 0.02},
    }

    def drawn(us, spread):
        return {"uniform": [us - spread, us + spread]}

    def found(spread=None, seed=0):
        options = dict(constant[policy])
        if spread is not None and policy == "svr4":
            options["levels"] = [[drawn(us, spread), *rest] for us, *rest in options["levels"]]
        elif spread is not None:
            options |= {name: drawn(us, spread) for name, us in options.items()}
        on = Machine(nodes=(Node(),), mapping=(0,) * 3, scheduling=policy_of({"policy": policy, **options}), seed=seed)
        program = Program.from_streams([operations(compute(burst)) for burst in (333, 222, 111)])
        return simulate(program, on).usage[["end", "switches"]].tolist()

    assert found() == found(0.0) == found(0.0, seed=5)
    runs = [found(0.005, seed) for seed in range(5)]
    assert found(0.005, 3) == runs[3] and len(set(map(str, runs))) > 2


def test_cost_is_linear_in_messages_and_switches():
    """Row 41: twice the run, twice the events."""

    def events(messages):
        one = [send(1, 5), compute(3)], [receive(0, 2), compute(9)], [compute(8)] * 2
        policy = CpuScheduling(slice_ns=4, context_switch_ns=1)
        on = Machine(nodes=(Node(links_out=1, latency_s=1e-9), Node()), mapping=(0, 1, 1), scheduling=policy)
        return simulate(Program.from_streams([operations(*(rows * messages)) for rows in one]), on).events

    few, many = events(200), events(2000)
    assert many == pytest.approx(10 * few, rel=0.02)


@pytest.mark.parametrize("dialect", ("standard", "thesis"))
@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("options", [
    {}, {"policy": "rr", "slice_us": 0.013, "context_switch_us": 0.007}, {"busy_wait_us": 0.02},
    {"policy": "rr", "slice_us": 0.013, "busy_wait_us": "inf"}, {"policy": "fixed-preemptive", "priorities": [0, 1]},
])  # fmt: skip
def test_what_is_under_way_at_the_end_of_a_closed_system_counts_as_far_as_it_came(options, cpus, dialect):
    """An application of one thread is never idle, so its parts sum up to the end of the replay."""
    busy = Program.from_streams(
        [operations(*[compute(100), {"kind": OperationKind.SEND, "peer": 0, "bytes": 1 << 20}, receive(0)] * 3)]
    )
    parallel = Program.from_streams(
        [operations(compute(7), {"kind": OperationKind.PARALLEL, "burst": 31, "other": 1}, compute(50))]
    )
    on = Machine(
        nodes=(Node(cpus=cpus, intra_latency_s=3e-9, intra_bandwidth_mb=2e7),), mapping=(0,), dialect=dialect,
        scheduling=policy_of(options),
    )  # fmt: skip
    found = simulate([busy, parallel], on, repetitions=3, runs_room=1000)
    parts = (
        "computing", "overhead", "context_switch", "busy_wait", "wait_message", "wait_send", "wait_cpu",
        "wait_semaphore", "wait_access", "wait_members", "collective",
    )  # fmt: skip
    assert sum(found.usage[name] for name in parts).tolist() == [found.end_ns] * 2


@pytest.mark.parametrize("dialect", ("standard", "dimemas-5.5", "thesis"))
@pytest.mark.parametrize("burst, sent", [(999, 999), (1000, 1000), (1001, 2001)])
def test_a_burst_that_ends_with_its_slice_waits_no_turn(burst, sent, dialect):
    """Slices of 1000 ns, and another thread that has more to do. The second burst, of 10 ns, waits one turn."""
    policy = CpuScheduling(slice_ns=1000)
    other = [[compute(5000)], [receive(0)]]
    assert ends([[send(2, burst)], *other], policy, (0, 0, 1), dialect) == [sent, burst + 5000, sent]
    goes_on = [[send(2, burst), compute(10)], *other]
    assert ends(goes_on, policy, (0, 0, 1), dialect) == [burst + 10 + 1000, burst + 10 + 5000, sent]


@given(
    bursts=st.lists(st.integers(0, 30), min_size=2, max_size=5),
    slice_ns=st.integers(1, 10),
)
def test_round_robin_by_closed_form(bursts, slice_ns):
    """Threads of one burst each: after q whole slices, and what is left of the last one, those before have had as many
    slices as they need, up to q + 1; those behind up to q."""
    found = ends([[compute(burst)] for burst in bursts], CpuScheduling(slice_ns=slice_ns), (0,) * len(bursts))

    def had(other, rounds):
        return min(other, rounds * slice_ns)

    for k, burst in enumerate(bursts):
        full = max(-(-burst // slice_ns) - 1, 0)  # slices before the last one, which may be whole
        before = sum(had(other, full + 1) for other in bursts[:k])
        behind = sum(had(other, full) for other in bursts[k + 1 :])
        assert found[k] == burst + before + behind
