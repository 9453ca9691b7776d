"""analyzer.open: what its methods return is what the commands print, and what cannot be done is said in one line."""

import dataclasses
import inspect
import json
import re

import pandas
import public_names
import pytest

import analyzer
from analyzer.cli import main
from benchmarks.synthetic.run import write_run

METHODS = {
    "look": lambda run: run.summary(),
    "check": lambda run: run.check(),
    "waits": lambda run: run.waits(longest=3),
    "efficiency": lambda run: run.efficiency(region="iteration", eager_limit="32K"),
    "structure": lambda run: run.structure(method="calls"),
    "hot": lambda run: run.hot(),
    "critical-path": lambda run: run.critical_path(top=2),
    "profile": lambda run: run.profile(bins=50),
    "clusters": lambda run: run.clusters(method="kmeans", kinds=2),
    "what": lambda run: run.what(0.008, rank=1),
    "replay": lambda run: run.replay(latency="5us", bandwidth="100MB/s", eager="32K"),
    "limits": lambda run: run.limits("ideal", quick=True, latency="2us"),
    "what-if": lambda run: run.what_if(machine="ideal", top=2),
    "sensitivity": lambda run: run.sensitivity("latency=1us..5us", machine="ideal"),
    "balance": lambda run: run.balance("ideal", items=100),
    "loggp": lambda run: run.loggp(),
    "monte-carlo": lambda run: run.monte_carlo("latency=1us..100us", samples=4, bandwidth="1GB/s"),
    "representative": lambda run: run.representative(steps=512),
    "views": lambda run: run.views("parallelism", show="histogram"),
}
OPTIONS = {
    "look": ["-q"],
    "waits": ["--top", "3"],
    "efficiency": ["--region", "iteration", "--eager-limit", "32K"],
    "structure": ["--method", "calls"],
    "critical-path": ["--top", "2"],
    "profile": ["--bins", "50"],
    "clusters": ["--method", "kmeans", "--kinds", "2"],
    "what": ["--at", "8ms", "--rank", "1"],
    "replay": ["--latency", "5us", "--bandwidth", "100MB/s", "--eager-limit", "32K"],
    "limits": ["--machine", "ideal", "--quick", "--latency", "2us"],
    "what-if": ["--machine", "ideal", "--top", "2"],
    "sensitivity": ["--factor", "latency=1us..5us", "--machine", "ideal"],
    "balance": ["--machine", "ideal", "--items", "100"],
    "monte-carlo": ["--vary", "latency=1us..100us", "-n", "4", "--bandwidth", "1GB/s"],
    "representative": ["--steps", "512"],
    "views": ["--view", "parallelism", "--show", "histogram"],
}
WRITTEN = {"schema", "version", "files", "written", "picture"}
"""Keys of a command that writes files, and of the form of its JSON."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, "halo", 4, 100)
    write_run(folder / "other", "halo", 4, 100, 2)
    write_run(folder / "eight", "halo", 8, 100)
    return folder


@pytest.fixture
def run(folder):
    with analyzer.open(folder / "run.h5") as run:
        yield run


def without(data):
    return {name: value for name, value in data.items() if name not in WRITTEN}


def said(capsys, *arguments):
    capsys.readouterr()
    assert main(list(arguments)) in (0, 1)
    return capsys.readouterr().out


def as_command(capsys, name, path, *, as_json=True):
    return said(capsys, name, str(path), *OPTIONS.get(name, []), *(["--json"] if as_json else []))


@pytest.mark.parametrize("name", METHODS)
def test_a_result_is_the_json_of_the_command(folder, run, name, capsys):
    result = METHODS[name](run)
    data = json.loads(as_command(capsys, name, folder / "run.h5"))
    replays = name == "replay"  # the JSON of replay has "files" of its own: the runs
    mine = json.loads(json.dumps(result.to_dict()))
    assert (mine if replays else without(mine)) == {
        key: value for key, value in data.items() if key not in (WRITTEN - {"files"} if replays else WRITTEN)
    }


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"look", "profile", "clusters"}))
def test_a_result_prints_itself_as_the_command(folder, run, name, capsys):
    assert f"{METHODS[name](run)}\n" == as_command(capsys, name, folder / "run.h5", as_json=False)


@pytest.mark.parametrize("name", METHODS)
def test_tables_and_notebooks(run, name):
    result = METHODS[name](run)
    assert (len(result.to_pandas("summary")) == 1 and len(result.to_pandas()) > 0) or name == "check"
    assert {name: len(result.to_pandas(name).columns) for name in result.table_names}
    with pytest.raises(analyzer.TracelibError, match="there is no table 'x'"):
        result.to_pandas("x")
    assert result._repr_html_().startswith("<pre") and repr(result) == str(result)
    with pytest.raises(AttributeError):
        result.file = "another"


PLAIN = {"str", "int", "float", "bool", "Path", "None", "..."}


@pytest.mark.parametrize("kind", public_names.results(), ids=lambda kind: kind.__name__)
def test_public_attributes_are_plain(kind):
    """Objects of analyses are private: their classes change."""
    lines = [f"{field.name}: {field.type}" for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    lines += [line.replace(" -> ", ": ") for line in public_names.members(kind) if " -> " in line and "(" not in line]
    for line in lines:
        words = set(re.split(r"[\s|,\[\]()]+", line.partition(": ")[2])) - {"", "tuple"}
        assert words <= PLAIN, line
    assert kind.__doc__ and kind.__doc__.endswith((".", "\n    "))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_result_outlives_its_run(folder, name):
    with analyzer.open(folder / "run.h5") as run:
        result = METHODS[name](run)
        said = str(result), result.to_dict()
    assert (str(result), result.to_dict()) == said and len(result.table_names) > 0


@pytest.mark.parametrize(
    ("name", "column"), [("waits", "barrier_s"), ("replay", "computing_s"), ("profile", "begin_s")]
)
def test_columns_have_units(run, name, column):
    assert column in METHODS[name](run).to_pandas().columns


def test_single_numbers(run):
    assert 0 < run.efficiency().parallel_efficiency <= run.efficiency().load_balance <= 1
    assert run.waits().waiting_s == run.waits().to_pandas()["waiting_s"].sum() > 0
    assert run.critical_path().length_s == pytest.approx(run.duration_s)
    assert run.replay("ideal").predicted_s < run.duration_s


def test_several_runs(folder, capsys):
    a, b, eight = (str(folder / name / "run.h5") for name in (".", "other", "eight"))
    found = analyzer.diff(a, b)
    assert found.to_dict() == without(json.loads(said(capsys, "diff", a, b, "--json")))
    with analyzer.open(b) as opened:
        assert analyzer.diff(a, opened).to_dict() == found.to_dict()
    scaling = analyzer.speedup([a, eight], whole=True).to_dict()
    assert scaling == without(json.loads(said(capsys, "speedup", a, eight, "--whole", "--json")))
    both = analyzer.efficiencies([a, eight])
    assert both.to_dict() == [without(one) for one in json.loads(said(capsys, "efficiency", a, eight, "--json"))]
    assert both.to_pandas()["ranks"].tolist() == [4, 8]


def test_a_part_of_a_run(folder, capsys):
    path = str(folder / "run.h5")
    with analyzer.open(path, iteration="3-5", ranks=[0, 1]) as run:
        assert run.remarks == (
            "run.h5: 2 of 4 ranks chosen",
            next(line for line in run.remarks if "only iterations 3 to 5 of 11" in line),
        )
        assert sorted(run.calls.to_pandas()["rank"].unique()) == [0, 1]
        assert sorted(run.iterations.to_pandas()["iteration"].unique()) == [0, 1, 2]
        mine = run.waits().to_dict()
    command = said(capsys, "waits", path, "--iteration", "3-5", "--ranks", "0-1", "--json")
    assert mine == without(json.loads(command))


def test_what_is_written(folder, run, tmp_path):
    cut = run.cut(tmp_path / "small.h5", iteration="3-5")
    with analyzer.open(cut.path) as small:
        assert small.structure().to_dict()["file"] == str(tmp_path / "small.h5") and small.duration_s < 0.001
    assert [path.name for path in run.to_paraver(tmp_path / "x", waits=True)] == [
        "x.prv", "x.pcf", "x.row", "x.waits.cfg",
    ]  # fmt: skip
    with analyzer.open(run.to_dimemas(tmp_path / "y.dim")) as program:
        assert program.ranks == 4 and program.duration_s == 0 and program.replay().to_dict()["predicted_s"] > 0
    assert run.report(tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_what_is_written_for_other_tools(run, tmp_path):
    for to, name in [("perfetto", "x.pftrace"), ("chrome", "x.json"), ("otf2", "traces.otf2")]:
        (path,) = run.export(tmp_path / "x", to=to)
        assert path.name == name and path.stat().st_size > 0
    (path,) = run.export(tmp_path / "x", to="parquet", tables="messages")
    assert len(pandas.read_parquet(path)) == len(run.messages.to_pandas())
    packed = run.pack(tmp_path / "packed.h5")
    assert packed.bytes_after < packed.bytes_before
    with analyzer.open(packed.path) as same, analyzer.open(tmp_path / "x-otf2" / "traces.otf2") as archive:
        assert (
            len(same.calls.to_pandas()) == len(run.calls.to_pandas()) == len(archive.calls.to_pandas()) == packed.calls
        )


def test_a_prediction_is_validated_against_another_run(folder, run, capsys):
    found = run.validate(folder / "other" / "run.h5")
    command = said(capsys, "validate", run.path, "--against", str(folder / "other" / "run.h5"), "--json")
    assert found.to_dict() == without(json.loads(command))


def test_a_plan_is_saved(run, tmp_path):
    run.balance("ideal").save(tmp_path / "x.plan")
    assert (tmp_path / "x.plan").read_text().startswith("tracelib-plan ")


def test_a_closed_run(folder):
    run = analyzer.open(str(folder / "run.h5"))
    calls = run.calls
    run.close()
    run.close()
    assert "closed" in repr(run)
    for use in (run.waits, run.check, lambda: run.calls, lambda: calls.to_pandas(), run.__enter__):
        with pytest.raises(analyzer.TracelibError, match="is closed"):
            use()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"ranks": "x"}, "not a list of ranks"),
        ({"ranks": [9]}, "has no rank 9"),
        ({"cluster": 0}, "cluster=0 is not a whole number from 1 on"),
        ({"loop": -1}, "loop=-1 is not a whole number from 1 on"),
        ({"iteration": "5-3"}, "no iteration"),
        ({"iteration": 99}, "has no iteration 99"),
        ({"loop": 1, "iteration": "2:3"}, "two loops"),
        ({"place": "("}, "not a regular expression"),
        ({"repair_clocks": "2 weeks"}, "not a time"),
        ({"repair_clocks": "5"}, "not a time"),
    ],
)
def test_wrong_choices(folder, wrong, said):
    with pytest.raises(analyzer.TracelibError, match=said) as error:
        analyzer.open(folder / "run.h5", **wrong)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda run: run.efficiency(region="solve"), "has no regions"),
        (lambda run: run.efficiency(eager_limit="many"), "not a size"),
        (lambda run: run.structure(method="guess"), "method='guess' is not known"),
        (lambda run: run.profile(by="rank"), "by='rank' is not known"),
        (lambda run: run.profile(bins=0), "bins=0 is not a whole number from 1 on"),
        (lambda run: run.replay("no.toml"), "no.toml"),
        (lambda run: run.replay(lag="5us"), "no parameter 'lag'"),
        (lambda run: run.replay(latency="5 weeks"), "latency='5 weeks'"),
        (lambda run: run.what_if({"a": -1}), "each value a number from 0 on"),
        (lambda run: run.what_if("a", machine="ideal"), "has no part 'a'"),
        (lambda run: run.what_if(rank=7, machine="ideal"), "no rank 7"),
        (lambda run: run.what(-1), "at=-1 is not a number from 0 on"),
        (lambda run: run.what(9.0), "before 9.0"),
        (lambda run: run.cut(begin=3, end=2), "nothing lies between"),
        (lambda run: run.cut(begin=0, iteration=3), "name times"),
        (lambda run: run.to_paraver(callers=1000), "cannot be written"),
        (lambda run: analyzer.speedup(run), "is not a list"),
        (lambda run: analyzer.efficiencies([]), "no run is given"),
        (lambda run: analyzer.predict([run], 0), "ranks=0 is not a whole number"),
        (lambda run: analyzer.open(3), "path=3 is not text or a path"),
        (lambda run: analyzer.open("nowhere.h5"), "no such file"),
    ],
)
def test_wrong_arguments(run, use, said):
    with pytest.raises(analyzer.TracelibError, match=said) as error:
        use(run)
    assert "\n" not in str(error.value)


def test_help_shows_the_options_of_machines(run):
    assert {"machine", "latency", "eager", "seed"} <= set(inspect.signature(run.replay).parameters)
    assert {"region", "loop", "scaling"} <= set(inspect.signature(analyzer.speedup).parameters)


def test_a_run_opened_in_part_is_not_compared_as_a_whole(folder):
    with analyzer.open(folder / "run.h5", ranks=[0]) as run, pytest.raises(analyzer.TracelibError, match="in part"):
        analyzer.speedup([run, run])


def test_choices_that_have_no_meaning(folder):
    with analyzer.open(folder / "run.h5", ranks="0-1") as run:
        for use in (run.replay, run.limits, run.what_if, run.sensitivity, run.clusters, run.cut, run.report):
            with pytest.raises(analyzer.TracelibError, match="some ranks"):
                use()


def test_old_names(folder):
    with analyzer.open(folder / "run.h5") as run:
        with pytest.warns(DeprecationWarning, match=r"analyzer\.Tables"):
            tables = analyzer.tables(run.trace)
        assert len(tables.calls.to_pandas()) == len(run.calls.to_pandas()) > 0
        assert len(analyzer.calls_frame(run, 0)) == len(analyzer.calls_frame(run.trace, 0)) > 0
        assert len(analyzer.regions_frame(run)) == 0
    assert set(analyzer.__all__) <= set(dir(analyzer))
