"""A plan for counters that are read in turn: made from a run, followed in another, compared with a full run."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from patience import crowd

from analyzer.cli import main

NAMES = [f"sde:::Own::{name}" for name in ("alpha", "beta", "gamma")]
CPU = "CPU_NS"
SETS = [*NAMES, CPU]
ITERATIONS, RANKS = 30, 2


@pytest.fixture
def program(compiled, openmpi):
    if not Path("/usr/include/sde_lib.h").exists():
        pytest.skip("libpapi-dev, which has PAPI's software defined events, is not installed")
    return compiled(openmpi, "counted_steps.c", "-lsde")


@pytest.mark.timed
def test_a_plan_is_made_followed_and_extrapolated(openmpi, program, traced, tmp_path, capsys):
    """Each set in one iteration: what was counted there is exact, the rest is left to the preparation.

    CPU time goes on from set to set, so all turns count it.
    """

    scale = str(crowd())  # others on the machine are in the way so many times as long

    def run(name, **env):
        (tmp_path / name).mkdir()
        env |= {"TRACELIB_CPUTIME": "off"}
        return str(traced(openmpi, program, str(ITERATIONS), scale, ranks=RANKS, folder=tmp_path / name, env=env).run)

    plain, plan = run("plain"), tmp_path / "x.plan"
    options = [word for name in SETS for word in ("--plan", name)]
    assert main(["representative", plain, *options, "-o", str(plan), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    steps = made["collectives"]
    assert [b - a for a, b in pairwise(steps)] == [3, 3, 3, 3]
    assert made["cost_ratio"] > 3
    planned = run("planned", TRACELIB_COUNTERS=";".join(SETS), TRACELIB_ROTATE=f"file:{plan}")
    full = run("full", TRACELIB_COUNTERS=",".join(SETS))
    assert main(["representative", planned, "--full", full, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["iterations"] == ITERATIONS and found["runs"] == 4 and found["cost_ratio"] > 3
    alpha, beta, gamma = (found["counters"][name] for name in NAMES)
    assert (alpha["counted"], beta["counted"], gamma["counted"]) == (1401, 60, 10)
    assert [one["share"] * ITERATIONS for one in (alpha, beta, gamma)] == pytest.approx([1, 1, 1])
    assert (beta["estimate"], gamma["estimate"]) == pytest.approx((60 * ITERATIONS, 10 * ITERATIONS))
    assert found["counters"][CPU]["share"] * ITERATIONS == pytest.approx(len(SETS))
    assert found["counters"][CPU]["counted"] > 0
    assert alpha["full"] == 1401 * ITERATIONS + 1400
    assert (beta["full"], gamma["full"]) == (60 * ITERATIONS, 10 * ITERATIONS)
    assert all(one["error"] < 0.1 for one in (alpha, beta, gamma))
    assert main(["representative", full, "--estimate"]) == 1
    assert "did not take turns" in capsys.readouterr().err
