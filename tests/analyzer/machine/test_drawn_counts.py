"""Random numbers of CPUs, links and buses, random times of the scheduling, and a random eager limit."""

from collections import Counter
from dataclasses import replace

import pytest
from random_replays import BYTE_A_NS

from analyzer.errors import TracelibError
from analyzer.machine.description import CpuScheduling, ExponentialNumber, GaussianNumber, Network, Node, UniformNumber
from analyzer.machine.drawn_numbers import with_counts
from analyzer.machine.parameters import PARAMETERS, vary
from analyzer.machine.read_toml import machine_of
from analyzer.machine.write_cfg import cfg_text
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay import Machine, simulate


def computing(ranks, ns=100):
    """Ranks that do nothing but compute."""
    return Program.from_streams([operations({"kind": OperationKind.NONE, "burst": ns}) for _ in range(ranks)])


def test_each_number_is_as_likely():
    """400 machines: of 1 to 4 CPUs each number comes 100 times, give or take 5 standard deviations (43)."""
    found = Counter(
        with_counts(Machine(nodes=(Node(cpus=UniformNumber(1, 4)),), seed=k), 1).nodes[0].cpus for k in range(400)
    )
    assert sorted(found) == [1, 2, 3, 4]
    assert all(abs(n - 100) < 43 for n in found.values())


def test_counts_take_the_nearest_number_from_1():
    for law, least in ((GaussianNumber(2.0, 3.0), 1), (ExponentialNumber(4.6, 2.0), 5), (UniformNumber(0, 1), 1)):
        drawn = [with_counts(Machine(networks=(Network(buses=law),), seed=k), 1).networks[0].buses for k in range(200)]
        assert min(drawn) == least and all(isinstance(n, int) for n in drawn)


def test_the_cpus_decide():
    """12 ranks compute 100 ns each on as many CPUs as were drawn; each node has its own number."""
    times = set()
    for seed in range(40):
        machine = Machine(nodes=(Node(cpus=UniformNumber(1, 4)),), mapping=(0,) * 12, seed=seed)
        cpus = with_counts(machine, 12).nodes[0].cpus
        assert simulate(computing(12), machine).end_ns == 100 * 12 // cpus
        times.add(cpus)
    assert times == {1, 2, 3, 4}
    two = with_counts(Machine(nodes=(Node(cpus=UniformNumber(1, 99)),) * 2), 2).nodes
    assert two[0].cpus != two[1].cpus


def test_without_variance_it_is_the_machine_itself():
    """Section 1.14: bit for bit."""
    ring = [
        operations(
            {"kind": OperationKind.IRECV, "peer": (k - 1) % 4, "tag": 1, "request": 0, "burst": 3 * k},
            {
                "kind": OperationKind.SEND,
                "peer": (k + 1) % 4,
                "tag": 1,
                "bytes": 5,
                "flags": OperationFlag.RENDEZVOUS,
                "burst": 7,
            },
            {"kind": OperationKind.WAIT, "request": 0},
        )
        for k in range(4)
    ]
    node = Node(cpus=1, links_out=1, links_in=2)
    times = {"slice_ns": 3, "context_switch_ns": 2, "busy_wait_ns": 4, "least_run_ns": 1}
    plain = Machine(
        nodes=(node,) * 2, networks=(Network(BYTE_A_NS / 10, 1),), mapping="round-robin",
        scheduling=CpuScheduling(**times), eager_limit=5,
    )  # fmt: skip
    drawn = replace(
        plain,
        nodes=(
            replace(node, cpus=UniformNumber(1, 1), links_out=GaussianNumber(1, 0), links_in=ExponentialNumber(2, 0)),
        )
        * 2,
        networks=(Network(BYTE_A_NS / 10, UniformNumber(1, 1)),),
        scheduling=CpuScheduling(**{name: UniformNumber(ns, ns) for name, ns in times.items()}),
        eager_limit=UniformNumber(5, 5),
    )
    a, b = (simulate(Program.from_streams(ring), machine, times=True, transfers=True) for machine in (plain, drawn))
    assert (a.times == b.times).all() and (a.transfers == b.transfers).all() and (a.usage == b.usage).all()
    assert a.usage["wait_cpu"].any() and a.usage["busy_wait"].any() and a.most_waiting


def test_slices_are_drawn_anew():
    """Two ranks of 10 us take turns of 0 to 2 us on a CPU, 1 us on average: some 20 switches, not the same twice."""
    machine = Machine(nodes=(Node(cpus=1),), scheduling=CpuScheduling(slice_ns=UniformNumber(0, 2000)))
    found = [simulate(computing(2, 10_000), replace(machine, seed=seed)) for seed in range(60)]
    switches = [int(one.usage["switches"].sum()) for one in found]
    assert len({int(one.usage["end"].min()) for one in found}) > 50
    assert 17 < sum(switches) / len(switches) < 23
    assert {one.end_ns for one in found} == {20_000}


def test_the_eager_limit_is_drawn_for_each_send():
    """Among 300 sends of 100 bytes, under a limit of 0 to 400, three quarters are eager: the sender does not wait."""
    sends = [{"kind": OperationKind.SEND, "peer": 1, "tag": k, "bytes": 100} for k in range(300)]
    receives = [{"kind": OperationKind.RECV, "peer": 0, "tag": k, "burst": 10} for k in range(300)]
    program = Program.from_streams([operations(*sends), operations(*receives)])
    found = simulate(program, Machine(eager_limit=UniformNumber(0, 400)), times=True)
    waited = found.times["end"][:300] > found.times["begin"][:300]
    assert 50 < waited.sum() < 100


def test_files():
    text = {
        "eager_limit": {"uniform": [1024, 65536]},
        "node": {"cpus": {"uniform": [1, 4]}, "links_in": {"gaussian": [2, 1]}},
        "network": {"buses": {"exponential": [1, 3]}},
        "scheduling": {"policy": "rr", "slice_us": {"uniform": [1, 3]}, "busy_wait_us": {"gaussian": [2, 1]}},
    }
    machine = machine_of(text)
    assert (machine.eager_limit, machine.node.cpus) == (UniformNumber(1024, 65536), UniformNumber(1, 4))
    assert (machine.node.links_in, machine.networks[0].buses) == (GaussianNumber(2, 1), ExponentialNumber(1, 3))
    assert (machine.scheduling.slice_ns, machine.scheduling.busy_wait_ns) == (
        UniformNumber(1000, 3000),
        GaussianNumber(2000, 1000),
    )
    assert [PARAMETERS[name].get(machine) for name in ("cpus", "buses", "eager")] == [2.5, 4.0, 33280.0]
    assert vary(machine, {"cpus": 5, "eager": 66560}).node.cpus == UniformNumber(2, 8)
    assert vary(machine, {"eager": 66560}).eager_limit == UniformNumber(2048, 131072)
    with pytest.raises(TracelibError, match="random"):
        cfg_text(Machine(node=Node(cpus=UniformNumber(1, 2))), 2)


@pytest.mark.parametrize(
    "given",
    [
        {"node": {"cpus": {"uniform": [1]}}}, {"node": {"network": {"uniform": [0, 1]}}},
        {"scheduling": {"policy": "decay", "tick_us": {"uniform": [2, 1]}}},
        {"scheduling": {"slice_us": {"normal": [1, 2]}}}, {"eager_limit": {"uniform": ["a", 2]}},
    ],
)  # fmt: skip
def test_mistakes(given):
    with pytest.raises(TracelibError):
        machine_of(given)
