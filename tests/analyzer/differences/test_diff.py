"""`analyze diff` on runs by hand: what changed is named with rank, procedure, place and seconds, and adds up."""

import csv
import json

import numpy as np
import pytest
from placed_runs import placed
from synthetic import WORLD, write_run
from uneven_runs import CALL, NS, Ranks, iterative, written

from analyzer.cli import main

ITERATIONS, RANKS, WORK_US = 48, 4, 1000


def drawn(seed, slow=None, more=1.1):
    """Work of each iteration and rank: 1 ms, give or take 2 %, of one rank `more` times as long."""
    rng = np.random.default_rng(seed)
    times = WORK_US * rng.normal(1, 0.02, (ITERATIONS, RANKS))
    if slow is not None:
        times[:, slow] *= more
    return lambda iteration, rank: times[iteration, rank]


def run(folder, seed, **plan):
    folder.mkdir()
    return str(written(folder, iterative(ITERATIONS, RANKS, drawn(seed, **plan), rings=False)))


def diff(capsys, *words, code=0):
    assert main(["diff", *words]) == code
    return capsys.readouterr()


def found(capsys, *words):
    return json.loads(diff(capsys, *words, "--json").out)


def rows(data, family):
    return {row["name"]: row for row in data["rows"] if row["family"] == family}


def test_runs_of_the_same_are_within_noise(tmp_path, capsys):
    names = [run(tmp_path / str(seed), seed) for seed in range(4)]
    for one, other in zip(names[::2], names[1::2], strict=True):
        data = found(capsys, one, other)
        assert not [row["name"] for row in data["rows"] if row["verdict"] == "more than noise"]
        assert data["changes"] == [] and data["basis"] == "iterations"


def test_a_rank_that_computes_longer_is_blamed(tmp_path, capsys):
    data = found(capsys, run(tmp_path / "a", 1), run(tmp_path / "b", 2, slow=2))
    slower = ITERATIONS * 0.1 * WORK_US / 1e6
    assert data["run_time"]["verdict"] == "more than noise"
    assert data["run_time"]["difference"] == pytest.approx(slower, rel=0.25)  # a maximum of ranks, which vary by 2 %
    ranks = rows(data, "rank")
    assert [name for name, row in ranks.items() if row["verdict"] == "more than noise"] == ["rank 2"]
    assert ranks["rank 2"]["difference"] == pytest.approx(slower, rel=0.12)  # 2 % / sqrt(48) on each side
    assert ranks["rank 2"]["low"] <= slower <= ranks["rank 2"]["high"]
    waiting = next(one["text"] for one in data["changes"] if one["text"].startswith("MPI_Allreduce"))
    assert "waiting for others" in waiting
    assert any(one["text"].startswith("Rank 2 computes") for one in data["changes"])


def test_the_parts_are_in_sum_the_difference(tmp_path, capsys):
    data = found(capsys, run(tmp_path / "a", 1), run(tmp_path / "b", 2, slow=1, more=1.5))
    for column in ("before", "after", "difference"):
        parts = sum(part[column] for part in data["parts"].values())
        assert parts == pytest.approx(data["run_time"][column], abs=1e-12)
    own = {side: json.loads(info(capsys, tmp_path / side / "run.h5")) for side in ("a", "b")}
    computing = data["parts"]["computing"]
    assert computing["before"] == pytest.approx(own["a"]["useful_s"]["mean"])
    assert computing["after"] == pytest.approx(own["b"]["useful_s"]["mean"])
    of = rows(data, "efficiency")
    assert of["parallel"]["after"] == own["b"]["efficiency"]["parallel_efficiency"]
    assert rows(data, "call")["MPI_Allreduce"]["before"] == pytest.approx(
        own["a"]["calls"]["MPI_Allreduce"]["time_s"] / RANKS
    )


def info(capsys, path):
    assert main(["look", "--no-files", str(path), "--json"]) == 0
    return capsys.readouterr().out


def slow_place(folder, seed, *, slower, below=0):
    """Two reductions an iteration, from lines 10 and 20 of `solve`; the second takes 100 us, or 10 % more. below: so
    many lines further down."""
    rng = np.random.default_rng(seed)
    ranks, chains = Ranks(2), [[(("main", 1),)] for _ in range(2)]
    for _ in range(ITERATIONS):
        for line, inside in ((10, 100), (20, 100 * slower)):
            for rank in range(2):
                ranks.compute(rank, 200)
                chains[rank].append((("main", 2), ("solve", line + below)))
            ranks.everybody("MPI_Allreduce", comm=WORLD, sent=8, received=8)
            longer = int(NS * inside * rng.normal(1, 0.02))
            for rank in range(2):
                ranks.calls[rank][-1]["exit"] += longer
                ranks.now[rank] += longer
    ranks.everybody("MPI_Finalize")
    for one in chains:
        one.append((("main", 3),))
    folder.mkdir()
    contents = [placed({"calls": calls}, chain) for calls, chain in zip(ranks.calls, chains, strict=True)]
    return str(write_run(folder, contents))


def test_the_place_that_takes_longer_is_blamed_alone(tmp_path, capsys):
    data = found(capsys, slow_place(tmp_path / "a", 1, slower=1), slow_place(tmp_path / "b", 2, slower=1.1))
    surely = {name: row for name, row in rows(data, "place").items() if row["verdict"] == "more than noise"}
    assert list(surely) == ["MPI_Allreduce at solve.py:20 in solve"]
    (row,) = surely.values()
    assert row["difference"] == pytest.approx(ITERATIONS * 10e-6, rel=0.1)
    assert row["before"] == pytest.approx(ITERATIONS * (100e-6 + CALL / 1e9), rel=0.02)
    assert data["parts"]["waiting for others"]["difference"] == pytest.approx(0, abs=1e-6)


def test_places_whose_lines_moved_are_known_again(tmp_path, capsys):
    names = slow_place(tmp_path / "a", 1, slower=1), slow_place(tmp_path / "b", 2, slower=1.1, below=7)
    data = found(capsys, *names)
    surely = [name for name, row in rows(data, "place").items() if row["verdict"] == "more than noise"]
    assert surely == ["MPI_Allreduce at solve.py:20 in solve"]
    assert not any(":17" in row["name"] or ":27" in row["name"] for row in data["rows"])
    assert any(note.startswith("Lines moved: ") for note in data["notes"])


def test_repetitions_are_the_basis_where_there_are_several(tmp_path, capsys):
    before = [run(tmp_path / f"a{seed}", seed) for seed in range(3)]
    after = [run(tmp_path / f"b{seed}", 10 + seed, slow=0) for seed in range(3)]
    data = found(capsys, *before, "--against", *after)
    assert data["basis"] == "repetitions" and data["run_time"]["verdict"] == "more than noise"
    assert data["before"]["files"] == before and data["after"]["files"] == after
    assert data["run_time"]["after"] == pytest.approx(np.mean(data["after"]["runtimes_s"]))
    repeated = [word for name in after for word in ("--against", name)]
    assert found(capsys, *before, *repeated) == data


def test_the_text_says_what_the_data_say(tmp_path, capsys):
    names = run(tmp_path / "a", 1), run(tmp_path / "b", 2, slow=2)
    data, text = found(capsys, *names), diff(capsys, *names).out
    assert data["text"] in " ".join(text.split())
    for one in data["changes"]:
        assert one["text"] in " ".join(text.split())
    assert max(map(len, text.splitlines()[2:])) <= 80


def test_counts_have_no_noise(tmp_path, capsys):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    names = [
        str(written(tmp_path / folder, iterative(number, RANKS, drawn(1), rings=False)))
        for folder, number in (("a", ITERATIONS - 1), ("b", ITERATIONS))
    ]
    row = rows(found(capsys, *names), "traffic")["calls of MPI_Allreduce"]
    assert (row["before"], row["after"]) == (RANKS * (ITERATIONS - 1), RANKS * ITERATIONS)
    assert row["verdict"] == "a count, which has no noise"


def test_the_table_has_every_figure(tmp_path, capsys):
    names = run(tmp_path / "a", 1), run(tmp_path / "b", 2)
    data = found(capsys, *names, "--csv", str(tmp_path / "t.csv"))
    with (tmp_path / "t.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [(row["family"], row["name"]) for row in table] == [(row["family"], row["name"]) for row in data["rows"]]
    for line, row in zip(table, data["rows"], strict=True):
        assert line["before"] == ("" if row["before"] is None else str(row["before"]))


@pytest.mark.parametrize(
    "words, said",
    [
        (["{a}"], "name two runs"),
        (["{a}", "{a}", "{a}"], "name two runs"),
        (["{a}", "nowhere.h5"], "nowhere.h5"),
        (["{a}", "{a}", "--csv", "{a}"], "part of the trace"),
        (["{a}", "{a}", "--badge", "x.png"], "neither in .svg nor in .json"),
    ],
)
def test_wrong_lines_are_one_line(tmp_path, capsys, words, said):
    name = run(tmp_path / "a", 1)
    assert main(["diff", *(word.format(a=name) for word in words)]) != 0
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1
