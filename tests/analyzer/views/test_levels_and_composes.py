"""Functions of levels and compose functions, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_trace import ViewTrace, burst_list, bursts_of

from analyzer.errors import TracelibError
from analyzer.trace import State
from analyzer.views import Derived, Filter, Level, View

TYPE, OTHER = 777, 888
# Rank 0 has two threads, rank 1 one.
EVENTS = [(10, 2, TYPE, 0, 0), (20, 5, TYPE, 0, 1), (30, 4, TYPE, 1, 0), (40, 0, TYPE, 0, 0), (50, 0, TYPE, 0, 1)]


def trace(**more):
    return ViewTrace(60, threads=(2, 1), events=EVENTS, nodes=("a", "b"), node_of=[0, 1], **more)


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("adding", [(0, 10, 0), (10, 20, 2), (20, 40, 7), (40, 50, 5), (50, 60, 0)]),
        ("adding sign", [(0, 10, 0), (10, 50, 1), (50, 60, 0)]),
        ("average", [(0, 10, 0), (10, 20, 1), (20, 40, 3.5), (40, 50, 2.5), (50, 60, 0)]),
        ("maximum", [(0, 10, 0), (10, 20, 2), (20, 50, 5), (50, 60, 0)]),
        ("minimum", [(0, 20, 0), (20, 40, 2), (40, 60, 0)]),
        ("changed value", [(0, 10, 0), (10, 20, 2), (20, 40, 5), (40, 60, 0)]),
        ("thread 2", [(0, 20, 0), (20, 50, 5), (50, 60, 0)]),
        ("thread 3", [(0, 60, 0)]),
        (lambda values: values.prod(axis=1), [(0, 20, 0), (20, 40, 10), (40, 60, 0)]),
    ],
)
def test_tasks(task, expected, window):
    found = burst_list(trace(window=window), View("last event value", level="task", task=task))
    assert found["0"] == expected


@pytest.mark.parametrize(
    ("level", "more", "expected"),
    [
        ("application", {}, {"application 1": [
            (0, 10, 0), (10, 20, 2), (20, 30, 7), (30, 40, 11), (40, 50, 9), (50, 60, 4)]}),
        ("application", {"task": "maximum", "application": "minimum"}, {"application 1": [
            (0, 30, 0), (30, 50, 4), (50, 60, 0)]}),
        ("node", {}, {"a": [(0, 10, 0), (10, 20, 2), (20, 40, 7), (40, 50, 5), (50, 60, 0)],
                      "b": [(0, 30, 0), (30, 60, 4)]}),
        ("system", {"node": "maximum"}, {"all nodes": [
            (0, 10, 0), (10, 20, 2), (20, 30, 5), (30, 50, 9), (50, 60, 4)]}),
    ],
)  # fmt: skip
def test_other_levels(level, more, expected):
    assert burst_list(trace(), View("last event value", level=level, **more)) == expected


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(("first", "second", "at_30"), [(0, 1, 9), (1, 0, 7)])
def test_of_two_that_change_at_once_the_one_with_the_newer_value_counts(first, second, at_30, window):
    """As in Paraver's kernel: at 30 both threads change, to 7 and 9."""
    events = [(10, 2, TYPE, 0, first), (20, 5, TYPE, 0, second), (30, 7, TYPE, 0, 0), (30, 9, TYPE, 0, 1)]
    of = ViewTrace(60, threads=(2,), events=events, window=window)
    found = bursts_of(of, View("last event value", level="task", task="changed value"))
    assert found == [(0, 10, 0), (10, 20, 2), (20, 30, 5), (30, 60, at_30)]


@pytest.mark.parametrize("window", [None, 7, 1])
@pytest.mark.parametrize(
    ("compose", "expected"),
    [
        ("enumerate", [(0, 10, 0), (10, 25, 1), (25, 40, 2), (40, 60, 3)]),
        ("accumulate", [(0, 10, 0), (10, 25, 3), (25, 40, 6), (40, 60, 11)]),
        ("interval time", [(0, 10, 0.010), (10, 25, 0.015), (25, 30, 0.005), (30, 40, 0.010), (40, 60, 0.020)]),
    ],
)
def test_composes_of_intervals(compose, expected, window):
    """An event of the same value begins another interval."""
    events = [(10, 3, TYPE, 0, 0), (25, 3, TYPE, 0, 0), (30, 0, TYPE, 0, 0), (40, 5, TYPE, 0, 0)]
    of = ViewTrace(60, events=events, window=window)
    assert bursts_of(of, View("last event value", composes={"thread": compose})) == expected


def test_cpus_have_the_threads_that_are_first_seen_on_them():
    states = [(0, 10, 0, 0, 1), (5, 60, 0, 1, 1), (20, 60, 1, 0, 1)]
    of = {(0, 0): 2, (0, 1): 1, (1, 0): 2}
    run = ViewTrace(60, threads=(2, 1), states=states, cpu_of=of, window=10)
    assert burst_list(run, View("useful", level=Level.CPU)) == {
        "CPU 1": [(0, 5, 0), (5, 60, 1)],
        "CPU 2": [(0, 10, 1), (10, 20, 0), (20, 60, 1)],
    }
    with pytest.raises(TracelibError, match="does not say on which CPU"):
        burst_list(ViewTrace(60, states=[(0, 10, 0, 0, 1)]), View(level="cpu"))


def test_several_applications_have_a_row_each():
    run = trace()
    run.origin = type(run.origin)(applications=(1, 1))
    found = burst_list(run, View("last event value", level="application", task="maximum"))
    assert found == {
        "application 1": [(0, 10, 0), (10, 20, 2), (20, 50, 5), (50, 60, 0)],
        "application 2": [(0, 30, 0), (30, 60, 4)],
    }


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_a_sum_is_0_again_when_all_are(values):
    """However sums are rounded: a view above 0 has no bursts after all have ended."""
    states = [(k, 100, k, 0, State.RUNNING) for k in range(len(values))]
    run = ViewTrace(200, threads=(1,) * len(values), states=states)
    found = bursts_of(run, View(lambda rows: np.array(values)[rows["rank"]], level="application"))
    last = found[-1]
    assert last == (100, 200, 0) or found == [(0, 200, 0)]
    at_99 = next(value for begin, end, value in found if begin <= 99 < end)
    assert at_99 == pytest.approx(sum(values), abs=1e-6)


# One thread: 3 from 10, 0 from 20, 7 from 30, 7 again from 40, 0 from 50, 0 again from 55
STEPS = [(10, 3, TYPE, 0, 0), (20, 0, TYPE, 0, 0), (30, 7, TYPE, 0, 0), (40, 7, TYPE, 0, 0), (50, 0, TYPE, 0, 0),
         (55, 0, TYPE, 0, 0)]  # fmt: skip


def values_at(found):
    return [next(value for begin, end, value in found if begin <= t < end) for t in (5, 15, 25, 35, 45, 52, 58)]


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(
    ("compose", "expected"),
    [
        ("as is", [0, 3, 0, 7, 7, 0, 0]),
        ("sign", [0, 1, 0, 1, 1, 0, 0]),
        ("1-sign", [1, 0, 1, 0, 0, 1, 1]),
        (("module", 4), [0, 3, 0, 3, 3, 0, 0]),
        ("module", [0, 3, 0, 7, 7, 0, 0]),
        (("module+1", 4), [1, 4, 1, 4, 4, 1, 1]),
        (("divide", 2), [0, 1.5, 0, 3.5, 3.5, 0, 0]),
        ("divide", [0, 3, 0, 7, 7, 0, 0]),
        (("product", 2), [0, 6, 0, 14, 14, 0, 0]),
        (("add", 1), [1, 4, 1, 8, 8, 1, 1]),
        (("subtract", 1), [-1, 2, -1, 6, 6, -1, -1]),
        ([("divide", 2), "floor"], [0, 1, 0, 3, 3, 0, 0]),
        ([("divide", 2), "ceil"], [0, 2, 0, 4, 4, 0, 0]),
        ([("divide", 4), "round"], [0, 1, 0, 2, 2, 0, 0]),
        (("is equal", 3, 7), [0, 3, 0, 7, 7, 0, 0]),
        (("is equal (sign)", 7, 0), [1, 0, 1, 1, 1, 1, 1]),
        ("join bursts", [0, 3, 0, 7, 7, 0, 0]),
        ("select range", [0, 3, 0, 7, 7, 0, 0]),
        (("select range", 3, 6), [0, 3, 0, 0, 0, 0, 0]),
        (("select range [)", 3, 7), [0, 3, 0, 0, 0, 0, 0]),
        (("is in range", 3, 7), [0, 1, 0, 1, 1, 0, 0]),
        (("is in range [)", 0, 7), [1, 1, 1, 0, 0, 1, 1]),
        (("is equal", 7), [0, 0, 0, 7, 7, 0, 0]),
        (("is equal (sign)", 0), [1, 0, 1, 0, 0, 1, 1]),
        ("stacked value", [0, 3, 0, 7, 7, 7, 0]),  # 7 twice, so that 0 twice ends both
        ("nesting level", [0, 1, 0, 1, 2, 1, 0]),
        ("delta", [0, 3, -3, 7, 7, -7, -7]),
        ("burst time", [0, 0.01, 0, 0.02, 0.02, 0, 0]),
        (lambda values: values**2, [0, 9, 0, 49, 49, 0, 0]),
    ],
)
def test_composes(compose, expected, window):
    run = ViewTrace(60, events=STEPS, window=window)
    assert values_at(bursts_of(run, View("last event value", compose1=compose))) == expected


def test_a_routine_counts_again_after_one_that_it_called():
    """Enter 1, enter 2, leave, enter 3, leave, leave; the calls of 2 and 3 take no time at all here and there."""
    events = [(t, v, TYPE, 0, 0) for t, v in ((10, 1), (20, 2), (20, 0), (30, 3), (40, 0), (50, 0))]
    found = bursts_of(ViewTrace(60, events=events), View("last event value", compose1="stacked value"))
    assert found == [(0, 10, 0), (10, 30, 1), (30, 40, 3), (40, 50, 1), (50, 60, 0)]


def test_compose_2_comes_first():
    run = ViewTrace(60, events=STEPS)
    found = bursts_of(run, View("last event value", compose2=("add", 1), compose1=("module", 4)))
    assert values_at(found) == [1, 0, 1, 0, 0, 1, 1]
    found = bursts_of(run, View("last event value", compose2=("module", 4), compose1=("add", 1)))
    assert values_at(found) == [1, 4, 1, 4, 4, 1, 1]


def test_composes_between_levels():
    view = View("last event value", level="application", composes={"thread": "sign", "task": ["sign", ("add", 1)]})
    assert bursts_of(trace(), view) == [(0, 10, 2), (10, 30, 3), (30, 50, 4), (50, 60, 3)]


def test_derived_views():
    first = View("last event value", filter=Filter(types=TYPE))
    tasks = View("last event value", filter=Filter(types=TYPE), level="task")
    run = trace(window=7)
    share = burst_list(run, Derived("divide", (first, tasks), factors=(100,)))
    assert share["0.0"] == [(0, 10, 0), (10, 20, 100), (20, 40, pytest.approx(200 / 7)), (40, 60, 0)]
    assert share["0.1"] == [(0, 20, 0), (20, 40, pytest.approx(500 / 7)), (40, 50, 100), (50, 60, 0)]

    def of(operation, **more):
        return burst_list(run, Derived(operation, (first, tasks), **more))["0.0"]

    assert of("add") == [(0, 10, 0), (10, 20, 4), (20, 40, 9), (40, 50, 5), (50, 60, 0)]
    assert of("subtract") == [(0, 20, 0), (20, 50, -5), (50, 60, 0)]
    assert of("product") == [(0, 10, 0), (10, 20, 4), (20, 40, 14), (40, 60, 0)]
    assert of("maximum") == burst_list(run, tasks)["0"]
    assert of("minimum") == burst_list(run, first)["0.0"]
    assert of("different") == [(0, 20, 0), (20, 50, 1), (50, 60, 0)]
    assert of("controlled") == [(0, 10, 0), (10, 40, 2), (40, 60, 0)]
    assert of("add", compose1="sign") == [(0, 10, 0), (10, 50, 1), (50, 60, 0)]
    assert of(lambda values: values[:, 1]) == burst_list(run, tasks)["0"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: View(level="rank"), "there is no level 'rank'"),
        (lambda: bursts_of(ViewTrace(9), View(task="sum", level="task")), "no function of a level 'sum'"),
        (lambda: bursts_of(ViewTrace(9), View(compose1="signs")), "no compose function 'signs'"),
        (lambda: bursts_of(ViewTrace(9), View(compose1=("divide", 0))), "nothing is divided by 0"),
        (lambda: Derived("minus", (View(), View())), "no operation 'minus'"),
        (lambda: Derived("add", (View(),)), "made of 2 to"),
        (lambda: View(composes={"rank": "sign"}), "no level 'rank'"),
        (lambda: View(42), "names no function of a view"),
        (lambda: Filter(size="big"), "are no numbers"),
    ],
)
def test_mistakes(make, said):
    with pytest.raises(TracelibError, match=said):
        make()
