"""Parameters that the model needs of a run, by hand: between MPI_Init and MPI_Finalize, of a region, or unknown."""

import numpy as np
import pytest
from marked import LABELS, begin, end
from memory_trace import MemoryTrace
from phased import with_factors, write_phases
from synthetic import call, write_run

from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.speedup_model.parameters import parameters, useful_within

ONE = Team()


def of(path, **options):
    trace = open_trace(path)
    try:
        return parameters(trace, ONE, **options)
    finally:
        trace.close()


def barrier(enter, leave):
    return ("MPI_Barrier", enter, leave, {"comm": 0})


def test_between_init_and_finalize():
    """Init ends at 100 and 110, Finalize begins at 300 and 290. Rank 0 computes 40 + 60, rank 1 90 + 20; the barriers
    take 40 and 150 to 200, 240 and 270 at most. On the ideal network they meet at 200 and 260 and end at 280."""
    trace = MemoryTrace(
        [
            [("MPI_Init", 10, 100, {}), barrier(140, 220), barrier(260, 280), ("MPI_Finalize", 300, 400, {})],
            [("MPI_Init", 10, 110, {}), barrier(200, 220), barrier(230, 280), ("MPI_Finalize", 290, 400, {})],
        ]
    )
    found = parameters(trace, ONE)
    assert (found.span_ns, found.useful_ns, found.useful_max_ns) == (200, 40 + 40 + 20 + 90 + 10 + 10, 110)
    assert found.ideal_ns == 100 + 40 + 20
    assert found.balance == pytest.approx(210 / 220)
    assert (found.communication, found.transfer) == pytest.approx((110 / 200, 160 / 200))
    assert found.transfer * found.dependencies == pytest.approx(found.communication)
    assert (found.instructions, found.ipc, found.cpu_share) == (None, None, None)


def test_useful_time_is_cut_at_the_edges():
    trace = MemoryTrace([[barrier(50, 60), barrier(90, 100)]], spans=[(0, 120)], window=16)
    assert useful_within(trace, ONE, np.array([40]), np.array([110])).tolist() == [10 + 30 + 10]


@pytest.mark.parametrize("transfer, dependencies, balance", [(1, 1, 1), (0.8, 0.9, 0.7), (0.5, 0.6, 0.95)])
def test_planted_factors_are_found(tmp_path, transfer, dependencies, balance):
    """In a file, with instructions and cycles that the barriers have too."""
    durations, latency = with_factors(6, 10_000_000, transfer, dependencies, balance)
    found = of(write_phases(tmp_path / "run.prv", durations, latency, ipc=1.5))
    assert found.span_ns == pytest.approx(10_000_000, abs=4)
    factors = found.transfer, found.dependencies, found.balance, found.ipc
    assert factors == pytest.approx((transfer, dependencies, balance, 1.5), rel=1e-6)
    assert found.instructions == pytest.approx(durations.sum() * 2 * 1.5)


def test_a_region_with_two_visits_is_two_iterations(tmp_path):
    """Each visit: rank 0 computes 10 and 30, rank 1 20 and 20, before a barrier that takes 5."""
    ranks = []
    for first, second in ((10, 30), (20, 20)):
        enters = first, 100 + second
        calls = [call("MPI_Barrier", e, leave, comm=1) for e, leave in zip(enters, (25, 135), strict=True)]
        calls.append(call("MPI_Barrier", 200, 205, comm=1))
        ranks.append(
            {"labels": LABELS, "events": [begin(0, 1), end(25, 1), begin(100, 1), end(135, 1)], "calls": calls}
        )
    found = of(write_run(tmp_path, ranks), region="solve")
    assert (found.iterations, found.span_ns, found.period_ns) == (2, 60, 30)
    assert (found.useful_ns, found.useful_max_ns, found.ideal_ns) == (80, 40, 20 + 30)
    assert found.instructions is None


def test_what_cannot_be_measured_is_said(tmp_path):
    run = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 10, 20, comm=1)]}] * 2)
    with pytest.raises(TracelibError, match="has no region 'solve'"):
        of(run, region="solve")
    idle = MemoryTrace([[("MPI_Init", 0, 10, {}), ("MPI_Finalize", 10, 20, {})]] * 2)
    with pytest.raises(TracelibError, match="nothing is computed"):
        parameters(idle, ONE)
    (tmp_path / "lost").mkdir()
    several = write_run(tmp_path / "lost", [{"calls": [call("MPI_Barrier", 10, 20, comm=1)]}] * 2)
    (tmp_path / "lost" / "run.ranks" / "000001.h5").unlink()
    with pytest.raises(TracelibError, match="rank 1 could not be read"):
        of(several)
    dim = tmp_path / "run.dim"
    dim.write_text('#DIMEMAS:"x":1,0:2(1,1),0\n1:0:0:0.1\n1:1:0:0.1\n')
    with pytest.raises(TracelibError, match="holds no times"):
        of(dim)
