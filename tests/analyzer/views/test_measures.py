"""Measures of rows, histograms and profiles against what a person counts, and against sums of other analyses."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view_trace import ViewTrace

from analyzer import views
from analyzer.errors import TracelibError
from analyzer.views import Columns, Filter, Function, View

NS = 1e9
TYPE = 777
# Value 2 in [10, 30), 4 in [40, 50), 2 in [60, 100)
EVENTS = [(10, 2, TYPE, 0, 0), (30, 0, TYPE, 0, 0), (40, 4, TYPE, 0, 0), (50, 0, TYPE, 0, 0), (60, 2, TYPE, 0, 0)]
VALUE = View("last event value")


def measured(trace, name, **more):
    found = views.measures(trace, VALUE, [name], **more)
    return found.columns[name].tolist()[0]


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(
    ("name", "whole", "cut"),  # of [0, 100), of [20, 80)
    [
        ("average value", 160 / 100, (20 + 40 + 40) / 60),
        ("integral", 160e-9, 100e-9),
        ("maximum", 4, 4),
        ("minimum", 0, 0),
        ("bursts", 3, 1),  # those that are cut do not count
        ("average burst", 70 / 3 * 1e-9, 10e-9),
        ("deviation of bursts", sqrt((20**2 + 10**2 + 40**2) / 3 - (70 / 3) ** 2) * 1e-9, 0),
        ("time with value", 100e-9, 60e-9),
    ],
)
def test_bursts(name, whole, cut, window):
    trace = ViewTrace(100, events=EVENTS, window=window)
    assert measured(trace, name) == pytest.approx(whole)
    assert measured(trace, name, begin_s=20e-9, end_s=80e-9) == pytest.approx(cut)


def test_limits():
    trace = ViewTrace(100, events=EVENTS)
    assert measured(trace, "time with value", values=(1, 2)) == pytest.approx(60e-9)
    assert measured(trace, "time with value", values=(4, 9)) == pytest.approx(10e-9)
    assert measured(trace, "bursts", lengths_s=(15e-9, 1)) == 2
    assert measured(trace, "average burst", lengths_s=(15e-9, 30e-9)) == pytest.approx(20e-9)


def test_a_value_that_never_comes_has_no_average():
    found = views.measures(ViewTrace(100), VALUE, ["average burst", "bursts", "average message size"]).columns
    assert np.isnan(found["average burst"][0]) and np.isnan(found["average message size"][0])
    assert found["bursts"][0] == 0


MESSAGES = [
    (0, 0, 1, 0, 100, 5, 10, 12, 15, 30),
    (0, 0, 1, 0, 60, 6, 20, 24, 40, 44),
    (1, 0, 0, 0, 7, 8, 50, 52, 20, 60),
]


@pytest.mark.parametrize(
    ("name", "whole", "cut"),  # ranks 0 and 1; of all, of [11, 45)
    [
        ("average message size", (80, 7), (60, np.nan)),
        ("bytes sent", (160, 7), (160, 0)),
        ("bytes received", (7, 160), (0, 160)),
        ("sends", (2, 1), (2, 0)),
        ("receives", (1, 2), (0, 2)),
        ("send records", (4, 2), (3, 0)),
        ("receive records", (2, 4), (1, 4)),
        ("events", (5, 0), (2, 0)),
    ],
)
def test_records(name, whole, cut):
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES, events=EVENTS, window=7)
    found = views.measures(trace, View(), [name]).columns[name]
    assert found.tolist() == pytest.approx(list(whole), nan_ok=True)
    found = views.measures(trace, View(), [name], begin_s=11e-9, end_s=45e-9).columns[name]
    assert found.tolist() == pytest.approx(list(cut), nan_ok=True)
    total = views.measures(trace, View(level="application"), [name]).columns[name]
    assert total[0] == pytest.approx(np.sum(whole) if name != "average message size" else 167 / 3)


def test_logical_sends():
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES)
    logical = View(filter=Filter(logical=True))
    for view, expected in ((View(), [1, 0]), (logical, [2, 0])):
        found = views.measures(trace, view, ["sends"], begin_s=10e-9, end_s=24e-9)
        assert found.columns["sends"].tolist() == expected


def test_a_function_of_the_user_is_asked_for_each_record():
    states = [(0, 10, 0, 0, 1), (20, 50, 0, 0, 3)]
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES[:1], states=states, events=EVENTS[:2], window=7)
    kinds = []

    def one(kind, rows):
        kinds.extend([kind] * len(rows))
        return np.ones(len(rows))

    found = views.measures(trace, View(), [one])
    assert found.columns["one"].tolist() == [4 + 2 + 2, 2]
    counts = {kind: kinds.count(kind) for kind in kinds}
    assert counts == {
        "state begin": 2, "state end": 2, "event": 2, "logical send": 1, "physical send": 1, "logical receive": 1,
        "physical receive": 1,
    }  # fmt: skip

    def length(kind, rows):  # in the second record begin and end are exchanged
        return (rows["begin"] - rows["end"]) if kind == "state end" else 0

    assert views.measures(trace, View(), [Function("length", user=length)]).columns["length"].tolist() == [40, 0]


def test_measures_as_pandas():
    found = views.measures(ViewTrace(100, events=EVENTS), View("last size"), ["average value", "bursts"])
    frame = found.to_pandas()
    assert list(frame.columns) == ["average value (bytes)", "bursts"] and frame.index.name == "thread"
    assert "average value (bytes)" in found._repr_html_()


# Control: 1 in [0, 40), 2 in [40, 100). Data as EVENTS.
CONTROL = View(Function("stage", ("states",), lambda rows: rows["state"]))
STATES = [(0, 40, 0, 0, 1), (40, 100, 0, 0, 2)]


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(
    ("statistic", "expected"),  # of columns 1 and 2
    [
        ("time", (40e-9, 60e-9)),
        ("% time", (40, 60)),
        ("% time not zero", (40, 60)),  # the control is not 0 anywhere
        ("% window time", (40, 60)),
        ("bursts", (3, 3)),
        ("bursts not zero", (1, 2)),
        ("% bursts", (50, 50)),
        ("integral", (40e-9, 120e-9)),
        ("average value", (1, 2)),
        ("average value not zero", (2, 120 / 50)),
        ("maximum", (2, 4)),
        ("minimum", (0, 0)),
        ("average burst time", (40e-9 / 3, 20e-9)),
        ("deviation of burst time", (sqrt((10**2 + 20**2 + 10**2) / 3 - (40 / 3) ** 2) * 1e-9,
                                     sqrt((10**2 + 10**2 + 40**2) / 3 - 20**2) * 1e-9)),
        ("average per burst", (2 / 3, 2)),
        ("average per burst not zero", (2, 3)),
        ("sum of bursts", (2, 6)),
    ],
)  # fmt: skip
def test_histogram_of_two_views(statistic, expected, window):
    trace = ViewTrace(100, events=EVENTS, states=STATES, window=window)
    found = views.histogram(trace, VALUE, statistic, by=CONTROL)
    assert found.columns == ("1", "2") and found.rows == ("0",)
    assert found.values[0, 0].tolist() == pytest.approx(list(expected))


def test_time_not_zero_is_that_of_the_control():
    trace = ViewTrace(100, events=EVENTS, states=STATES)
    found = views.histogram(trace, CONTROL, "% time not zero", by=VALUE, columns=(0, 4, 2))
    assert found.values[0, 0].tolist() == pytest.approx([0, 100 * 60 / 70, 100 * 10 / 70])


@pytest.mark.parametrize("window", [None, 7])
def test_bursts_that_are_not_joined(window):
    """Each event begins one, as in Paraver, whatever its value: 5 twice, then 3."""
    events = [(10, 5, TYPE, 0, 0), (30, 5, TYPE, 0, 0), (50, 3, TYPE, 0, 0)]
    trace = ViewTrace(100, events=events, window=window)
    for level in ("thread", "task"):
        for compose, joined, expected in (((), True, [1, 1]), ((), False, [1, 2]), ("join bursts", False, [1, 1])):
            view = View("last event value", level=level, compose1=compose)
            found = views.histogram(trace, view, "bursts", columns=(3, 5, 2), joined=joined)
            assert found.values[0, 0].tolist() == expected


@pytest.mark.parametrize("window", [None, 7])
def test_messages_by_partner(window):
    """As Paraver's tables of messages: who sends how much to whom. The second message is sent in state 1, the others
    in state 2."""
    states = [(0, 15, 0, 0, 2), (15, 40, 0, 0, 1), (40, 100, 0, 0, 2), (0, 100, 1, 0, 2)]
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES, states=states, window=window)
    for level in ("thread", "task"):
        view = View("bytes in flight", level=level)
        found = views.histogram(trace, view, "bytes sent", by="partner")
        assert (found.rows, found.columns, found.control) == (("0", "1"), ("0", "1"), "partner")
        assert found.values[0].tolist() == [[0, 160], [7, 0]]
        assert views.histogram(trace, view, "receives", by="partner").values[0].tolist() == [[0, 1], [2, 0]]
        largest = views.histogram(trace, view, "maximum bytes received", by="partner").values[0]
        np.testing.assert_array_equal(largest, [[np.nan, 7], [100, np.nan]])
    by_state = views.histogram(trace, VALUE, "bytes sent", by="partner", plane=CONTROL, planes=(1, 2, 1))
    assert by_state.values.tolist() == [[[0, 60], [0, 0]], [[0, 100], [7, 0]]]
    with pytest.raises(TracelibError, match="'time' is no number of messages"):
        views.histogram(trace, VALUE, "time", by="partner")


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(
    ("statistic", "expected"),  # rank 0: columns 1 and 2; rank 1
    [
        ("sends", ([2, 0], [0, 1])),
        ("receives", ([0, 1], [1, 1])),
        ("bytes sent", ([160, 0], [0, 7])),
        ("bytes received", ([0, 7], [100, 60])),
        ("average bytes sent", ([80, np.nan], [np.nan, 7])),
        ("minimum bytes sent", ([60, np.nan], [np.nan, 7])),
        ("maximum bytes sent", ([100, np.nan], [np.nan, 7])),
        ("average bytes received", ([np.nan, 7], [100, 60])),
        ("minimum bytes received", ([np.nan, 7], [100, 60])),
        ("maximum bytes received", ([np.nan, 7], [100, 60])),
    ],
)
def test_histogram_of_messages(statistic, expected, window):
    states = [*STATES, (0, 40, 1, 0, 1), (40, 100, 1, 0, 2)]
    trace = ViewTrace(100, threads=(1, 1), messages=MESSAGES, states=states, window=window)
    found = views.histogram(trace, View("bytes in flight"), statistic, by=CONTROL)
    for row, of_row in zip(found.values[0], expected, strict=True):
        assert row.tolist() == pytest.approx(of_row, nan_ok=True)
    together = views.histogram(trace, View("bytes in flight"), statistic, by=CONTROL, together=True)
    if statistic in ("sends", "receives", "bytes sent", "bytes received"):
        assert together.values[0, 0].tolist() == np.nansum(expected, axis=0).tolist()


@pytest.mark.parametrize("window", [None, 7])
def test_parallelism_utilisation_and_queue_by_hand(window):
    """Two ranks of 100 ns: both compute in [20, 40) and [60, 80), one of them else; the network takes a message at 30
    that is sent at 10, one at 24 that is sent at 20."""
    states = [(0, 40, 0, 0, 1), (60, 100, 0, 0, 1), (20, 80, 1, 0, 1)]
    messages = [(0, 0, 1, 0, 8, 0, 10, 30, 50, 60), (1, 0, 0, 0, 8, 0, 20, 24, 50, 60)]
    trace = ViewTrace(100, threads=(1, 1), states=states, messages=messages, window=window)
    assert views.profile(trace, "parallelism", 5).mean.tolist() == [[1, 2, 1, 2, 1]]
    ((parallelism,),) = views.measures(trace, "parallelism", ["average value"]).columns.values()
    assert parallelism == pytest.approx(1.4)
    utilisation = View("useful", level="application", application="average")
    ((found,),) = views.measures(trace, utilisation, ["average value"]).columns.values()
    assert found == pytest.approx(parallelism / trace.size)
    queue = views.measures(trace, View("sends queued", level="application"), ["average value", "maximum"]).columns
    assert [column[0] for column in queue.values()] == pytest.approx([(10 + 2 * 4 + 6) / 100, 2])


def test_histogram_on_planes():
    trace = ViewTrace(100, events=EVENTS, states=STATES)
    half = View(Function("half", ("states",), lambda rows: rows["state"]), compose1=("subtract", 1))
    found = views.histogram(trace, VALUE, "time", by=VALUE, plane=half, columns=(0, 4, 2), planes=(0, 1, 1))
    assert found.planes == ("0", "1") and found.columns == ("0 to 2", "2 to 4", "4 to 6")
    assert found.values[:, 0].tolist() == pytest.approx(np.array([[20, 20, 0], [10, 40, 10]]) / NS)
    frame = found.to_pandas()
    assert frame.loc[("1", "0"), "2 to 4"] == pytest.approx(40e-9)


def test_histogram_of_one_view_and_of_a_part():
    trace = ViewTrace(100, events=EVENTS)
    found = views.histogram(trace, VALUE, "time", columns=(1, 3, 1), begin_s=20e-9, end_s=70e-9)
    assert found.columns == ("1", "2", "3")
    assert found.values[0, 0].tolist() == pytest.approx([0, 20e-9, 0])
    assert found.filled().columns == ("2",)


def test_a_coarser_view_counts_for_each_of_its_rows():
    trace = ViewTrace(100, threads=(1, 1), events=EVENTS, states=STATES)
    tasks = View("last event value", level="application")
    found = views.histogram(trace, tasks, "integral", by=View("task id"))
    assert found.rows == ("0", "1") and found.columns == ("1", "2")
    assert found.values[0].tolist() == pytest.approx(np.array([[160, 0], [0, 160]]) / NS)


def test_what_stands_below_a_table():
    trace = ViewTrace(100, threads=(1, 1, 1), events=[(0, 1, TYPE, 0, 0), (40, 1, TYPE, 1, 0)])
    found = views.histogram(trace, VALUE, "time", columns=(1, 1, 1)).summary()
    expected = {"total": 160e-9, "average": 80e-9, "maximum": 100e-9, "minimum": 60e-9, "standard deviation": 20e-9,
                "average / maximum": 0.8}  # fmt: skip
    assert {name: values[0, 0] for name, values in found.items()} == pytest.approx(expected)


def test_usual_columns():
    trace = ViewTrace(100, events=EVENTS)
    assert views.histogram(trace, VALUE, "time").columns == ("0", "1", "2", "3", "4")
    halves = View("last event value", compose1=("divide", 8))
    assert views.histogram(trace, halves, "time").edges.tolist() == pytest.approx(np.arange(11) * 0.05)
    with pytest.raises(TracelibError, match="10000 planes of 1 rows and 9991 columns are too many"):
        views.histogram(trace, VALUE, "time", columns=(0, 9990, 1), plane=VALUE, planes=(0, 9999, 1))
    with pytest.raises(TracelibError, match="columns are not between 1 and"):
        Columns(0, 1e9, 1)
    with pytest.raises(TracelibError, match="there is no statistic 'sum'"):
        views.histogram(trace, VALUE, "sum")


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 4)), max_size=8, unique_by=lambda event: event[0]),
    st.sampled_from([None, 7, 30]), st.integers(1, 9), st.integers(0, 60), st.integers(61, 100),
)  # fmt: skip
def test_all_sums_are_the_integral(events, window, bins, begin, end):
    """A profile, a histogram and a measure add up the same time; each instant has the value that was last."""
    rows = [(time, value, TYPE, 0, 0) for time, value in events]
    trace = ViewTrace(100, events=rows, window=window)
    instants = [max([(t, v) for t, v in events if t <= now], default=(0, 0))[1] for now in range(begin, end)]
    part = {"begin_s": begin / NS, "end_s": end / NS}
    assert measured(trace, "integral", **part) == pytest.approx(sum(instants) / NS)
    over_time = views.profile(trace, VALUE, bins, **part)
    widths = np.diff(over_time.edges)
    assert over_time.edges[0] == begin and over_time.edges[-1] == end
    assert (over_time.mean[0] * widths).sum() == pytest.approx(sum(instants))
    for number, (first, width) in enumerate(zip(over_time.edges[:-1] - begin, widths, strict=True)):
        inside = instants[first : first + width]
        assert over_time.mean[0, number] == pytest.approx(np.mean(inside))
        assert [over_time.maximum[0, number], over_time.minimum[0, number]] == [max(inside), min(inside)]
    by_value = views.histogram(trace, VALUE, "time", columns=(0, 4, 1), **part)
    assert (by_value.values[0, 0] * NS).round().tolist() == [instants.count(value) for value in range(5)]
    frame = views.bursts(trace, VALUE, **part).to_pandas()
    assert (frame["time_s"] * frame["value"]).sum() == pytest.approx(sum(instants) / NS)
