"""Iterations as visits of a region, among any regions of the program."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_trace import MemoryTrace

from analyzer.metrics.regions import region_visits
from analyzer.structure.iterations import IterationEvidence, Iterations
from analyzer.structure.regions import NAME, WithRegion
from analyzer.trace import EVENT, MARK, Mark, Regions
from tracelib.schema import REGION_TYPE

LAST = 200


class OwnRegions(Regions):
    """A program's regions, as marks and as events."""

    def marks(self, rank, begin=0, end=None):
        return self.rows

    def events(self, rank, begin=0, end=None):
        rows = np.zeros(len(self.rows), EVENT)
        rows["time"], rows["type"] = self.rows["time"], REGION_TYPE
        rows["value"] = np.where(self.rows["what"] == Mark.BEGIN, self.rows["number"], 0)
        return rows


def with_iterations(marks, edges):
    """The regions of a rank with these marks and edges, and the marks."""
    rows = np.zeros(len(marks), MARK)
    for row, (time, what) in zip(rows, marks, strict=True):
        row["time"], row["what"], row["number"] = time, what, 1
    trace = MemoryTrace([[("MPI_Init", 0, 1, {}), ("MPI_Finalize", LAST, LAST + 1, {})]])
    own = OwnRegions(names=("own",))
    object.__setattr__(own, "rows", rows)
    trace.put(own)
    return WithRegion(trace, Iterations(1, np.array([edges]), 1, "", IterationEvidence.CALLS)), rows


@st.composite
def visits(draw, begin: int = 0, end: int = LAST, deepest: int = 3):
    """Marks of nested visits between two times, in order of recording; several may be made at one time."""
    found, at = [], begin
    while draw(st.booleans()) and at <= end:
        first = draw(st.integers(at, end))
        last = draw(st.integers(first, end))
        inner = draw(visits(first, last, deepest - 1)) if deepest else []
        found += [(first, Mark.BEGIN), *inner, (last, Mark.END)]
        at = last
    return found


@settings(max_examples=120)
@given(visits(), st.lists(st.integers(0, LAST), min_size=2, max_size=9, unique=True).map(sorted))
def test_regions_nest_and_stay_as_they_are(marks, edges):
    trace, rows = with_iterations(marks, edges)
    found, events = trace.extra(Regions).marks(0), trace.extra(Regions).events(0)
    assert trace.extra(Regions).names == ("own", NAME)
    assert (events["time"] == found["time"]).all()
    assert (events["value"] == np.where(found["what"] == Mark.BEGIN, found["number"], 0)).all()
    assert (trace.extra(Regions).marks(0, 50, 90) == found[(found["time"] >= 50) & (found["time"] < 90)]).all()
    assert (np.diff(found["time"]) >= 0).all()
    assert (found[found["number"] == 1] == rows).all()
    opened = []
    for row in found:  # each end is that of the visit that was begun last
        if row["what"] == Mark.BEGIN:
            opened.append(row["number"])
        else:
            assert opened.pop() == row["number"]
    assert not opened
    own = found[found["number"] == 2]
    assert len(own) <= 2 * (len(edges) - 1)
    assert (own["what"][::2] == Mark.BEGIN).all() and (own["what"][1::2] == Mark.END).all()
    assert (own["time"][1::2] > own["time"][::2]).all()


def times(marks, edges):
    visits = region_visits(with_iterations(marks, edges)[0], 0)
    return [list(visit) for visit in visits[visits["region"] == 1][["begin", "end"]].tolist()]


B, E = Mark.BEGIN, Mark.END


def test_regions_around_and_inside_change_nothing():
    assert times([], [10, 20, 30]) == [[10, 20], [20, 30]]
    assert times([(0, B), (12, B), (14, E), (40, E)], [10, 20, 30]) == [[10, 20], [20, 30]]
    assert times([(10, B), (20, E), (20, B), (30, E)], [10, 20, 30]) == [[10, 20], [20, 30]]


def test_a_region_over_an_edge_belongs_to_one_iteration():
    assert times([(18, B), (21, E)], [10, 20, 30]) == [[10, 21], [21, 30]]
    assert times([(19, B), (23, E)], [10, 20, 30]) == [[10, 19], [19, 30]]


def test_a_region_of_several_iterations_cuts_those_that_cross_its_ends():
    assert times([(12, B), (57, E)], [10, 20, 30, 40, 50, 60]) == [[12, 20], [20, 30], [30, 40], [40, 50], [50, 57]]
