"""Computing by iteration: by hand, and beside the definition, interval by interval."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from memory_trace import MemoryTrace

from analyzer.imbalance.by_iteration import computing_by_iteration, counter_by_iteration
from analyzer.parallel import Team
from analyzer.trace import CALL, UNKNOWN, Counter, Counters, State
from analyzer.trace.description import Counts


def trace_of(ranks, intervals, window=None):
    states = sorted((begin, end, rank, 0, State.RUNNING) for rank, begin, end in intervals)
    return MemoryTrace([[] for _ in range(ranks)], states=states, spans=[(0, 1000)] * ranks, window=window)


def test_by_hand():
    """Rank 0 computes 10 in its first iteration and 5 + 20 in the second; rank 1 through all of its iterations; the
    iterations of rank 2 are not known."""
    trace = trace_of(3, [(0, 0, 30), (0, 35, 60), (0, 70, 95), (1, 10, 100), (2, 0, 90)])
    edges = np.array([[20, 40, 90], [20, 50, 60], [-1, -1, -1]])
    assert computing_by_iteration(trace, Team(), edges).tolist() == [[15, 40], [30, 10], [0, 0]]


@st.composite
def intervals_and_edges(draw):
    """Disjoint intervals of three ranks, and edges of as many iterations each."""
    count = draw(st.integers(1, 6))
    cuts = st.lists(st.integers(0, 400), min_size=2, max_size=24, unique=True).map(sorted)
    intervals = []
    for rank in range(3):
        times = draw(cuts)
        intervals += [(rank, a, b) for a, b in zip(times[::2], times[1::2], strict=False)]
    row = st.lists(st.integers(0, 400), min_size=count + 1, max_size=count + 1, unique=True).map(sorted)
    return intervals, np.array([draw(row | st.just([-1] * (count + 1))) for _ in range(3)])


@given(intervals_and_edges(), st.sampled_from([None, 7, 100]))
def test_is_what_overlaps(made, window):
    intervals, edges = made
    found = computing_by_iteration(trace_of(3, intervals, window), Team(), edges)
    expected = np.zeros_like(found)
    for rank, begin, end in intervals:
        for k in range(edges.shape[1] - 1):
            if edges[rank, 0] >= 0:
                expected[rank, k] += max(0, min(end, edges[rank, k + 1]) - max(begin, edges[rank, k]))
    assert found.tolist() == expected.tolist()


def test_a_counter():
    """Bursts of 7, 5 and 30 end in iterations 0, 1 and behind the last; of what is not known nothing is counted."""
    trace = trace_of(2, [])
    calls = np.zeros(4, CALL)
    calls["enter"] = [10, 25, 30, 80]
    read = np.zeros((4, 1), np.int64)
    trace.put(MadeUp(counts_of={0: Counts(calls, read, read, np.array([[7], [5], [UNKNOWN], [30]]))}))
    edges = np.array([[0, 20, 40], [0, 20, 40]])
    assert counter_by_iteration(trace, Team(), edges, "made up").tolist() == [[7, 5], [0, 0]]


@dataclass(frozen=True)
class MadeUp(Counters):
    known: tuple = (Counter("made up", 1),)
    counts_of: dict = field(default_factory=dict)

    def counts(self, rank, begin=0, end=None):
        yield from [self.counts_of[rank]] if rank in self.counts_of else []
