"""A program that looks at MPI_Wtime until a time has come computes: in the first look, in replays and on the path."""

import json

import numpy as np
import pytest
from patience import crowd

from analyzer.machine.description import Machine
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.replay.simulate import simulate

pytestmark = pytest.mark.timed

LONG_MS, SHORT_MS, ROUNDS = 20, 10, 10


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_it_computes(name, request, compiled, traced, analyze):
    leg = request.getfixturevalue(name)
    run = traced(leg, compiled(leg, "looks.c"), str(LONG_MS), str(SHORT_MS), str(ROUNDS), ranks=2)
    took = np.array([np.loadtxt(run.folder / f"looks-{rank}.txt") for rank in (0, 1)])
    assert took.shape == (2, ROUNDS)
    near = 0.1 * crowd()  # between two rounds it may wait for a processor
    analyze("prv", run.run).check()
    analyze("dim", run.run).check()
    for file in (run.run, run.run.with_suffix(".prv"), run.run.with_suffix(".dim")):
        trace = open_trace(str(file))
        prediction = simulate(program_of(trace), Machine.ideal())
        assert prediction.usage["computing"] / 1e9 == pytest.approx(took.sum(axis=1), rel=near)
        assert prediction.end_ns / 1e9 == pytest.approx(took.max(axis=0).sum(), rel=near)
        trace.close()
    found = json.loads(analyze("look", "--no-files", "--json", run.run).check().stdout)
    assert found["useful_s"]["total"] == pytest.approx(took.sum(), rel=near)
    assert found["calls"]["MPI_Wtime"]["count"] > 1000
    assert found["calls"]["MPI_Wtime"]["time_s"] == 0
    path = json.loads(analyze("critical-path", "--json", run.run).check().stdout)
    computed = sum(f["path_s"] for f in path["functions"] if f["kind"] == "computation")
    assert computed == pytest.approx(took.max(axis=0).sum(), rel=near)
