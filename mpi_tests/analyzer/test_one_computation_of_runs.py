"""Every analysis says the same of what a run computes, and of what the tracer itself took: whatever the times are."""

import numpy as np
import pytest

from analyzer.critical.path import critical_path
from analyzer.critical.shares import path_shares
from analyzer.efficiency.analysis import efficiencies
from analyzer.machine.description import Machine
from analyzer.metrics.profile import profile
from analyzer.opening import open_trace
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.replay.simulate import simulate
from analyzer.report.look.as_json import summary_json
from analyzer.report.look.sentences import MUCH_TRACING
from analyzer.report.look.summary import summarize
from analyzer.waits.analysis import analyze_waits
from analyzer.writers.dim import write_dim
from analyzer.writers.paraver_labels import write_pcf
from analyzer.writers.prv import write_prv

ONE, NS = Team(), 1e-9


def replayed_s(trace) -> float:
    return simulate(program_of(trace), Machine.ideal()).usage["computing"].sum() / 1e9


def check(trace, info: dict) -> None:
    computing, mpi, tracer = info["useful_s"]["total"], info["mpi_s"]["total"], info["tracer"]["time_s"]
    said = summary_json(summarize(trace, ONE))
    assert [said[name] for name in ("useful_s", "mpi_s", "tracer")] == [
        info[name] for name in ("useful_s", "mpi_s", "tracer")
    ]
    assert analyze_waits(trace, ONE, profile(trace, ONE)).mpi_ns.sum() / 1e9 == pytest.approx(mpi, abs=NS)
    factors = efficiencies(trace, ONE)
    assert factors.work.useful_ns / 1e9 == pytest.approx(computing, abs=NS)
    assert factors.tracer_ns.sum() / 1e9 == pytest.approx(tracer, abs=NS)
    path = path_shares(trace, critical_path(trace))
    by_rank = [slack.computing_ns / 1e9 for slack in path.rank_slack]
    assert (sum(by_rank), max(by_rank)) == pytest.approx((computing, info["useful_s"]["max"]), abs=NS)
    for kind, expected in (("computation", computing), ("call", mpi), ("tracer", tracer)):
        times = np.array([ns for function, ns in path.total_ns.items() if function.kind == kind])
        assert times.sum() / 1e9 == pytest.approx(expected, abs=NS)
    assert replayed_s(trace) == pytest.approx(computing, abs=NS)


@pytest.mark.parametrize("what", ["size", "wtime", "calls"])
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_of_calls_that_share_rows_and_of_calls_back_to_back(name, what, request, compiled, traced, analyze):
    leg = request.getfixturevalue(name)
    run = traced(leg, compiled(leg, "folded.c"), what, "20000", ranks=2, env={"TRACELIB_CPUTIME": "off"}).run
    prv, dim = run.with_suffix(".prv"), run.with_suffix(".dim")
    trace = open_trace(str(run))
    info = summary_json(summarize(trace, ONE))
    assert info["tracer"]["time_s"] >= info["tracer"]["after_calls_s"] > 0
    write_prv(trace, prv)
    write_pcf(trace, prv.with_suffix(".pcf"))
    write_dim(trace, dim, ONE)
    imported, program = open_trace(str(prv)), open_trace(str(dim))
    check(trace, info)
    check(imported, info)
    assert replayed_s(program) == pytest.approx(info["useful_s"]["total"], abs=NS)
    for one in (trace, imported, program):
        one.close()
    shown = analyze("look", "--no-files", run).check().stdout
    assert ("the tracer itself took" in shown) == (info["tracer"]["time_s"] > MUCH_TRACING * 2 * info["runtime_s"])
