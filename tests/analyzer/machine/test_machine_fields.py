"""Machine files: TOML and Dimemas .cfg, read, written, and refused with the line that is wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.machine.cfg_collectives import read_collectives
from analyzer.machine.description import (
    SPIN,
    TABLE_9,
    CollectiveModel,
    CostPiece,
    ExponentialNumber,
    GaussianNumber,
    Machine,
    Network,
    Node,
    PhaseModel,
    PhaseSize,
    PrioritySource,
    UniformNumber,
    simple_collectives,
)
from analyzer.machine.policies import POLICIES, options_of, policy_of
from analyzer.machine.read_cfg import CfgModule, read_cfg
from analyzer.machine.read_toml import machine_of, read_toml
from analyzer.machine.write_cfg import cfg_text
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay.simulate import simulate

CLUSTER = """
dialect = "thesis"
mapping = [0, 0, 1, 2]
eager_limit = "32k"
seed = 7

[network]
bandwidth_mb = 100
buses = 4

[[node]]
count = 2
cpus = 2
latency_us = 10
intra_latency_us = { uniform = [1, 2] }
intra_bandwidth_mb = "inf"

[[node]]
speed = 0.5
links_out = 1
links_in = 1
latency_us = { gaussian = [10, 1] }
wan_latency_us = { exponential = [5, 2] }

[collectives]
default = "table-9"
Bcast = "LIN MAX CTE S+R"

[scheduling]
policy = "rr"
slice_us = 500
context_switch_us = 2
"""


def test_toml(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(CLUSTER)
    machine = read_toml(path)
    first, second, third = machine.nodes
    assert first == second == Node(cpus=2, latency_s=1e-5, intra_latency_s=UniformNumber(1e-6, 2e-6))
    assert (third.speed, third.links_out, third.links_in) == (0.5, 1, 1)
    assert third.latency_s == GaussianNumber(1e-5, 1e-6)
    assert third.wan_latency_s == ExponentialNumber(5e-6, 2e-6)
    assert machine.networks == (Network(100.0, 4),)
    assert machine.place(4) == [0, 0, 1, 2]
    assert (machine.dialect, machine.eager_limit, machine.seed) == ("thesis", 32768, 7)
    assert machine.collectives["Bcast"] == CollectiveModel(
        PhaseModel.LINEAR, PhaseSize.MAX, PhaseModel.CONSTANT, PhaseSize.SUM
    )
    assert machine.collectives["Barrier"] == TABLE_9["Barrier"]
    assert (machine.scheduling.slice_ns, machine.scheduling.context_switch_ns) == (500_000, 2000)


def test_an_empty_file_is_the_ideal_machine():
    assert machine_of({}) == Machine.ideal()


def test_one_node_is_the_pattern_of_all():
    machine = machine_of({"node": {"cpus": 4, "latency_us": 3}})
    assert machine.with_nodes(3) == (Node(cpus=4, latency_s=3e-6),) * 3


@pytest.mark.parametrize(
    "given, says",
    [
        ({"node": {"latency_us": float("inf")}}, "latency_us = inf"),
        ({"dialekt": "thesis"}, "did you mean dialect"),
        ({"dialect": "extrae"}, "standard, dimemas-5.5, thesis"),
        ({"node": {"latency": 3}}, "did you mean latency_us"),
        ({"node": {"cpus": -1}}, "number from 0"),
        ({"node": {"cpus": 1.5}}, "whole number"),
        ({"node": {"cpus": 0}}, "whole number from 1"),
        ({"node": {"cpus": "inf"}}, "whole number from 1"),
        ({"node": [{"cpus": 2}, {"cpus": 0}]}, "whole number from 1"),
        ({"node": {"speed": {"normal": [1, 2]}}}, "uniform"),
        ({"network": 3}, "not a table"),
        ({"mapping": "random"}, "round-robin"),
        ({"eager_limit": "lots"}, "32k"),
        ({"collectives": {"default": "fast"}}, "table-9"),
        ({"collectives": {"Bcast": "LOG MAX"}}, "four words"),
        ({"collectives": {"Bcasts": "LOG MAX 0 MAX"}}, "did you mean Bcast"),
        ({"scheduling": {"policy": "fair"}}, "fcfs, rr"),
        ({"scheduling": {"slice": 3}}, "slice_us"),
        ({"scheduling": {"policy": "rr", "slice_us": "long"}}, "a number"),
        ({"scheduling": {"policy": "rr", "slice_us": float("inf")}}, "a number"),
        ({"scheduling": {"policy": "fixed", "preemptive": "no"}}, "true or false"),
        ({"scheduling": {"policy": "svr4", "levels": 3}}, "list of rows"),
        ({"scheduling": {"policy": "svr4", "levels": [[1, "a", 0]]}}, "a row is"),
        ({"scheduling": {"policy": "svr4", "levels": [[1, 0, 0]], "base": 1}}, "there are 1 levels"),
        ({"scheduling": {"policy": "svr4", "levels": []}}, "there are 0 levels"),
        ({"network": {"buses": 10**26}}, "from 0 to 2147483647"),
        ({"node": {"cpus": 1e30}}, "from 1 to 2147483647"),
        ({"node": [{"count": 0}]}, "from 1 to 1048576"),
        ({"node": [{"count": 2_000_000_000}]}, "from 1 to 1048576"),
        ({"node": {"half_duplex": "no"}}, "true or false"),
        ({"synchronous": "no"}, "true or false"),
        ({"seed": "x"}, "whole number"),
        ({"seed": 1.5}, "whole number"),
        ({"node": {"latency_us": {"uniform": [6, 4]}}}, "uniform = [low, high]"),
        ({"node": {"speed": {"exponential": [1, "inf"]}}}, "both numbers must be finite"),
    ],
)
def test_mistakes_in_toml(given, says):
    with pytest.raises(TracelibError) as error:
        machine_of(given)
    assert says in f"{error.value} {error.value.hint}"


def test_a_broken_file_says_where(tmp_path):
    (tmp_path / "m.toml").write_text("[node\ncpus = 1\n")
    with pytest.raises(TracelibError, match=r"m\.toml.*line 1"):
        read_toml(tmp_path / "m.toml")
    with pytest.raises(TracelibError, match="cannot read"):
        read_toml(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    "text, says",
    [
        ("[node]\nnetwork = 1\n", r"m\.toml: \[node\] network = 1, but there are 1"),
        (
            "[[node]]\n[[node]]\nnetwork = 2\n[[network]]\n[[network]]\n",
            r"m\.toml: \[node\] network = 2, but there are 2",
        ),
        ("mapping = [0, 2]\n[[node]]\ncount = 2\n", r"m\.toml: the mapping names node 2, but there are 2"),
        (
            "[[node]]\ncount = 1\n[[application]]\n[[application]]\nmapping = [-1]\n",
            r"m\.toml: the mapping names node -1",
        ),
    ],
)
def test_what_is_named_but_not_there(text, says, tmp_path):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(TracelibError, match=says):
        read_toml(tmp_path / "m.toml")


def test_ranks_of_a_pattern_of_nodes_go_where_they_are_mapped():
    """[node] alone is as many nodes as there are ranks: which mappings are possible, depends on the run."""
    machine = machine_of({"mapping": [2, 0, 1], "node": {"network": 1}, "network": [{}, {}]})
    assert machine.place(3) == [2, 0, 1]
    with pytest.raises(TracelibError, match="names node 2, but there are 2"):
        machine.place(2)
    with pytest.raises(TracelibError, match="the machine's mapping has nodes for 3 of 4 ranks"):
        machine.place(4)


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_runs(name):
    """Two threads of 5 ms share a CPU; every policy takes 10 ms without switching costs."""
    machine = Machine(nodes=(Node(),), mapping=(0, 0), scheduling=policy_of({"policy": name}))
    program = Program.from_streams([operations({"kind": OperationKind.NONE, "burst": 5_000_000})] * 2)
    assert simulate(program, machine).end_ns >= 10_000_000
    assert simulate(program, machine).usage["end"].max() == 10_000_000


def test_who_polls_takes_turns():
    assert policy_of({"policy": "rr", "busy_wait_us": "inf"}).busy_wait_ns == SPIN
    with pytest.raises(TracelibError, match="gives no turns"):
        policy_of({"busy_wait_us": "inf"})


def test_options_of_a_policy():
    policy = policy_of({"policy": "svr4", "levels": [[10, 1, 0], [20, 1, 0]], "base": 1, "least_run_us": 3})
    assert policy.priority == PrioritySource.SVR4
    assert [level.quantum_ns for level in policy.levels] == [10_000, 20_000]
    assert policy.least_run_ns == 3000


@pytest.mark.parametrize("name", POLICIES)
def test_options_that_a_policy_does_not_use_are_refused(name):
    """A slice is not silently round robin: policies that differ in `policy` only differ in what they do, or are
    refused."""
    values = {
        "slice_us": 1000, "preemptive": True, "least_run_us": 3, "priorities": [1], "levels": [[1, 0, 0]], "tick_us": 5,
        "receiver_first": 1, "best": 0, "base": 0,
    }  # fmt: skip
    for key, value in values.items():
        if key in options_of(name):
            assert policy_of({"policy": name, key: value}) is not None
        else:
            with pytest.raises(TracelibError, match=f'policy "{name}" does not use {key}') as error:
                policy_of({"policy": name, key: value})
            assert str(error.value.hint).startswith("leave it out; it is used by ")
    turns = name in ("rr", "decay") or "-rr" in name
    assert ("slice_us" in options_of(name)) == turns == bool(policy_of({"policy": name}).slice_ns)


CFG = """#DIMEMAS_CONFIGURATION
/* a comment
   of two lines */
"wide area network information" {"", 1, 0, 4, 0.0, 2.5, 1};;
"environment information" {"", 0, "", 3, 100.0, 8, 1};;
// no record
"multi node information" {0, 2, "", 4, 1.0, 1e-6, 200.0, 1, 1, 0, 1e-5, 1, 1, 0.0};;
"node information" {0, "", 1, 2.0, 0.0, 0.0, 0, 0, 0, 2e-5, 0, 1, 0.0};;
"mapping information" {"a.dim", 4, [4] {0, 0, 1, 2}};;
"configuration files" {"", "", "comm.cfg", ""};;
"modules information" {60000019, 2, 0.5};;
"file system parameters" {0.0, 0.0, 8.0, 0, 1.0};;
"""


def test_cfg(tmp_path):
    """MB of 2^20, ratios divisive, also of modules; no links are as many as wanted, of one kind only half duplex."""
    (tmp_path / "m.cfg").write_text(CFG)
    (tmp_path / "comm.cfg").write_text("11 LOG MAX LOG MAX 0.0\n8 LIN MIN LIN 2MAX 0\n")
    found = read_cfg(tmp_path / "m.cfg")
    machine = found.machine
    assert found.modules == (CfgModule(60000019, 2, 2.0),)
    assert machine.networks == (Network(100.0, 8),)
    assert machine.wan_bandwidth_mb == 2.5
    first, _, third = machine.nodes
    assert (first.cpus, first.intra_bandwidth_mb, first.links_in, first.half_duplex) == (4, 200.0, 1, False)
    assert (third.speed, third.links_in, third.links_out, third.half_duplex) == (2.0, 1, 1, True)
    assert machine.place(4) == [0, 0, 1, 2]
    assert machine.collectives["Alltoall"] == CollectiveModel(
        PhaseModel.LINEAR, PhaseSize.MIN, PhaseModel.LINEAR, PhaseSize.TWICE_MAX
    )
    assert machine.collectives["Barrier"] == CollectiveModel(in_size=PhaseSize.PHASE, out_size=PhaseSize.PHASE)
    assert machine.dialect == "dimemas-5.5"


@pytest.mark.parametrize(
    "line, says",
    [
        ('"node information" {0, "", 1, 2.0};;', ", line 9: 'node information' has 4 fields"),
        (
            '"node information" {0, "", 1, fast, 0.0, 0.0, 0, 0, 0, 2e-5, 0, 1, 0.0};;',
            ", line 9: 'fast' is not a number",
        ),
        ('"nod information" {1};;', ", line 9: record 'nod information' is not known"),
        ('"modules information" {1, 2, 3.0}', ", line 9: not a record"),
        (
            '"mapping information" {"", 3, [3] {0, 0}};;',
            ", line 9: \\[3\\] does not announce the 2 values",
        ),
        ('"predefined mapping information" {"SOMEHOW"};;', ", line 9: mapping 'SOMEHOW'"),
        ('"environment information" {"", 1, "", 1, 1.0, 0, 7};;', ", line 9: collective model 7"),
        ('"environment information" {"", 0, "", 3, 1.0, 0, 1};;', ", line 9: environment 0 is described twice"),
        (
            '"environment information" {"", 1, "", 0, -1.0, 0, 1};;',
            ", line 9: -1 .it is field 5 of 'env",
        ),
        ('"environment information" {"", 1, "", 0, nan, 0, 1};;', ", line 9: nan .it is field 5"),
        ('"environment information" {"", 1, "", 0, 1.0, inf, 1};;', ", line 9: inf .it is field 6"),
        (
            '"environment information" {"", 1, "", 0, 1.0, 1e30, 1};;',
            ", line 9: 1e\\+30 .* a whole number from 0 to 2147",
        ),
        ('"node information" {0, "", 1.5, 1.0, 0, 0, 0, 0, 0, 2e-5, 0, 1, 0};;', ", line 9: 1.5 .it is field 3"),
        ('"node information" {0, "", nan, 1.0, 0, 0, 0, 0, 0, 2e-5, 0, 1, 0};;', ", line 9: nan .it is field 3"),
        ('"node information" {0, "", 1, -1, 0, 0, 0, 0, 0, 2e-5, 0, 1, 0};;', ", line 9: -1 .it is field 4"),
        ('"node information" {0, "", 1, 1, 0, 0, 0, 0, 0, -2e-5, 0, 1, 0};;', ", line 9: -2e-05 .it is field 10"),
        ('"node information" {7, "", 1, 1, 0, 0, 0, 0, 0, 2e-5, 0, 1, 0};;', ", line 9: there is no environment 7"),
        (
            '"multi node information" {0, 2000000000, "", 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0};;',
            ", line 9: more than 1048576",
        ),
        ('"multi node information" {0, -4, "", 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0};;', ", line 9: -4 .it is field 2"),
        ('"mapping information" {"", 2, [2] {0, -1}};;', ", line 9: '-1' is not a number of the list"),
        ('"mapping information" {"", 2, [2] {0, 9}};;', ", line 9: the mapping names node 9, but there are 3"),
        ('"predefined mapping information" {"0 TASKS_PER_NODE"};;', ", line 9: mapping '0 TASKS_PER_NODE'"),
        ('"predefined mapping information" {"99999999999 TASKS_PER_NODE"};;', ", line 9: mapping '99999999999 TASKS"),
        (
            '"configuration files" {"", "", "", "random.cfg"};;',
            ", line 9: files of random values are not read: 'random.cfg'",
        ),
        ('"modules information" {1e30, 1, 2.0};;', ", line 9: 1e\\+30 .it is field 1"),
        ('"modules information" {1, 1, inf};;', ", line 9: inf .it is field 3"),
        (
            '"dedicated connection information" {0, 0, 1, 10.0, [1] {1}, 0, ">", "&", 0, ">", [1] {1}, 0.0, 0.0};;',
            ", line 9: dedicated connections are not simulated",
        ),
    ],
)
def test_malformed_lines_have_their_number(tmp_path, line, says):
    lines = CFG.splitlines()
    lines.insert(8, line)
    (tmp_path / "m.cfg").write_text("\n".join(lines))
    (tmp_path / "comm.cfg").write_text("")
    with pytest.raises(TracelibError, match=says):
        raise_as_shown(tmp_path / "m.cfg")


def raise_as_shown(path):
    """Raise the error with its hint, as the command line prints it."""
    try:
        read_cfg(path)
    except TracelibError as error:
        raise TracelibError(f"{error} ({error.hint})", "") from error


@pytest.mark.parametrize(
    "line, says",
    [
        ("16 LOG MAX 0 MAX 0", "line 3: operation 16 is not known"),
        (f"{'9' * 5000} LOG MAX 0 MAX 0", "line 3: operation 9999"),
        ("\u00b2 LOG MAX 0 MAX 0", "line 3: operation \u00b2 is not known"),
        ("-1 LOG MAX 0 MAX 0", "line 3: operation -1 is not known"),
        ("MPI_Bcast LOG MAX 0 MAX 0", "line 3: operation MPI_Bcast is not known"),
        ("1 LOGARITHMIC MAX 0 MAX 0", "line 3: operation 1 = 'LOGARITHMIC MAX 0 MAX'"),
        ("1", "line 3: operation 1 = ''"),
        ("1 LOG MAX 0 MAX all", "line 3: 'all' behind"),
        ("1 LOG MAX 0 MAX 0 0", "line 3: '0 0' behind"),
        ("operation model size", "line 3: operation operation is not known"),
        ("Machine globalop: 0 0 LOG MAX 0", "line 3: operation 0 = 'LOG MAX 0'"),
        ("Machine globalop: 0 0 BLUB MAX 0 MAX", "line 3: operation 0 = 'BLUB MAX 0 MAX'"),
        ("Machine globalop: 0 16 LOG MAX 0 MAX", "line 3: operation 16 is not known"),
        ("Machine globalop: all 0 LOG MAX 0 MAX", "line 3: 'all' is no machine"),
        ("Machine globalop: 0 0 LOG MAX 0 MAX 0", "line 3: '0' behind"),
        ("Machine globalop:", "line 3: '' is no machine"),
        ("External globalop: 0 LOG 3MAX 0 MAX", "line 3: operation 0 = 'LOG 3MAX 0 MAX'"),
        ("Global globalop: 0 0 LOG MAX 0 MAX", "line 3: operation Global is not known"),
        ("Machine policy: 0 RR", "line 3: policies of sending are not simulated"),
        ("Quantum size (bytes): 100", "line 3: quanta of sending are not simulated"),
        ("Flight time: 0 0.0 0.001", "line 3: times of flight are not simulated"),
    ],
)
def test_malformed_lines_of_collectives_have_their_number(tmp_path, line, says):
    """Comments and empty lines are none; Dimemas passes over all lines that it does not know."""
    (tmp_path / "comm.cfg").write_text(f"# 0 LIN\n\n{line}\n")
    with pytest.raises(TracelibError, match=says):
        read_collectives(tmp_path / "comm.cfg")


def test_a_node_of_older_dimemas(tmp_path):
    """Before version 4: machine, node, architecture, CPUs, links in and out, latencies, speed, memory's bandwidth."""
    (tmp_path / "m.cfg").write_text(
        "SDDFA\n"
        '"environment information" {"", 0, "", 1, 100.0, 0, 1};;\r\n'
        '"node information" {0, 0, "", 4, 1, 2, 1e-6, 1e-5, 2.0, 300.0, 0.5};;'
    )
    (node,) = read_cfg(tmp_path / "m.cfg").machine.nodes
    assert node == Node(
        cpus=4, links_in=1, links_out=2, intra_latency_s=1e-6, latency_s=1e-5, speed=2.0, intra_bandwidth_mb=300.0,
        wan_latency_s=0.5, intra_buses=4, intra_links_in=1, intra_links_out=1,
    )  # fmt: skip


def test_what_concerns_no_operation_is_read_over(tmp_path):
    """Accelerators, and architectures that nobody quoted, which Dimemas takes."""
    lines = CFG.replace('{0, "", 1, 2.0', "{0, opteron, 1, 2.0") + (
        '"accelerator node information" {0, 0, 0.0, 0.0, 0.0, 1, 1.0};;\n'
    )
    (tmp_path / "m.cfg").write_text(lines)
    (tmp_path / "comm.cfg").write_text("")
    assert read_cfg(tmp_path / "m.cfg").machine.nodes[2].speed == 2.0


def test_nodes_must_be_as_many_as_announced(tmp_path):
    (tmp_path / "m.cfg").write_text(CFG.replace('"", 3, 100.0', '"", 5, 100.0'))
    (tmp_path / "comm.cfg").write_text("")
    with pytest.raises(TracelibError, match="announces 5 nodes, 3 are described"):
        read_cfg(tmp_path / "m.cfg")


@pytest.mark.parametrize(
    "predefined, nodes", [("2 TASKS_PER_NODE", [0, 0, 1, 1]), ("INTERLEAVED", [0, 1, 2, 0]), ("FILL_NODES", [0] * 4)]
)
def test_predefined_mappings(tmp_path, predefined, nodes):
    lines = [line for line in CFG.splitlines() if "mapping" not in line and "configuration files" not in line]
    lines.append(f'"predefined mapping information" {{"{predefined}"}};;')
    (tmp_path / "m.cfg").write_text("\n".join(lines))
    assert read_cfg(tmp_path / "m.cfg").machine.place(4) == nodes


numbers = st.integers(0, 50) | st.floats(0, 1e4, allow_nan=False)
nodes = st.builds(
    lambda links, **more: Node(links_in=links[0], links_out=links[1], half_duplex=links[2], **more),
    links=st.sampled_from([(0, 0, False), (1, 1, False), (2, 3, False), (2, 2, True)]),
    cpus=st.integers(1, 64), speed=st.floats(0.01, 100), latency_s=numbers, intra_latency_s=numbers,
    intra_bandwidth_mb=numbers, wan_latency_s=numbers, intra_buses=st.integers(0, 9),
)  # fmt: skip
sizes = st.sampled_from([size for size in PhaseSize if size != PhaseSize.PHASE])
models = st.builds(CollectiveModel, *[st.sampled_from(PhaseModel), sizes] * 2)


@settings(max_examples=60)
@given(st.lists(nodes, min_size=1, max_size=4), numbers, st.integers(0, 9), models)
def test_what_is_written_as_cfg_is_read_again(tmp_path_factory, nodes, bandwidth, buses, model):
    folder = tmp_path_factory.mktemp("cfg")
    ranks = len(nodes) + 1
    machine = Machine(
        nodes=tuple(nodes), networks=(Network(bandwidth, buses),), mapping=tuple(k % len(nodes) for k in range(ranks)),
        collectives={"Reduce": model},
    )  # fmt: skip
    text, collectives = cfg_text(machine, ranks)
    (folder / "m.cfg").write_text(text)
    if collectives:
        (folder / "collectives.cfg").write_text(collectives)
    found = read_cfg(folder / "m.cfg").machine
    assert found.nodes == machine.nodes
    assert (found.networks, found.place(ranks)) == (machine.networks, machine.place(ranks))
    assert found.collectives["Reduce"] == model
    assert found.collectives["Bcast"] == CollectiveModel(in_size=PhaseSize.PHASE, out_size=PhaseSize.PHASE)


@pytest.mark.parametrize(
    ("says", "machine"),
    [
        ("random", Machine(node=Node(speed=UniformNumber(1, 2)))),
        ("random", Machine(networks=(Network(buses=UniformNumber(1, 2)),))),
        ("measured", Machine(networks=(Network(pieces=(CostPiece(0, wire=5),)),))),
        ("measured", Machine(node=Node(intra=(CostPiece(0, wire=5),)))),
        ("one direction", Machine(node=Node(links_in=1))),
        ("one direction", Machine(node=Node(links_out=2))),
        ("one direction", Machine(node=Node(intra_links_out=2))),
        ("scheduling", Machine(scheduling=policy_of({"policy": "rr"}))),
        ("eager", Machine(eager_limit=1024)),
        ("synchronous", Machine(synchronous=True)),
        ("thesis", Machine(dialect="thesis")),
        ("largest", Machine(collectives=simple_collectives(PhaseModel.LOG))),
    ],
)
def test_what_a_cfg_cannot_say_is_refused(says, machine):
    """A machine that would be read as another one is refused."""
    with pytest.raises(TracelibError, match=f"a .cfg has no .*{says}"):
        cfg_text(machine, 2)


def test_a_half_duplex_link_is_said(tmp_path):
    text, collectives = cfg_text(Machine(nodes=(Node(cpus=1, links_in=2, links_out=2, half_duplex=True),)), 1)
    (tmp_path / "m.cfg").write_text(text)
    (tmp_path / "collectives.cfg").write_text(collectives)
    (node,) = read_cfg(tmp_path / "m.cfg").machine.nodes
    assert (node.links_in, node.links_out, node.half_duplex) == (2, 2, True)


TWO_MACHINES = """#DIMEMAS_CONFIGURATION
"wide area network information" {"", 2, 0, 4, 0.0, 5.0, 1};;
"environment information" {"", 0, "", 1, 100.0, 0, 1};;
"environment information" {"", 1, "", 1, 100.0, 0, 3};;
"multi node information" {0, 1, "", 1, 1.0, 0.0, 0.0, 0, 1, 0, 1e-5, 1, 1, 0.0};;
"multi node information" {1, 1, "", 1, 1.0, 0.0, 0.0, 0, 1, 0, 1e-5, 1, 1, 0.0};;
"configuration files" {"", "", "comm.cfg", ""};;
"""
ONE_MACHINE = "".join(
    line for line in TWO_MACHINES.splitlines(True) if ' {"", 1,' not in line and " {1, 1," not in line
)


def test_a_name_of_a_file_that_no_file_has(tmp_path):
    with pytest.raises(TracelibError, match="cannot read"):
        collectives_of(tmp_path, ONE_MACHINE.replace("comm.cfg", "comm\0.cfg"), "")


def collectives_of(tmp_path, machine, lines):
    (tmp_path / "comm.cfg").write_text(lines)
    (tmp_path / "m.cfg").write_text(machine)
    return read_cfg(tmp_path / "m.cfg").machine.collectives


def test_all_forms_of_lines_of_collectives_say_the_same(tmp_path):
    """With one machine, whatever is between machines is nowhere; the last line of an operation counts."""
    log = CollectiveModel(PhaseModel.LOG, PhaseSize.MAX, PhaseModel.NONE, PhaseSize.MAX)
    lines = ("0 LOG MAX 0 MAX 0", "Machine globalop: 0 0 LOG MAX 0 MAX", "machine  globalop:0 00 log max 0 max")
    for line in lines:
        found = collectives_of(tmp_path, ONE_MACHINE, f"{line}\r\nExternal globalop: 8 LIN MAX LIN MAX\n// none\n")
        assert found["Barrier"] == log and found["Alltoall"] == found["Bcast"] != log
        assert collectives_of(tmp_path, ONE_MACHINE, f"0 LIN MAX LIN MAX 0\n{line}\n")["Barrier"] == log
    without_effect = "Machine policy: 0 FIFO\nPolicy: FIFO\nFlight time: 0 0.0 0\n"
    assert collectives_of(tmp_path, ONE_MACHINE, without_effect) == collectives_of(tmp_path, ONE_MACHINE, "")


def test_lines_of_several_machines(tmp_path):
    """One model serves all machines and what is between them: lines that say another one of a part are refused."""
    log = "LOG MAX 0 MAX"
    parts = [f"Machine globalop: {machine} 0 {log}\n" for machine in (0, 1)] + [f"External globalop: 0 {log}\n"]
    expected = collectives_of(tmp_path, TWO_MACHINES, f"0 {log} 0\n")
    assert collectives_of(tmp_path, TWO_MACHINES, "".join(parts)) == expected
    assert collectives_of(tmp_path, TWO_MACHINES, f"0 LIN MAX 0 MAX 0\n{''.join(parts)}") == expected
    for missing in parts:
        with pytest.raises(TracelibError, match=r"comm.cfg, line 2: Barrier is not the same on all machines"):
            collectives_of(tmp_path, TWO_MACHINES, "".join(part for part in parts if part != missing))
    with pytest.raises(TracelibError, match=r"line 1: there is no machine 2"):
        collectives_of(tmp_path, TWO_MACHINES, f"Machine globalop: 2 0 {log}\n")


@pytest.mark.parametrize(
    "machine", [ONE_MACHINE.split("\n", 1)[1], ONE_MACHINE.replace('"comm.cfg"', '"//c/comm.cfg"')]
)
def test_a_record_that_would_not_be_read_is_an_error(tmp_path, machine):
    with pytest.raises(TracelibError, match=r"m.cfg, line \d: a record on .*, where Dimemas reads none"):
        collectives_of(tmp_path, machine, "")
