"""Wrong arguments of any public function end in one TracelibError with one line, never in an error from inside."""

import inspect
import math
from pathlib import Path

import numpy as np
import pandas
import pytest

import analyzer
from analyzer.arguments import Count, Range, Share, checked
from analyzer.interface.run import Run
from benchmarks.synthetic.run import write_run

WRONG = ["x", -1, 10**30, math.nan, math.inf, "", "\0", b"x", object(), [], {"a": "b"}, [None], np.arange(3), True]
NEEDED = {
    "what": {"at": 0.001},
    "views": {"view": "parallelism"},
    "validate": {"against": "other/run.h5"},
    "monte_carlo": {"vary": "latency=1us..2us", "samples": 2},
    "limits": {"quick": True, "machine": "ideal"},
    "what_if": {"machine": "ideal", "top": 1},
    "sensitivity": {"factor": "latency=1us..2us", "machine": "ideal"},
}
"""Arguments that make a method quick, or that it needs."""
METHODS = sorted(
    name for name, value in inspect.getmembers(Run, inspect.isfunction) if name[0] != "_" and name not in ("close",)
)
SLOW = {"monte_carlo", "limits", "sensitivity", "what_if", "balance", "report", "validate"}
"""Methods of which only the values that cannot be right are tried."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, "halo", 4, 40)
    write_run(folder / "other", "halo", 4, 40, 2)
    return folder


@pytest.fixture
def run(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with analyzer.open(folder / "run.h5") as run:
        yield run


def tried(use):
    """Call a function; it may succeed, or raise one TracelibError of one line. Return its message."""
    try:
        use()
    except analyzer.TracelibError as error:
        assert str(error) and "\n" not in str(error) and len(str(error)) < 500
        return str(error)
    return ""


def impossible(value):
    return isinstance(value, bytes | dict) or type(value) is object or (isinstance(value, str) and value == "\0")


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_method(folder, run, name):
    method = getattr(run, name)
    needed = {key: folder / value if key == "against" else value for key, value in NEEDED.get(name, {}).items()}
    for parameter in inspect.signature(method).parameters:
        for value in WRONG:
            if name in SLOW and not impossible(value):
                continue
            if parameter in ("output", "region") and not impossible(value):
                continue
            message = tried(lambda given=needed | {parameter: value}: method(**given))
            if isinstance(value, bytes) or type(value) is object or (isinstance(value, str) and value == "\0"):
                assert parameter in message, (parameter, value)


@pytest.mark.parametrize("parameter", list(inspect.signature(analyzer.open).parameters))
def test_every_parameter_of_open(folder, parameter):
    for value in WRONG:
        given = {"path": folder / "run.h5"} | {parameter: value}
        tried(lambda given=given: analyzer.open(**given).close())


@pytest.mark.parametrize("name", ["diff", "efficiencies", "speedup", "predict"])
def test_every_parameter_of_functions_of_several_runs(folder, name):
    function = getattr(analyzer, name)
    paths = [folder / "run.h5", folder / "other" / "run.h5"]
    given = {"a": paths[0], "b": paths[1]} if name == "diff" else {"runs": paths}
    given |= {"ranks": 8} if name == "predict" else {}
    for parameter in inspect.signature(function).parameters:
        for value in WRONG:
            if value is not True:
                tried(lambda wrong=given | {parameter: value}: function(**wrong))


@pytest.mark.parametrize(
    "use",
    [
        lambda run: run.calls.head("x"),
        lambda run: run.calls.head(-1),
        lambda run: run.calls.to_parquet(3),
        lambda run: run.waits().to_pandas("x"),
        lambda run: run.waits().to_pandas(3),
        lambda run: analyzer.Tables(run, "x"),
        lambda run: analyzer.Tables(run, math.nan),
        lambda run: analyzer.Tables(3),
        lambda run: analyzer.calls_frame(run, 99),
        lambda run: analyzer.calls_frame(run, -1),
        lambda run: analyzer.calls_frame(run, "x"),
        lambda run: analyzer.calls_frame("run.h5", 0),
        lambda run: analyzer.regions_frame(3),
        lambda run: analyzer.experiments_frame([run.path], bye=("call",)),
        lambda run: analyzer.experiments_frame(3),
        lambda run: analyzer.experiments_frame([run.path], by=("nothing",)),
        lambda run: analyzer.fit(3, "t", ["p"]),
        lambda run: analyzer.fit(pandas.DataFrame({"p": [1, 2]}), "t", ["p"]),
        lambda run: analyzer.fit(pandas.DataFrame({"p": [1, 2], "t": [1, 2]}), "t", ["q"]),
        lambda run: run.waits(longst=3),
        lambda run: run.replay(lag="5us"),
        lambda run: run.balance(region="nowhere"),
        lambda run: run.views("nothing"),
        lambda run: run.views("parallelism", show="x"),
        lambda run: run.views("parallelism", begin=5.0, end=1.0),
        lambda run: run.export(to="word"),
        lambda run: run.export(tables="calls"),
        lambda run: run.pack(codec="zip"),
        lambda run: run.monte_carlo(),
        lambda run: run.monte_carlo("latency"),
        lambda run: run.validate("nowhere.h5"),
        lambda run: run.representative(metric="nothing"),
        lambda run: run.profile(by="rank"),
        lambda run: run.what(0.0001, rank=99),
        lambda run: run.cut(begin=5.0, end=1.0),
    ],
)
def test_single_wrong_uses(run, use):
    assert tried(lambda: use(run))


def test_right_values_of_numpy_and_pandas(run):
    assert run.waits(longest=np.int64(2)).to_dict() == run.waits(longest=2).to_dict()
    assert run.what(np.float64(0.0005)).to_dict() == run.what(0.0005).to_dict()
    with analyzer.open(run.path, ranks=pandas.Series([0])) as one:
        same = analyzer.open(Path(run.path), ranks=np.arange(1))
        assert set(one.calls.to_pandas()["rank"]) == set(same.calls.to_pandas()["rank"]) == {0}


@checked
def function(number: Count, share: Share | None = None, *names: str, kind: "str | tuple[str, ...]" = ()):
    return number, share, names, kind


def test_what_is_checked_and_converted():
    assert function(np.int8(3), np.float32(0.5), "a", kind=["b"]) == (3, 0.5, ("a",), ("b",))
    for wrong, said in [
        ({"number": 0}, "number=0 is not a whole number from 1 on"),
        ({"number": 1, "share": 1}, "share=1 is not a number between 0 and 1"),
        ({"number": 1, "kind": [1]}, "kind=[1] is not text or a list, each entry text"),
        ({"number": 1, "king": ""}, "function has no parameter 'king'"),
    ]:
        with pytest.raises(analyzer.TracelibError) as error:
            function(**wrong)
        assert str(error.value) == said
    with pytest.raises(TypeError, match=r"function\(\) missing"):
        function()


def test_ranges():
    assert str(Range(0, 5)) == "from 0 to 5" and str(Range(0, is_open=True)) == "above 0"
    assert Range(0, 1).holds(1) and not Range(0, 1, is_open=True).holds(1)
