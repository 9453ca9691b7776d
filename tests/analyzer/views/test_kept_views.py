"""Views whose steps are computed once and read twice, and iterations alone as events: the same as by the long way."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_programs import program
from random_runs import runs
from synthetic import write_run

from analyzer import views
from analyzer.opening import open_trace
from analyzer.trace.event_types import EventType
from analyzer.views.pieces import CachedView
from analyzer.views.steps import RowSteps
from analyzer.views.tabulated import histogram, usual_columns
from analyzer.views.view_file import find_view

ITERATION = int(EventType.ITERATION)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=30), st.booleans())
def test_steps_in_order_of_row_and_time(pairs, times_first):
    pairs = sorted(pairs, key=lambda pair: pair[1]) if times_first else pairs
    columns = np.array([(*pair, number) for number, pair in enumerate(pairs)], np.int64).reshape(-1, 3).T
    found = RowSteps.from_columns(*columns).in_order()
    wanted = sorted((row, time, number) for number, (row, time) in enumerate(pairs))
    assert list(zip(found.row.tolist(), found.time.tolist(), found.value.tolist(), strict=True)) == wanted


@settings(max_examples=8)
@given(runs())
def test_columns_that_are_found_are_those_that_may_be_given(tmp_path_factory, made):
    ranks, tsc_per_us = made
    trace = open_trace(str(write_run(tmp_path_factory.mktemp("run"), ranks, tsc_per_us=tsc_per_us)), matched=False)
    try:
        run, length, useful = views.ViewRun(trace), find_view("useful duration").view, views.View("useful")
        for control, plane in ((length, None), (useful, length), (length, useful)):
            given = {"columns": usual_columns(control, run, 0, trace.duration_ns)}
            if plane:
                given["planes"] = usual_columns(plane, run, 0, trace.duration_ns)
            found = histogram(control, run, statistic="bursts", plane=plane)
            wanted = histogram(control, run, statistic="bursts", plane=plane, **given)
            assert (found.columns, found.planes) == (wanted.columns, wanted.planes)
            assert (found.values == wanted.values).all()
    finally:
        trace.close()


def test_steps_that_are_kept_are_read_again_and_a_look_that_ends_early_keeps_none():
    run, computed = views.ViewRun(program([*["Bcast", "Allreduce"] * 20], ranks=2)), []

    class Counted(views.View):
        def steps(self, run):
            computed.append(1)
            yield from super().steps(run)

    kept = CachedView(Counted("useful"))
    next(kept.steps(run), None)
    first, again = (list(kept.steps(run)) for _ in range(2))
    assert len(computed) == 2
    for one, other in zip(first, again, strict=True):
        assert all((mine == its).all() for mine, its in zip(one, other, strict=True))


def test_events_of_iterations_alone_are_those_among_all_events():
    trace = program([*["Bcast", "Irecv 1", "Isend 1", "Waitall", "Allreduce"] * 30], ranks=2, jitter=0.2)
    shown = views.ViewRun(trace).with_iterations
    begin, end = trace.windows()[[0, -1]].tolist()
    every = shown.events(begin, end)
    wanted = every[every["type"] == ITERATION]
    assert len(wanted) == 2 * 31
    assert (shown.iteration_events(begin, end) == wanted).all()
