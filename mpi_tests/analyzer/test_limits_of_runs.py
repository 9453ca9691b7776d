"""Limits and sensitivities of a traced run, counted by the program's own arguments."""

import json

import pytest
from matrix import ROOT

from analyzer.cli import main
from analyzer.machine.description import COLLECTIVE_NAMES

pytestmark = pytest.mark.timed

STEPS = 50
SLOW = ["--machine", "ideal", "--dialect", "thesis", "--latency", "10ms", "--json"]


@pytest.fixture
def heat(openmpi, compiled, traced):
    """A traced heat solver of two ranks: each sends the other one message a step; it computes little."""
    program = compiled(openmpi, ROOT / "examples" / "heat.c")
    return str(traced(openmpi, program, "--size", "32", "--steps", str(STEPS), ranks=2).run)


def test_latency_limits_a_small_heat_solver(heat, openmpi, analyze, capsys):
    """Each message and each collective costs 10 ms, on each rank; several processes find the same."""

    def answer(*arguments):
        assert main([*arguments]) == 0
        return capsys.readouterr().out

    called = json.loads(answer("look", "--no-files", "--json", heat))["calls"]
    names = {f"MPI_{name}" for name in COLLECTIVE_NAMES} & called.keys()
    collectives = 1 + sum(called[name]["count"] for name in names) // 2  # MPI_Init is one, too
    assert collectives > STEPS // 10
    alone = answer("limits", heat, "--quick", *SLOW)
    found = json.loads(alone)
    assert found["messages"] == 2 * STEPS
    assert found["latency"]["direct_s"] == pytest.approx((STEPS + collectives) * 10e-3)
    assert found["limit"] == "latency"
    assert analyze("limits", heat, "--quick", *SLOW, under=openmpi, ranks=2).check().stdout == alone
    factors = ["--factor", "latency=10ms..20ms", "--factor", "bandwidth=1GB/s..2GB/s"]
    terms = json.loads(answer("sensitivity", heat, *factors, *SLOW))["terms"]
    assert terms[0]["effect_s"] == pytest.approx((STEPS + collectives) * 10e-3, rel=0.1)
    assert sum(term["influence"] for term in terms) == pytest.approx(1)
    assert terms[0]["influence"] > 0.99
