"""Growth of parts of runs whose laws are planted, predicted where they are known or measured."""

import json

import numpy as np
import pandas
import pytest
from marked import LABELS, begin, end
from placed_runs import placed
from synthetic import WORLD, call, event, label, write_run
from thread_team import by_team

from analyzer.cli import main
from analyzer.errors import TracelibError
from analyzer.experiments.groupings import by_cluster
from analyzer.experiments.growth import growth
from analyzer.experiments.kinds import by_call
from analyzer.experiments.table import ExperimentTableOptions, table
from analyzer.opening import open_trace
from analyzer.parallel import Team
from benchmarks.synthetic import run as synthetic_run
from tracelib.schema import PARAMETER_TYPE, LabelKind

MS = 1_000_000
RANKS = (2, 4, 8, 16)


def law(p, n=64):
    """ns: work that is shared out, a fixed computation, a barrier, and a reduction that grows with the ranks."""
    return {"work": n * MS // p, "fixed": MS, "barrier": 10_000, "reduce": 50_000 * p}


def run_of(folder, p, n=64, said=True):
    """p ranks of the same calls: at solve.py:88 the reduction, the work in a region, which may say n."""
    folder.mkdir(exist_ok=True)
    t = law(p, n)
    at = MS
    begun = at
    barrier = call("MPI_Barrier", at + t["work"], at + t["work"] + t["barrier"], comm=WORLD)
    at = barrier["exit"] + t["fixed"]
    reduce = call("MPI_Allreduce", at, at + t["reduce"], comm=WORLD, sent=8, received=8)
    calls = [call("MPI_Init", 0, MS), barrier, reduce, call("MPI_Finalize", reduce["exit"], reduce["exit"] + MS)]
    events = [begin(begun, 1), *([event(begun, PARAMETER_TYPE, n, flags=1)] if said else []), end(barrier["enter"], 1)]
    places = [(("main", 1),), (("main", 5),), (("main", 6), ("solve", 88)), (("main", 9),)]
    content = {"calls": calls, "labels": [*LABELS, label(LabelKind.PARAMETER, 1, "n")], "events": events, "start": 0}
    return str(write_run(folder, [placed(content, places)] * p, name=f"p{p}n{n}"))


def fitted(capsys, *words):
    assert main(["fit", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_the_reduction_that_grows_with_the_ranks_is_named_first(tmp_path, capsys):
    runs = [run_of(tmp_path, p) for p in RANKS]
    found = json.loads(fitted(capsys, *runs, "--at", "64", "--by", "place", "--by", "region", "--json"))
    first = found["parts"][0]
    assert (first["kind"], first["name"], first["grows_as"]) == (
        "call",
        "MPI_Allreduce at solve.py:88 in solve",
        "ranks",
    )
    assert found["points"] == [{"ranks": 64}]
    then, now = law(64), law(16)
    assert found["run_s"][0] == pytest.approx(sum(then.values()) / 1e9, rel=0.02)
    assert found["now_s"] == pytest.approx(sum(now.values()) / 1e9, rel=1e-3)
    assert first["now_share"] == pytest.approx(now["reduce"] / sum(now.values()), rel=1e-3)
    assert first["expected"][0]["share"] == pytest.approx(then["reduce"] / sum(then.values()), rel=0.02)
    region = next(part for part in found["parts"] if part["kind"] == "region")
    assert region["expected"][0]["time_s"] == pytest.approx(then["work"] / 1e9, rel=0.02)
    assert region["grows_as"] == "1/ranks"
    text = fitted(capsys, *runs, "--at", "64", "--by", "place", "--by", "region")
    share = 100 * then["reduce"] / sum(then.values())
    assert f"MPI_Allreduce at solve.py:88 in solve will take {share:.0f}" in " ".join(text.split())
    assert all(len(line) <= 80 for line in text.splitlines())


def test_sizes_that_regions_say_or_the_user_sets_are_parameters_too(tmp_path, capsys):
    sizes = (32, 128)
    said = [run_of(tmp_path / "said", p, n) for n in sizes for p in RANKS]
    words = ("--at", "ranks=64,n=256", "--by", "place", "--json")
    of_regions = json.loads(fitted(capsys, *said, *words))
    silent = [run_of(tmp_path / "silent", p, n, said=False) for n in sizes for p in RANKS]
    values = ",".join(str(n) for n in sizes for _ in RANKS)
    for option in ([f"--set=n={values}"], ["--set=n=FILE:n([0-9]+)"]):
        assert json.loads(fitted(capsys, *silent, *option, *words))["parts"] == of_regions["parts"]
    work = next(p for p in of_regions["parts"] if p["kind"] == "burst" and p["name"].startswith("MPI_Barrier"))
    assert of_regions["parameters"] == ["ranks", "n"]
    assert set(work["terms"]) == {"n/ranks"}
    assert work["expected"][0]["time_s"] == pytest.approx(law(64, 256)["work"] / 1e9, rel=0.02)


def test_a_synthetic_run_at_more_ranks_is_as_it_was_predicted(tmp_path, monkeypatch):
    """The pattern's transfer time grows with the ranks, its computation falls; the run at 128 ranks is the truth."""

    def growing(world, _):
        for _ in range(20):
            world.compute(world.every, 64 * MS / world.ranks)
            world.collective("MPI_Allgather", world.every[None], 1, 20_000 * world.ranks, sent=8, received=8)
            world.compute(world.every, 100_000)
            world.allreduce()

    monkeypatch.setitem(synthetic_run.PATTERNS, "growing", growing)
    paths = {
        p: synthetic_run.write_run(tmp_path / str(p), "growing", p, 1).path for p in (8, 12, 16, 24, 32, 48, 64, 128)
    }
    frame = table(paths.values(), ExperimentTableOptions(("call",))).frame
    fewer = frame[frame["ranks"] < 128].reset_index(drop=True)
    found = growth(fewer, (), [{"ranks": 128.0}])
    inside = ~frame["name"].isin(["MPI_Init", "MPI_Finalize"])
    times = frame[inside].pivot_table(index=["kind", "name"], columns="ranks", values="time")
    shares = times / times.sum()
    grown = {(part.kind, part.name): part for part in found.parts if not part.outside}
    assert set(grown) == set(shares.index)
    for key, part in grown.items():
        assert part.expected[0].share == pytest.approx(shares.loc[key, 128], abs=0.1), key
    assert next(iter(grown)) == (shares[128] - shares[64]).idxmax() == ("call", "MPI_Allgather")


def test_runs_without_call_paths_have_calls_by_procedure(tmp_path):
    path = write_run(tmp_path, [{"calls": [call("MPI_Barrier", 10, 15, comm=WORLD)], "start": 0}])
    frame = by_call(open_trace(path), Team())
    assert frame[frame["kind"] == "call"][["name", "time"]].to_numpy().tolist() == [["MPI_Barrier", 5e-9]]


def test_clusters_have_the_names_of_the_calls_that_they_lead_to(tmp_path):
    """Ten bursts of 1 ms and ten of 0.1 ms before MPI_Barrier, ten of 3 ms before MPI_Allreduce, on each of 4 ranks."""
    calls, at = [], 0
    for step in range(10):
        for length, name in ((MS, "MPI_Barrier"), (MS // 10, "MPI_Barrier"), (3 * MS, "MPI_Allreduce")):
            at += length + step
            calls.append(call(name, at, at + 5, comm=WORLD))
            at += 5
    path = write_run(tmp_path, [{"calls": calls, "start": 0}] * 4)
    frame = by_cluster(open_trace(path), Team())
    of_team = by_team(2, lambda team: by_cluster(open_trace(path), team).to_json())
    assert set(of_team) == {frame.to_json()}
    found = {row["name"]: (row["in_ranks"], row["count"], round(1e6 * row["time"])) for _, row in frame.iterrows()}
    assert found == {
        "cluster 1 before MPI_Allreduce": (4, 10, 30_000),
        "cluster 1 before MPI_Barrier": (4, 10, 10_000),
        "cluster 2 before MPI_Barrier": (4, 10, 1_000),
    }


def kinds(**laws):
    """A table of calls at RANKS by law (s)."""
    rows = [
        {"kind": "call", "name": name, "run": str(p), "ranks": p, "in_ranks": of[1], "time": of[0](p)}
        for p in RANKS
        for name, of in laws.items()
    ]
    return pandas.DataFrame(rows)


def test_what_few_ranks_do_counts_for_as_many():
    found = growth(kinds(all=(lambda p: 1.0, np.nan), one=(lambda p: 8.0, 1)).assign(
        in_ranks=lambda f: f["in_ranks"].fillna(f["ranks"])), (), [{"ranks": 32.0}])  # fmt: skip
    one = next(part for part in found.parts if part.name == "one")
    assert one.now_s == pytest.approx(0.5) and one.expected[0].time.value == pytest.approx(0.25, rel=1e-3)


def test_what_is_in_too_few_runs_is_all_else():
    frame = kinds(often=(lambda p: 1.0, 1), rare=(lambda p: 2.0, 1))
    found = growth(frame[(frame["name"] == "often") | (frame["ranks"] > 4)], (), [{"ranks": 32.0}])
    assert sorted(part.kind for part in found.parts) == ["call", "rest"]
    assert sum(part.now_s for part in found.parts) == pytest.approx(found.now_s)


def test_a_parameter_that_only_follows_the_ranks_is_said_so():
    frame = kinds(a=(lambda p: 1.0 * p, 1)).assign(n=lambda f: 10 * f["ranks"], who="me")
    found = growth(frame, ("n", "who"))
    assert found.parameters == ("ranks",) and found.points == ({"ranks": 64.0},)
    assert any("n changes only with ranks" in note for note in found.notes)
    assert any("who is no number" in note for note in found.notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{0}", "{1}", "--at", "64"], "2 settings: a model needs at least 3"),
        (["{0}", "{1}", "{1}"], "named twice"),
        (["{0}", "{1}", "{2}", "--at", "q=64"], "nothing says how q matters"),
        (["{0}", "{1}", "{2}", "--set", "n=1,2"], "2 values for 3 runs"),
        (["{0}", "{1}", "{2}", "--set", "time=3"], "a column time already"),
        (["{0}", "{1}", "{2}", "--set", "7"], "is not NAME=VALUE"),
        (["{0}", "{1}", "{2}", "--set", "n=ARG"], "is not a parameter of a run"),
        (["{0}", "{1}", "{2}", "--at", "many"], "is not a point"),
        (["{0}", "{1}", "{2}", "--predict", "p=3"], "--predict is for a table"),
        (["{0}", "{1}", "{2}", "--by", "call", "--by", "place"], "the same times twice"),
        (["{0}", "--parameters", "p", "--at", "4"], "are for runs"),
        (["{0}", "{1}", "--parameters", "p"], "one table"),
        (["none.h5", "{1}"], "none.h5"),
    ],
)
def test_bad_input_gets_one_line(tmp_path, capsys, words, said):
    runs = [run_of(tmp_path, p) for p in RANKS]
    assert main(["fit", *(word.format(*runs) for word in words)]) != 0
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_table_of_other_things_is_refused():
    with pytest.raises(TracelibError, match="no column 'kind'"):
        growth(pandas.DataFrame({"p": [1.0], "time": [1.0]}), ())


@pytest.mark.parametrize(("column", "value"), [("time", -1.0), ("time", np.nan), ("ranks", 0), ("in_ranks", "x")])
def test_damaged_numbers_are_refused(column, value):
    frame = kinds(a=(lambda p: 1.0 * p, 1))
    frame[column] = frame[column].astype(object)
    frame.loc[1, column] = value
    frame[column] = frame[column].infer_objects()
    with pytest.raises(TracelibError, match=f"column '{column}' is not all numbers"):
        growth(frame, ())
