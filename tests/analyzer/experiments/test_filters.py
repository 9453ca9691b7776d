"""Selecting rows, removing outliers, joining, and putting repeated measurements together: numbers by hand."""

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.experiments.expression import evaluate
from analyzer.experiments.filters import by_deviation, by_median, observable_of, outliers, select
from analyzer.experiments.table import join, per

FRAME = pandas.DataFrame(
    {
        "region": ["a", "b", "a", "b"],
        "n": [1, 2, 3, 4],
        "grid.n": [2.0, 4.0, np.nan, 16.0],
        "v[1]": [9, 2, 9, 2],
        "p->n": [3, 1, 4, 2],
        "time": [4.0, 3.0, 2.0, 1.0],
    }
)
CONDITIONS = {
    "n > 2": [2, 3],
    "1 < n <= 3": [1, 2],
    "n in (1, 4)": [0, 3],
    "n not in [1, 4]": [1, 2],
    "region == 'a' and n > 1": [2],
    "region in ('a',) or n == 4": [0, 2, 3],
    "not n > 2": [0, 1],
    "log2(n) % 1 == 0": [0, 1, 3],
    "grid.n ** 2 > 10": [1, 3],
    "v[1] / p->n > 2": [0, 2],
    "max(n, 3) == 3": [0, 1, 2],
    "n * time == 6": [1, 2],
    "-n // 2 == -1": [0, 1],
    "3 == 3": [0, 1, 2, 3],
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(condition):
    chosen = select(FRAME, [condition])
    assert chosen["n"].tolist() == [FRAME["n"][row] for row in CONDITIONS[condition]]


WRONG = {
    "n >": "is not an expression: invalid syntax",
    "m > 1": "there is no column m",
    "n + 1": "is no condition",
    "__import__('os')": "there is no function __import__",
    "n.real > 1": "there is no column n.real",
    "[n for n in (1,)]": "cannot be part of it",
    "region + 1 == 2": "cannot be computed",
    "'a' * 999999999 == 'a'": "computes with a text",
    "log2(n, n, n) > 1": "cannot be computed",
    "n is 1": "Is is no operator here",
    "lambda: n": "cannot be part of it",
    "(" * 300 + "n" + ")" * 300: "is not an expression",
    "": "is not an expression",
}


@pytest.mark.parametrize("condition", WRONG)
def test_what_is_no_condition(condition):
    with pytest.raises(TracelibError) as raised:
        select(FRAME, [condition])
    assert WRONG[condition] in str(raised.value)
    assert "\n" not in str(raised.value)


@settings(max_examples=60)
@given(st.recursive(st.sampled_from(["n", "time", "2", "0.5"]), lambda inner: st.one_of(
    st.tuples(st.just("("), inner, st.sampled_from(["+", "-", "*"]), inner, st.just(")")).map(" ".join),
    inner.map("-{}".format), inner.map("abs({})".format),
), max_leaves=8))  # fmt: skip
def test_arithmetic_is_python_s(text):
    wanted = [eval(text, {"abs": abs}, {"n": n, "time": t}) for n, t in zip(FRAME["n"], FRAME["time"], strict=True)]
    np.testing.assert_allclose(evaluate(text, FRAME).astype(float), wanted)


def test_two_deviations():
    """Nine of 10 and one of 20: mean 11, deviation of the sample sqrt(90 / 9) = 3.162, the last is 2.85 of them away.
    Of five values none can be out: 4 / sqrt(5) = 1.79."""
    assert by_deviation(np.array([10.0] * 9 + [20])).tolist() == [False] * 9 + [True]
    assert not by_deviation(np.array([10.0] * 4 + [1e9])).any()
    assert not by_deviation(np.array([1.0, 100.0])).any()


def test_modified_z_scores():
    """Median 3, deviations 2 1 0 1 2 7: median 1.5. 0.6745 x 7 / 1.5 = 3.15 is in, 8.0 / 1.5 x 0.6745 = 3.6 is out."""
    values = np.array([1.0, 2, 3, 4, 5, 3])
    assert not by_median(np.append(values, 3 + 5.1)).any()
    # seven values: median 3, deviations sorted 0 0 1 1 2 2 d, median 1: out from 3.5 / 0.6745 = 5.19 on
    assert by_median(np.append(values, 3 + 5.2)).tolist() == [False] * 6 + [True]
    assert not by_median(np.array([5.0, 5, 5, 9])).any()


def test_two_outliers_that_hide_each_other():
    values = np.array([1.0, 1.1, 0.9, 1.05, 0.95, 50, 60])
    assert not by_deviation(values).any()
    assert by_median(values).tolist() == [False] * 5 + [True, True]


def repeated():
    """Two settings of which one is slow: what is usual there would be out here."""
    times = [1.0, 1.1, 0.9, 1.05, 9.0, 9.0, 9.1, 8.9, 9.05, 1.0]
    return pandas.DataFrame({"n": [1] * 5 + [2] * 5, "time": times, "ranks": [4] * 10})


def test_outliers_are_found_in_each_setting():
    found = outliers(repeated(), "time", ["n", "ranks"])
    assert np.flatnonzero(found).tolist() == [4, 9]
    assert not outliers(repeated(), "time", ["ranks"]).any()


def test_a_missing_factor_is_a_value_and_a_missing_time_no_outlier():
    frame = repeated()
    frame["n"] = frame["n"].where(frame["n"] == 1, np.nan).astype(float)
    frame.loc[0, "time"] = np.nan
    assert np.flatnonzero(outliers(frame, "time", ["n"])).tolist() == [4, 9]


def test_the_observable_is_the_thesis_s_first():
    frame = pandas.DataFrame({"time": [1], "CLOCK": [1], "PAPI_REAL_USEC": [1]})
    assert observable_of(frame) == "PAPI_REAL_USEC"
    assert observable_of(frame[["time", "CLOCK"]]) == "CLOCK"
    assert observable_of(frame[["time"]]) == "time"
    with pytest.raises(TracelibError):
        observable_of(pandas.DataFrame({"n": [1]}))


def test_only_common_columns_are_joined():
    other = pandas.DataFrame({"region": ["a"], "time": [7.0], "p": [2]})
    frame, left_out = join([FRAME, other])
    assert frame.columns.tolist() == ["region", "time"] and left_out == ("n", "grid.n", "v[1]", "p->n", "p")
    assert frame["region"].tolist() == ["a", "a", "a", "b", "b"]
    assert frame["time"].tolist() == [4, 2, 7, 3, 1]
    assert join([FRAME, FRAME[:0]])[1] == () and len(join([])[0]) == 0


def test_one_row_for_each_run_and_setting():
    """Median, least, mean and most over executions and ranks; a setting without a value is one, too."""
    frame = pandas.DataFrame({
        "region": ["a"] * 4 + ["b"] * 2, "run": ["r"] * 6, "rank": [0, 0, 1, 1, 0, 1], "execution": [1, 2, 1, 2, 1, 1],
        "ranks": 2, "time": [1.0, 2, 3, 6, 5, 7], "n": [8.0, 8, 8, 8, np.nan, np.nan],
    })  # fmt: skip
    wanted = {"median": [2.5, 6], "min": [1, 5], "mean": [3, 6], "max": [6, 7]}
    for statistic, values in wanted.items():
        found = per("run", frame, ["region", "ranks", "n"], statistic)
        assert found.columns.tolist() == ["region", "run", "ranks", "n", "rows", "time"]
        assert found["time"].tolist() == values and found["rows"].tolist() == [4, 2]
    by_execution = per("execution", frame, ["ranks"], "max")
    assert by_execution[["execution", "time", "rows"]].to_numpy().tolist() == [[1, 3, 2], [2, 6, 2], [1, 7, 2]]


def test_what_tells_rows_apart_and_a_column_that_is_called_like_ours():
    frame = pandas.DataFrame({"n": [1, 1], "rows": [5, 7], "time": [1.0, 3.0]})
    with pytest.raises(TracelibError, match="nothing says which rows are of one run"):
        per("run", frame, [], "max")
    assert per("run", frame, ["n"], "max").to_dict("list") == {"n": [1], "rows_": [2], "rows": [7], "time": [3]}
    assert len(per("run", frame[:0], ["n"], "max")) == 0
