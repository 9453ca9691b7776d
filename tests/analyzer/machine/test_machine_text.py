"""A machine written as TOML is the same machine when it is read."""

import tomllib
from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.machine.description import (
    COLLECTIVE_NAMES,
    DIALECTS,
    TABLE_9,
    CollectiveModel,
    CostPiece,
    ExponentialNumber,
    FileSystem,
    GaussianNumber,
    Machine,
    Network,
    Node,
    PhaseModel,
    PhaseSize,
    UniformNumber,
)
from analyzer.machine.policies import POLICIES, options_of, policy_of
from analyzer.machine.read_toml import TABLES, machine_of
from analyzer.machine.write_toml import machine_text

number = st.just(0.0) | st.floats(1e-9, 1e6)
whole = st.integers(0, 9)
uniform = st.tuples(number, number).map(lambda ends: UniformNumber(*sorted(ends)))
drawn = uniform | st.builds(GaussianNumber, number, number) | st.builds(ExponentialNumber, number, number)
quantity, count = number | drawn, whole | drawn
piece = st.tuples(*[number] * 6)
pieces = st.lists(st.tuples(st.integers(1, 10**9), piece), max_size=3, unique_by=lambda row: row[0]).map(
    lambda rows: tuple(CostPiece(size, *costs) for size, costs in [(0, (1.0,) * 6), *sorted(rows)])
)
maybe_pieces = st.just(()) | pieces
node = st.builds(
    Node, st.integers(1, 9) | drawn, quantity, quantity, quantity, quantity, quantity, count, count, st.booleans(),
    count, count, count, whole, maybe_pieces,
)  # fmt: skip
row = st.builds(CollectiveModel, *[st.sampled_from(kind) for kind in (PhaseModel, PhaseSize, PhaseModel, PhaseSize)])
rows = st.dictionaries(st.sampled_from(COLLECTIVE_NAMES), row)
tables = st.sampled_from([table() for table in TABLES.values()])
collectives = st.none() | rows.filter(bool) | st.builds(lambda table, other: {**table, **other}, tables, rows)


def used(policy):
    """The options that the policy uses; svr4 begins in a level that it has."""
    found = {key: value for key, value in policy.items() if key in options_of(policy["policy"])}
    if found.get("base", 0) >= len(found.get("levels", range(10))):
        del found["base"]
    return found


policy = st.fixed_dictionaries({"policy": st.sampled_from([*POLICIES])}, optional={
    "slice_us": st.integers(0, 10**6).map(lambda ns: ns / 1000) | st.just({"uniform": [0.3, 7]}),
    "preemptive": st.booleans(), "base": st.integers(0, 5), "least_run_us": whole,
    "context_switch_us": whole, "levels": st.sampled_from([[[1.5, 1, 0], [2, 1, 1]], [[{"gaussian": [3, 1]}, 0, 0]]]),
    "tick_us": whole | st.just({"exponential": [0.5, 2]}),
    "priorities": st.sampled_from([[], [3], [0, [1, -2]]]),
}).map(used)  # fmt: skip
files = st.none() | st.builds(FileSystem, quantity, quantity, quantity, count, st.integers(0, 1 << 20), *[quantity] * 3)
networks = st.lists(st.builds(Network, quantity, count, maybe_pieces), min_size=1, max_size=2).map(tuple)
machines = st.builds(
    Machine,
    nodes=st.lists(node, max_size=3).map(tuple),
    networks=networks,
    wan_bandwidth_mb=quantity,
    mapping=st.sampled_from(["fill", "round-robin", (0, 1, 1)]),
    mappings=st.sampled_from([(), ((0, 1),), ("fill", (1, 0, 1))]),
    dialect=st.sampled_from(DIALECTS),
    collectives=collectives,
    scheduling=policy.map(policy_of),
    eager_limit=st.none() | st.integers(0, 1 << 40) | drawn,
    synchronous=st.booleans(),
    matching=st.sampled_from(["sending", "arrival"]),
    seed=st.integers(0, 1 << 62),
    files=files,
)


@given(machine=machines, template=node, plain=st.booleans())
@settings(max_examples=60)
def test_round_trip(machine, template, plain):
    if plain:
        machine = Machine(node=template, networks=machine.networks)
    machine = sound(machine)
    assert same(machine_of(tomllib.loads(machine_text(machine))), machine)


def sound(machine: Machine) -> Machine:
    """Its nodes are in networks that exist, and its mappings name nodes that do."""

    def node(of: Node) -> Node:
        return replace(of, network=of.network % len(machine.networks))

    def mapping(of):
        return of if isinstance(of, str) or not machine.nodes else tuple(k % len(machine.nodes) for k in of)

    return replace(
        machine, node=node(machine.node), nodes=tuple(map(node, machine.nodes)), mapping=mapping(machine.mapping),
        mappings=tuple(map(mapping, machine.mappings)),
    )  # fmt: skip


def same(a, b):
    """Equal, but for a bit of numbers that stand in us in the file."""
    if isinstance(a, float):
        return a == pytest.approx(b, rel=3e-16, abs=0)
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def test_text():
    """The text has nothing that is the default of an empty file."""
    machine = Machine(
        node=Node(cpus=2, latency_s=8e-6),
        networks=(Network(200.0, 4),),
        collectives={**TABLE_9, "Scan": TABLE_9["Bcast"]},
    )
    assert machine_text(machine).split("\n\n") == [
        'dialect = "standard"',
        "[[network]]\nbandwidth_mb = 200.0\nbuses = 4",
        "[node]\ncpus = 2\nlatency_us = 8.0",
        '[collectives]\ndefault = "table-9"\nScan = "LOG MAX 0 MAX"\n',
    ]


@pytest.mark.parametrize(
    "given, says",
    [
        ([[0, 1, 2]], "from_bytes, cpu"),
        ([], "from_bytes, cpu"),
        ([[5, 0, 0, 0, 0, 0, 0]], "increase from 0"),
        ([[0, 0, 0, 0, 0, 0, "x"]], "costs in ns"),
        (3, "costs in ns"),
    ],
)
def test_mistakes_in_pieces(given, says):
    for table in ({"network": {"pieces": given}}, {"node": {"intra_pieces": given}}):
        with pytest.raises(TracelibError) as error:
            machine_of(table)
        assert says in f"{error.value} {error.value.hint}"
