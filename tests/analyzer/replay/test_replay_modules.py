"""Modules of a Dimemas configuration scale what is computed between events."""

import json

import pytest

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.machine.options import read_machine
from analyzer.machine.read_cfg import CfgModule
from analyzer.machine.write_cfg import cfg_text
from analyzer.program.model import Program
from analyzer.program.operation import OperationKind, operations
from analyzer.replay import Machine, simulate
from analyzer.what_if.modules import with_modules

RUN = """#DIMEMAS:"m":1,{offset}:1(1),1
d:1:1:1:0
1:0:0:1.000000000
20:0:0:40:7
1:0:0:2.000000000
20:0:0:40:0
1:0:0:4.000000000
"""


def stream(*rows):
    """(burst, type, value) of each event; a last burst."""
    return operations(
        *({"kind": OperationKind.EVENT, "burst": burst, "tag": type_, "other": value} for burst, type_, value in rows),
        {"kind": OperationKind.NONE, "burst": 1000},
    )


NESTED = [(1, 40, 3), (10, 40, 5), (20, 50, 3), (40, 50, 0), (80, 40, 0), (160, 40, 0)]
"""Module 5 in module 3 of type 40; module 3 of type 50 in both: bursts 1, [10, [20, {40}, 80], 160], 1000."""


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ([], 1311),
        ([CfgModule(40, 3, 2.0)], 1311 + 10 + 20 + 40 + 80 + 160),
        ([CfgModule(40, 5, 0.5)], 1311 - 10 - 20 - 40),
        ([CfgModule(50, 3, 3.0)], 1311 + 80),
        ([CfgModule(40, 3, 2.0), CfgModule(40, 5, 0.5)], 1311 + 10 + 160),
        ([CfgModule(40, 3, 2.0), CfgModule(50, 3, 3.0)], 1311 + 310 + 160),
        ([CfgModule(40, 5, -5e-9)], 1311 - 140 + 15),
        ([CfgModule(40, 5, -5e-9), CfgModule(50, 3, -2e-9), CfgModule(40, 3, 9.0)], 1001 + 90 + 5 + 2 + 5 + 1440),
        ([CfgModule(41, 3, 2.0), CfgModule(40, 0, 2.0)], 1311),
    ],
)
def test_by_hand(modules, expected):
    program = Program.from_streams([stream(*NESTED), stream((7, 40, 9))])
    found = simulate(with_modules(program, modules), Machine())
    assert found.usage["end"].tolist() == [expected, 1007]


def test_the_last_ends_are_not_needed():
    """A module that nobody ends lasts to the end; an end without a begin ends nothing."""
    program = Program.from_streams([stream((1, 40, 0), (2, 40, 3))])
    assert simulate(with_modules(program, [CfgModule(40, 3, 2.0)]), Machine()).end_ns == 3 + 2000
    assert with_modules(program, []) is program


def test_the_command(tmp_path, capsys):
    """Out of 1 s + 2 s + 4 s, the 2 s take half as long; commands that do not scale modules report it."""
    body = RUN.format(offset=f"{len(RUN.format(offset='000')):03d}")
    (tmp_path / "m.dim").write_text(body + f"s:0:{body.index('1:0:0:1.0')}\n")
    cfg, collectives = cfg_text(Machine(), 1, (CfgModule(40, 7, 0.5),))
    assert '"modules information" {40, 7, 2.0};;' in cfg  # Dimemas divides
    (tmp_path / "m.cfg").write_text(cfg)
    (tmp_path / "collectives.cfg").write_text(collectives)
    files = [str(tmp_path / "m.dim"), "--machine", str(tmp_path / "m.cfg")]
    assert main(["replay", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicted_s"] == pytest.approx(6.0)
    assert main(["limits", *files]) == 1
    assert "has modules" in capsys.readouterr().err
    (tmp_path / "m.toml").write_text("[[module]]\ntype = 40\nvalue = 7\nratio = 0.5\n")
    files[-1] = str(tmp_path / "m.toml")
    assert main(["replay", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicted_s"] == pytest.approx(6.0)
    assert main(["profile", *files, "--json", "-o", str(tmp_path / "x")]) == 0
    assert json.loads(capsys.readouterr().out)["end_s"] == pytest.approx(6.0)
    assert main(["sensitivity", *files]) == 1
    assert "has modules" in capsys.readouterr().err


@pytest.mark.parametrize("row", ["value = 1", "ratio = 2", "value = -1\nratio = 2", "value = 1\nratio = nan", "x = 1"])
def test_wrong_modules(row, tmp_path):
    (tmp_path / "m.toml").write_text(f"[[module]]\n{row}\n")
    with pytest.raises(TracelibError, match=r"m.toml: \[\[module\]\]"):
        read_machine(str(tmp_path / "m.toml"))


def test_a_region_by_default(tmp_path):
    (tmp_path / "m.toml").write_text("[[module]]\nvalue = 2\nratio = -1\n")
    assert read_machine(str(tmp_path / "m.toml")).modules == (CfgModule(60000019, 2, -1.0),)


@pytest.mark.parametrize(("ratio", "module"), [("2.0", 0.5), ("0.5", 2.0), ("0", 0.0), ("-1.5", -1.5)])
def test_dimemas_divides(ratio, module, tmp_path):
    """Its template: a divisive factor; 0 means instantaneous, a negative value a fixed duration in s."""
    cfg, _ = cfg_text(Machine(), 1, (CfgModule(40, 7, module),))
    line = next(line for line in cfg.splitlines() if line.startswith('"modules information"'))
    assert line == f'"modules information" {{40, 7, {float(ratio)}}};;'
    cfg = cfg.replace("collectives.cfg", "").replace(line, f'"modules information" {{40, 7, {ratio}}};;')
    (tmp_path / "m.cfg").write_text(cfg)
    assert read_machine(str(tmp_path / "m.cfg")).modules == (CfgModule(40, 7, module),)
