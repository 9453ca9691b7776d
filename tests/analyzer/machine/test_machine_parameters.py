"""Parameters of a machine by name: each can be read and set, and the simulator feels it."""

import math
import re
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.machine.description import (
    CostPiece,
    CpuScheduling,
    ExponentialNumber,
    FileSystem,
    GaussianNumber,
    Machine,
    Network,
    Node,
    UniformNumber,
)
from analyzer.machine.parameters import _TABLES, PARAMETERS, parameter, setting_of, value_of, vary
from analyzer.machine.policies import POLICIES, options_of, policy_of
from analyzer.machine.read_toml import machine_of
from analyzer.program.model import Program
from analyzer.program.operation import OperationFlag, OperationKind, operations
from analyzer.replay.simulate import simulate

MB = 1 << 20
DECAY = policy_of({"policy": "decay"})
MEASURED = Machine(
    networks=(Network(pieces=(CostPiece(0, 100, 0, 2000, 1, 300, 0.5), CostPiece(4096, 200, 0, 5000, 2, 0, 2))),)
)


@given(st.sampled_from(sorted(set(PARAMETERS) - {"send_overhead", "intra_send_overhead"})), st.integers(1, 1000))
def test_what_was_set_is_read(name, value):
    """Whole numbers of whatever unit, on the ideal machine, on one with nodes, and infinite where that is allowed."""
    for nodes in ((), (Node(), Node())):
        machine = Machine(nodes=nodes, scheduling=DECAY, files=FileSystem())
        assert parameter(name).get(vary(machine, {name: value})) == pytest.approx(value)
        if PARAMETERS[name].endless:
            assert parameter(name).get(vary(machine, {name: math.inf})) == math.inf


def test_each_is_one_number_of_the_machine():
    """Setting all of them gives the machine written by hand."""
    fixed = policy_of({"policy": "fixed-rr"})
    found = vary(
        replace(Machine.ideal(), scheduling=fixed, files=FileSystem(open_s=1e-3)),
        {
            "latency": 5e-6, "bandwidth": 100 * MB, "buses": 4, "links_out": 2, "links_in": 3, "speed": 2, "cpus": 8,
            "eager": 32768, "intra_latency": 1e-6, "intra_bandwidth": 1000 * MB, "intra_buses": 5, "intra_links": 6,
            "wan_latency": 1e-3, "wan_bandwidth": 10 * MB, "slice": 1e-3, "context_switch": 5e-6, "busy_wait": 2e-6,
            "least_run": 1e-6, "file_latency": 5e-4, "file_bandwidth": 200 * MB, "file_servers": 3,
        },
    )  # fmt: skip
    node = Node(8, 2.0, 5e-6, 1e-6, 1000.0, 1e-3, 2, 3, False, 5, 6, 6)
    scheduling = replace(fixed, slice_ns=10**6, context_switch_ns=5000, busy_wait_ns=2000, least_run_ns=1000)
    by_hand = Machine(node=node, networks=(Network(100.0, 4),), wan_bandwidth_mb=10.0, eager_limit=32768)
    files = FileSystem(5e-4, 200.0, 200.0, servers=3, open_s=1e-3)
    assert found == Machine(**{**vars(by_hand), "scheduling": scheduling, "files": files})
    assert vary(Machine.ideal(), {"links": 7}).node == Node(links_out=7, links_in=7)


def test_a_machine_that_says_nothing_of_files():
    assert math.isnan(parameter("file_latency").get(Machine.ideal()))
    with pytest.raises(TracelibError) as error:
        vary(Machine.ideal(), {"file_servers": 2})
    assert "[files]" in error.value.hint


def test_paths_are_those_of_the_toml():
    given_ = {
        "network": [{"bandwidth_mb": 100}, {"buses": 2}],
        "node": [{"count": 2, "latency_us": 5}, {"latency_us": 9, "network": 1, "cpus": 4}],
        "wan": {"bandwidth_mb": 3}, "scheduling": {"policy": "rr", "slice_us": 50},
    }  # fmt: skip
    machine = machine_of(given_)
    files = vary(machine_of({"files": {"write_bandwidth_mb": 7}}), {"files.servers": 2, "files.open_us": 5})
    assert files == machine_of({"files": {"write_bandwidth_mb": 7, "servers": 2, "open_us": 5}})
    names = ("network.0.bandwidth_mb", "network.1.buses", "node.2.latency_us", "node.2.cpus", "wan.bandwidth_mb")
    assert [parameter(n).get(machine) for n in (*names, "scheduling.slice_us")] == [100, 2, pytest.approx(9), 4, 3, 50]
    given_["node"][1]["latency_us"] = 20
    assert vary(machine, {"node.2.latency_us": 20}) == machine_of(given_)
    given_["node"] = [{**given_["node"][0], "latency_us": 7}, {**given_["node"][1], "latency_us": 7}]
    one_by_one = {f"node.{n}.latency_us": 7 for n in range(3)}
    assert vary(machine, one_by_one) == machine_of(given_)


def test_no_number_is_forgotten():
    """Each number of nodes, networks and scheduling has a path, but for choices and priorities."""
    no_quantities = {
        "half_duplex", "network", "preemptive", "priority", "base", "best", "worst", "receiver_first", "receiver_last",
        "sender_receiver_first", "block_bytes",
    }  # fmt: skip
    uses_all = replace(Machine.ideal(), scheduling=DECAY, files=FileSystem())
    for table, part in (
        ("node", Node()), ("network", Network()), ("scheduling", CpuScheduling()), ("files", FileSystem()),
    ):  # fmt: skip
        numbers = [f.name for f in fields(part) if isinstance(getattr(part, f.name), int | float)]
        for name in set(numbers) - no_quantities:
            key = re.sub("_n?s$", "_us", name)
            assert parameter(f"{table}.{key}").get(vary(uses_all, {f"{table}.{key}": 3})) == pytest.approx(3)


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("fcfs", "slice"), ("fixed", "scheduling.slice_us"), ("cp-fifo", "slice"), ("boost2", "slice"),
        ("svr4", "slice"), ("fcfs", "least_run"), ("rr", "scheduling.tick_us"), ("fixed", "scheduling.decay_us"),
    ],
)  # fmt: skip
def test_what_the_policy_does_not_use_is_not_varied(policy, name):
    """First come, first served with a slice would be round robin."""
    with pytest.raises(TracelibError, match=f"{name}: the machine's scheduling policy"):
        vary(Machine(scheduling=policy_of({"policy": policy})), {name: 1e-3})


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_policy_can_be_varied_in_what_its_file_may_say(policy):
    machine = Machine(scheduling=policy_of({"policy": policy}))
    for key in _TABLES["scheduling"]:
        if key in options_of(policy):
            assert parameter(f"scheduling.{key}").get(vary(machine, {f"scheduling.{key}": 3})) == pytest.approx(3)
        else:
            with pytest.raises(TracelibError):
                vary(machine, {f"scheduling.{key}": 3})


def test_nodes_that_differ_and_distributions_keep_their_proportions():
    machine = Machine(nodes=(Node(speed=1.0), Node(speed=3.0)))
    assert parameter("speed").get(machine) == 2
    assert [n.speed for n in vary(machine, {"speed": 4}).nodes] == [2, 6]
    for law, doubled, mean in (
        (UniformNumber(1, 3), UniformNumber(2, 6), 2),
        (GaussianNumber(2, 1), GaussianNumber(4, 2), 2),
        (ExponentialNumber(1, 3), ExponentialNumber(2, 6), 4),
    ):
        random = Machine(node=Node(latency_s=law))
        assert parameter("latency").get(random) == mean
        assert vary(random, {"latency": 2 * mean}).node.latency_s == doubled
        assert vary(random, {"latency": 0}).node.latency_s == 0


def test_nothing_in_proportion_to_nothing():
    """A latency of 0 stays 0 beside one that grows; of rates one that is infinite has no proportion to others."""
    nodes = vary(Machine(nodes=(Node(latency_s=0.0), Node(latency_s=2e-6))), {"latency": 4e-6}).nodes
    assert [node.latency_s for node in nodes] == [0, pytest.approx(8e-6)]
    rates = Machine(networks=(Network(0.0), Network(100.0)))
    assert parameter("bandwidth").get(rates) == math.inf
    assert [n.bandwidth_mb for n in vary(rates, {"bandwidth": 50 * MB}).networks] == [50, 50]


@pytest.mark.parametrize(
    ("machine", "path", "there"),
    [
        (Machine(nodes=(Node(), Node())), "node.2.speed", 2),
        (Machine(), "node.0.speed", 0),
        (Machine(), "network.1.buses", 1),
    ],
)
def test_a_part_that_is_not_there(machine, path, there):
    """A machine without nodes of their own names none."""
    for use in (parameter(path).get, lambda machine: vary(machine, {path: 2})):
        with pytest.raises(TracelibError, match="does not exist") as error:
            use(machine)
        assert error.value.hint == f"the machine has {there}, and the first one is 0"


def way(machine, size):
    """ns from sending to arrival, and how long the sender's CPU was taken."""
    send = {"kind": OperationKind.SEND, "peer": 1, "bytes": size, "flags": OperationFlag.IMMEDIATE}
    program = Program.from_streams(
        [operations(send), operations({"kind": OperationKind.RECV, "peer": 0, "bytes": size})]
    )
    found = simulate(program, Machine(**{**vars(machine), "dialect": "thesis"}), times=True)
    return found.end_ns, int(found.times["end"][0])


def test_a_measured_network_keeps_its_shape():
    """Later by the same, and stretched beyond the smallest message: 100 + 2000 + 1000; 200 + 5000 + 2 * 8192."""
    assert [way(MEASURED, s) for s in (1000, 8192)] == [(3100, 100), (21584, 200)]
    assert [parameter(n).get(MEASURED) for n in ("latency", "send_overhead", "bandwidth")] == [2e-6, 1e-7, 5e8]
    later = vary(MEASURED, {"latency": 5e-6, "send_overhead": 4e-7})
    assert [way(later, s) for s in (1000, 8192)] == [(6400, 400), (24884, 500)]
    wide = vary(MEASURED, {"bandwidth": 1e9})
    assert parameter("bandwidth").get(wide) == 1e9
    assert [way(wide, s) for s in (1000, 8192)] == [(2600, 100), (200 + 2000 + 1500 + 8192, 200)]
    inside = vary(Machine(node=Node(cpus=2, intra=MEASURED.networks[0].pieces)), {"intra_latency": 5e-6})
    inside = vary(inside, {"intra_bandwidth": 1e9, "intra_send_overhead": 4e-7})
    assert [way(inside, s) for s in (1000, 8192)] == [(5900, 400), (500 + 5000 + 1500 + 8192, 500)]
    assert [way(vary(MEASURED, {"bandwidth": math.inf}), s)[0] for s in (1000, 8192)] == [2100, 2200]


def test_values_as_people_write_them():
    cases = {
        "latency=5us": 5e-6, "latency=1e-6s": 1e-6, "bandwidth=100MB/s": 100 * MB, "latency=0": 0,
        "buses=inf": math.inf, "bandwidth=2GiB/s": 2048 * MB, "eager=4KiB": 4096,
        "eager=32k": 32768, "node.latency_us=5": 5, "node.latency_us=1ms": 1000,
        "network.bandwidth_mb=1GB/s": 1024,
        "speed = 1.5": 1.5, "cpus=2": 2,
    }  # fmt: skip
    for text, value in cases.items():
        found, read = setting_of(text)
        assert (found.name, read) == (text.split("=")[0].strip(), pytest.approx(value))


@pytest.mark.parametrize(
    "text, says",
    [
        ("latncy=1", "did you mean latency"), ("latency", "NAME=VALUE"), ("latency=5 furlongs", "ns, us, ms, s)"),
        ("latency=-1", "a number"), ("latency=5", "ns, us, ms, s)"), ("bandwidth=100", "with a unit (B/s"),
        ("buses=1.5", "whole number"), ("cpus=0", "at least 1"), ("cpus=inf", "finite"),
        ("speed=0", "more than 0"), ("latency=inf", "finite"),
        ("buses=99999999999", "up to 2147483647"), ("send_overhead=1us", "no parameter for the overhead"),
        ("node.3.speed=2", "does not exist"), ("node.color=2", "no parameter"),
        ("wan.1.bandwidth_mb=2", "no parameter"),
    ],
)  # fmt: skip
def test_mistakes(text, says):
    with pytest.raises(TracelibError) as caught:
        found, value = setting_of(text)
        found.set(Machine.ideal(), value)
    assert says in f"{caught.value} {caught.value.hint}"


def test_ranks_that_poll_wait_for_ever():
    """It can be read and bounded, not asked for: that needs a slice."""
    spins = machine_of({"scheduling": {"policy": "rr", "busy_wait_us": "inf"}})
    assert parameter("busy_wait").get(spins) == parameter("scheduling.busy_wait_us").get(spins) == math.inf
    assert vary(spins, {"busy_wait": 1e-6}).scheduling.busy_wait_ns == 1000
    with pytest.raises(TracelibError, match="busy_wait = inf"):
        vary(spins, {"busy_wait": math.inf})


def test_eager_is_the_traces_until_it_is_set():
    assert math.isnan(PARAMETERS["eager"].get(Machine.ideal()))
    assert vary(Machine.ideal(), {"eager": 0}).eager_limit == 0
    assert value_of(PARAMETERS["eager"], "1M") == MB
