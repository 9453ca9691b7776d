"""Applications that have each their own mapping onto the nodes (section 1.15)."""

import json
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import Network, Node
from analyzer.machine.read_cfg import read_cfg
from analyzer.machine.read_toml import machine_of, read_toml
from analyzer.machine.write_cfg import cfg_text
from analyzer.machine.write_toml import machine_text
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay import Machine, simulate

TWO = """
[[application]]
mapping = [0, 0]
[[application]]
mapping = "round-robin"
[[node]]
cpus = 1
speed = 2
[[node]]
cpus = 1
"""


def computing(*bursts):
    return Program.from_streams([operations({"kind": OperationKind.NONE, "burst": ns}) for ns in bursts])


def test_each_application_is_where_it_is_said():
    """The first has both ranks on node 0 (twice as fast, one CPU), of the second one rank is there, the other on node
    1: on node 0 100 / 2 + 60 / 2 + 40 / 2 one after the other, on node 1 70."""
    machine = machine_of(tomllib.loads(TWO))
    found = simulate([computing(100, 60), computing(40, 70)], machine)
    assert found.usage["end"].tolist() == [50, 80, 100, 70]
    alone = simulate([computing(40, 70)], machine.of_application(1))
    assert alone.usage["end"].tolist() == [20, 70]
    assert simulate([computing(40, 70)], machine).usage["end"].tolist() == [20, 55]
    third = simulate([computing(1), computing(1), computing(5, 5)], replace(machine, mapping=(1, 1)))
    assert third.usage["end"].tolist()[2:] == [5, 10]  # one after the other on node 1, where nobody else is


def test_toml_round_trip_and_mistakes():
    machine = machine_of(tomllib.loads(TWO))
    assert machine.mappings == ((0, 0), "round-robin")
    assert machine_of(tomllib.loads(machine_text(machine))).mappings == machine.mappings
    default = machine_of({"mapping": [1, 0], "application": [{}, {"mapping": "fill"}]})
    assert default.mappings == ((1, 0), "fill")
    for wrong in ({"mapping": "near"}, {"nodes": [1]}):
        with pytest.raises(TracelibError):
            machine_of({"application": [wrong]})
    with pytest.raises(TracelibError, match="has nodes for 2 of 3 ranks"):
        simulate([computing(1, 1, 1)], machine)
    with pytest.raises(TracelibError, match="names node 7"):
        simulate([computing(1), computing(1)], replace(machine, mappings=((0,), (7,))))


def test_a_configuration_of_dimemas_has_a_record_for_each(tmp_path):
    machine = Machine(nodes=(Node(cpus=1),) * 2, networks=(Network(),), mapping=(1, 0))
    text, collectives = cfg_text(machine, 2)
    (tmp_path / "collectives.cfg").write_text(collectives)
    path = tmp_path / "m.cfg"
    path.write_text(text)
    assert (read_cfg(path).machine.mapping, read_cfg(path).machine.mappings) == ((1, 0), ())
    record = next(line for line in text.splitlines() if "mapping information" in line)
    path.write_text(text.replace(record, f"{record}\n{record.replace('{1, 0}', '{1, 1}')}"))
    found = read_cfg(path).machine
    assert found.place(2, application=0) == [1, 0]
    assert found.place(2, application=1) == [1, 1]


def test_a_node_that_names_no_cpus_is_filled_by_one_rank():
    machine = Machine(nodes=(Node(), Node(cpus=2), Node()))
    assert machine.place(6) == [0, 1, 1, 2, 0, 1]
    assert machine.place(2, taken=2) == [1, 2]
    with pytest.raises(TracelibError, match="mapping 'near' is not known"):
        replace(machine, mapping="near").place(2)


def test_an_application_that_is_alone_keeps_its_mapping():
    machine = Machine(nodes=(Node(),) * 3, mapping=(2,), mappings=((0,), (1,)))
    assert [machine.of_application(k).place(1) for k in range(3)] == [[0], [1], [2]]


def test_the_command(tmp_path, capsys):
    """Two rings on two nodes: each on its own as said, or both on one."""
    assert main(["ring", "--tasks", "2", "--iterations", "5", "-o", str(tmp_path / "ring.dim"), "-q"]) == 0
    ends = []
    for second in ("[1, 1]", "[0, 0]"):
        (tmp_path / "m.toml").write_text(
            f"[[application]]\nmapping = [0, 0]\n[[application]]\nmapping = {second}\n[[node]]\ncount = 2\ncpus = 2\n"
        )
        ring, machine = str(tmp_path / "ring.dim"), str(tmp_path / "m.toml")
        assert main(["replay", ring, "--app", ring, "--machine", machine, "--json"]) == 0
        ends.append(json.loads(capsys.readouterr().out)["parts_s"]["wait_cpu"])
    assert ends[0] == 0 < ends[1]


MAPPED = {
    "m.toml": "mapping = [0]\n[[node]]\n",
    "m.cfg": cfg_text(Machine(nodes=(Node(cpus=1),) * 2, mapping=(1,)), 1)[0].replace("collectives.cfg", ""),
}


@pytest.mark.parametrize("name", MAPPED)
def test_the_file_of_a_mapping_that_is_too_short_is_named(name, tmp_path, capsys):
    """Which ranks there are is known when the run is."""
    assert main(["ring", "--tasks", "2", "--iterations", "1", "-o", str(tmp_path / "ring.dim"), "-q"]) == 0
    (tmp_path / name).write_text(MAPPED[name])
    assert main(["replay", str(tmp_path / "ring.dim"), "--machine", str(tmp_path / name)]) == 1
    says = f"Error: {tmp_path / name}: the machine's mapping has nodes for 1 of 2 ranks (name a node for each rank)\n"
    assert capsys.readouterr().err == says


def test_the_file_of_priorities_that_are_too_few_is_named(tmp_path, capsys):
    assert main(["ring", "--tasks", "2", "--iterations", "1", "-o", str(tmp_path / "ring.dim"), "-q"]) == 0
    (tmp_path / "m.toml").write_text('[scheduling]\npolicy = "fixed"\npriorities = [[3]]\n')
    assert main(["replay", str(tmp_path / "ring.dim"), "--machine", str(tmp_path / "m.toml")]) == 1
    assert capsys.readouterr().err.startswith(f"Error: {tmp_path / 'm.toml'}: priorities are given for 1 ranks")


def test_a_machine_is_the_same_in_any_file(tmp_path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(MAPPED["m.toml"])
    first, second = (read_toml(tmp_path / name) for name in ("a.toml", "b.toml"))
    assert first == second and first.file != second.file


@given(ranks=st.lists(st.integers(1, 5), min_size=1, max_size=4), cpus=st.integers(0, 4))
def test_runs_on_a_machine_of_as_many_nodes_as_wanted_share_no_cpu(ranks, cpus):
    """With "fill" each CPU has a rank at most, and ranks keep their order."""
    places = [node for place in Machine(node=Node(cpus=cpus)).place_all(ranks) for node in place]
    assert places == [k // (cpus or 1) for k in range(sum(ranks))]


def test_two_runs_on_the_ideal_machine_are_as_fast_as_alone():
    """Runs of unlike sizes, the message between them goes from one node to another."""
    compute, port = {"kind": OperationKind.NONE, "burst": 1000}, {"tag": 3, "bytes": 1 << 20, "peer": 0}
    sender = Program.from_streams([operations(compute, {"kind": OperationKind.PORT_SEND, "comm": 1, **port})])
    receiver = Program.from_streams(
        [operations({"kind": OperationKind.PORT_RECV, "comm": 0, **port}), operations(compute, compute)]
    )
    ideal = simulate([sender, receiver], Machine.ideal())
    assert ideal.usage["end"].tolist() == [1000, 1000, 2000]
    slow = simulate([sender, receiver], Machine(networks=(Network(bandwidth_mb=100.0),)))
    assert slow.usage["end"].tolist() == [1000, 1000 + 10_000_000, 2000]
