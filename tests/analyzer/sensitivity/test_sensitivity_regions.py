"""Regions of the program as factors and sweeps, beside the machine: the duration of their computation."""

import json

import pytest
from two_ranks import regions_of, run_of_two_ranks, two_ranks  # noqa: F401, a fixture

from analyzer.cli import main
from analyzer.machine.description import Machine
from analyzer.parallel import Team
from analyzer.sensitivity.levels import factor_of, sweep_of
from analyzer.sensitivity.study import sensitivity

IDEAL = Machine.ideal(dialect="thesis")


def test_a_region_and_the_machine_by_hand():
    """Rank 0 computes 100 ns in the region and sends, rank 1 then 60 ns outside: 160; half and one and a half times,
    with a latency of 10 or 30 ns: 120, 140, 220, 240."""
    factors = [factor_of("latency=10ns..30ns", IDEAL), factor_of("region:region 1=0.5..1.5", IDEAL)]
    sweep = sweep_of("region:region 1=0.25..4:3", IDEAL, 2)
    found = sensitivity(regions_of(two_ranks()), IDEAL, factors, [sweep], Team())
    assert (found.end_ns, found.design.ends_ns) == (160, (120, 140, 220, 240))
    assert [(t.coefficient, t.influence) for t in found.design.found.terms] == [(10, 1 / 26), (50, 25 / 26), (0, 0)]
    assert found.sweeps[0].ends_ns == (85, 160, 460)


def test_names_may_hold_anything():
    assert factor_of("region:a=b", IDEAL).parameter.name == "region:a=b"
    half = factor_of("region:a=b=50%", IDEAL)
    assert (half.parameter.name, half.low, half.high) == ("region:a=b", 0.5, 1.5)


def test_the_command(run, capsys):
    """Half of the 20 times 10 us that rank 0 computes in a region."""
    ask = ["--machine", "ideal", "--factor", "region:solve=0.5..1", "--factor", "speed"]
    assert main(["sensitivity", str(run), *ask, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [f["name"] for f in found["factors"]] == ["region:solve", "speed"]
    low, high = (found["corners"][c]["predicted_s"] for c in (2, 3))
    assert high - low == pytest.approx(20 * 5e-6 / 1.1, rel=1e-3)
    assert main(["sensitivity", str(run), *ask]) == 0
    assert "Region:solve matters most" in capsys.readouterr().out
    assert main(["sensitivity", str(run), "--machine", "ideal", "--factor", "region:slove"]) == 1
    assert "has no region 'slove' (it has solve, other)" in " ".join(capsys.readouterr().err.split())
