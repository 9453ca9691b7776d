"""`analyze machine`: a machine in either form, and made into the other one."""

import json
import tomllib

import pytest

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.description import (
    COLLECTIVE_NAMES,
    CollectiveModel,
    CpuScheduling,
    Machine,
    Node,
    PhaseModel,
    PhaseSize,
    UniformNumber,
    simple_collectives,
)
from analyzer.machine.options import read_machine
from analyzer.machine.read_cfg import read_cfg
from analyzer.machine.write_cfg import cfg_text, crashes_dimemas

CFG = """#DIMEMAS_CONFIGURATION
"wide area network information" {"", 2, 0, 4, 0, 10.0, 1};;
"environment information" {"a", 0, "", 2, 100.0, 3, 2};;
"environment information" {"b", 1, "", 1, 55.5, 0, 2};;
"node information" {0, "", 2, 1.5, 0.000002, 300.0, 1, 1, 1, 0.00001, 1, 2, 0.001};;
"node information" {0, "", 1, 1.0, 0.0000033, 0.0, 0, 0, 0, 0.0000123, 1, 0, 0.001};;
"node information" {1, "", 4, 0.75, 0.0, 0.0, 0, 1, 1, 0.00001, 3, 1, 0.002};;
MAPPING
"configuration files" {"", "", "c.coll", ""};;
"modules information" {40, 2, 2.0};;
"""
EXPLICIT = '"mapping information" {"t.dim", 4, [4] {2,1,0,0}};;'
TWO = EXPLICIT + '\n"mapping information" {"u.dim", 2, [2] {1,1}};;'
PREDEFINED = '"predefined mapping information" {"INTERLEAVED"};;'


@pytest.mark.parametrize("mapping", [EXPLICIT, TWO, PREDEFINED])
def test_a_cfg_becomes_toml_and_a_cfg_again(mapping, tmp_path, capsys):
    """And is the same machine each time, with its modules."""
    (tmp_path / "a.cfg").write_text(CFG.replace("MAPPING", mapping))
    (tmp_path / "c.coll").write_text("1 LOG MAX 0 MAX 0\n11 LIN MEAN CTE S+R 1\n")
    for source, target in (("a.cfg", "b.toml"), ("b.toml", "c.cfg"), ("c.cfg", "d.toml")):
        assert main(["machine", str(tmp_path / source), "-o", str(tmp_path / target)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    lists = "a list of the tasks' nodes and " if mapping != PREDEFINED else ""
    assert said.count("Written: ") == 3 and said.count(f"Dimemas 5.5.0 crashes on {lists}a file of collectives,") == 1
    wanted = read_cfg(tmp_path / "a.cfg")
    assert wanted.modules and wanted.machine.collectives["Allreduce"].in_model == PhaseModel.LINEAR
    for name in ("b.toml", "c.cfg", "d.toml"):
        assert read_machine(str(tmp_path / name)) == wanted
    assert (tmp_path / "c.collectives.cfg").read_text() == "1 LOG MAX 0 MAX 0.0\n11 LIN MEAN CTE S+R 0.0\n"


@pytest.mark.parametrize(
    ("mapping", "ranks", "words"),
    [
        ("fill", None, "FILL_NODES"), ("fill", 8, "FILL_NODES"), ("round-robin", 8, "INTERLEAVED"),
        ((0, 0, 0, 0), 4, "FILL_NODES"), ((0, 0, 1, 1), 4, "2 TASKS_PER_NODE"), ((0, 1, 0, 1), 4, "INTERLEAVED"),
        ((0, 1), 2, "INTERLEAVED"), ((0, 0, 0, 1), None, "3 TASKS_PER_NODE"), ((0, 1, 1, 0), None, ""), ((1, 0), 2, ""),
    ],
)  # fmt: skip
def test_dimemas_gets_its_own_words_for_a_mapping(mapping, ranks, words, tmp_path):
    """It crashes on a list of nodes, and on a file of collectives, which the constant model needs no more than others
    that are all alike. Read again the ranks are on the same nodes."""
    for models in (None, dict.fromkeys(COLLECTIVE_NAMES, CollectiveModel(*(PhaseModel.LOG, PhaseSize.PHASE) * 2))):
        machine = Machine(nodes=(Node(cpus=4),) * 2, mapping=mapping, collectives=models)
        text, collectives = cfg_text(machine, ranks)
        assert collectives == "" and '"configuration files" {"", "", "", ""};;' in text
        assert (f'"predefined mapping information" {{"{words}"}};;' in text) is bool(words)
        assert crashes_dimemas(text) == ("" if words else "a list of the tasks' nodes")
        (tmp_path / "m.cfg").write_text(text)
        found = read_cfg(tmp_path / "m.cfg").machine
        assert found.place(ranks or 4) == machine.place(ranks or 4)
        assert found.collective_models() == machine.collective_models()


def test_options_change_it(tmp_path, capsys):
    assert main(["machine", "ideal", "--latency", "5us", "--buses", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["machine"]["node"] == {"latency_us": 5.0} and found["written"] == []
    assert main(["machine", "ideal", "--latency", "5us", "--buses", "2"]) == 0
    assert tomllib.loads(capsys.readouterr().out) == found["machine"]
    there = tmp_path / "m.cfg"
    assert main(["machine", "ideal", "--ranks", "2,3", "--eager-limit", "32k", "-o", str(there)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--eager-limit 32768 (Dimemas: -S 32768)" in said
    machine = read_cfg(there).machine
    assert len(machine.nodes) == 5
    assert machine.place_all([2, 3]) == [[0, 1], [2, 3, 4]]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["ideal", "-o", "m.cfg"], "--ranks N"),
        (["ideal", "-o", "m.txt"], "neither .toml nor .cfg"),
        (["ideal", "-o", "there.toml"], "exists (name another output, or use --force)"),
        (["ideal", "-o", "no/m.toml"], "cannot write"),
        (["ideal", "--ranks", "2,x"], "is not a number of ranks such as 64, or 64,16"),
        (["nothing.cfg"], "cannot read nothing.cfg"),
    ],
)
def test_mistakes(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.toml").write_text("seed = 1\n")
    assert main(["machine", *arguments]) != 0
    assert says in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there.toml"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"scheduling": CpuScheduling(slice_ns=1000)}, "no scheduling policies"),
        ({"synchronous": True}, "no synchronous sends"),
        (
            {"node": Node(speed=UniformNumber(1, 2)), "nodes": (Node(speed=UniformNumber(1, 2)),)},
            "no random parameters",
        ),
        ({"dialect": "thesis"}, "no rules of the thesis"),
        ({"collectives": simple_collectives(PhaseModel.LOG)}, "no collectives of the largest sizes"),
        ({"nodes": (Node(links_in=1),)}, "links in one direction only"),
        ({"nodes": (Node(intra_links_out=1),)}, "links in one direction only"),
        ({"nodes": (Node(),), "mappings": ("fill",)}, "of one of several applications"),
    ],
)
def test_what_dimemas_has_no_word_for_is_not_left_out(changes, says):
    with pytest.raises(TracelibError, match=says):
        cfg_text(Machine(**({"nodes": (Node(),)} | changes)))
