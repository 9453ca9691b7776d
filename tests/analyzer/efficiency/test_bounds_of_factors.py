"""Factors that are shares stay shares, however short a run is."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from random_runs import runs
from synthetic import write_run

from analyzer.efficiency.analysis import efficiencies
from analyzer.efficiency.factors import factors
from analyzer.opening import open_trace
from analyzer.parallel import Team

TIMES = st.lists(st.floats(0, 1e12, allow_subnormal=False) | st.integers(0, 9).map(lambda n: n / 3), min_size=1)


@given(TIMES)
@example([4 / 3] * 3)
@example([0.4])
def test_the_mean_is_never_above_the_longest(times):
    """4/3 ns of each rank: the longest, rounded to 1 ns, gave a load balance of 1.33."""
    found = factors(np.array(times), int(max(times)) + 1)
    assert found.useful_mean_ns <= found.useful_max_ns <= found.runtime_ns
    for share in (found.parallel_efficiency, found.load_balance, found.communication_efficiency):
        assert share is None or 0 <= share <= 1


@given(runs())
def test_shares_of_random_runs(tmp_path_factory, run):
    ranks, tsc_per_us = run
    path = write_run(tmp_path_factory.mktemp("run"), ranks, tsc_per_us=tsc_per_us)
    trace = open_trace(str(path), Team())
    whole = efficiencies(trace, Team()).efficiency
    trace.close()
    for name in ("parallel_efficiency", "load_balance", "communication_efficiency", "serialization_efficiency"):
        share = getattr(whole, name)
        assert share is None or 0 <= share <= 1, name
