"""The tracer's own time between two calls is measured at the start, and no analysis takes it for the program's."""

import numpy as np
import pytest

from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace import TracerTime

pytestmark = pytest.mark.timed

CALLS = 8000


def test_bursts_between_back_to_back_calls_are_next_to_nothing(mpi, compiled, traced):
    """Half of them at least: the others were interrupted, or met a cold cache."""
    result = traced(mpi, compiled(mpi, "back_to_back.c"), str(CALLS), ranks=1)
    file = result.ranks[0]
    sends = file.calls[file.names == "MPI_Send"]
    assert len(sends) == CALLS
    gaps = np.sort((sends["enter"][1:] - sends["exit"][:-1]).astype(np.int64))[: CALLS // 2]
    overhead = int(file.attributes["overhead_ticks"])
    assert 0 < overhead < 3 * gaps.mean() + 10
    assert np.maximum(gaps - overhead, 0).mean() < gaps.mean() / 2

    trace = open_trace(str(result.run))
    computed = int(useful(trace, Team()).by_rank()[0])
    begin, end = trace.span(0)
    inside = sum(int(block["inside"].sum()) for block in trace.calls(0))
    flushed = int((trace.extra(TracerTime).flushes(0)["end"] - trace.extra(TracerTime).flushes(0)["begin"]).sum())
    calls = sum(len(block) for block in trace.calls(0))
    outside = end - begin - inside - flushed
    assert outside - calls * trace.extra(TracerTime).after_call_ns(0) <= computed < outside
    trace.close()
