"""A moving imbalance, a pipeline and a slow iteration in 20 in one run: what `analyze structure` and the look say."""

import json

import pytest
from uneven_runs import iterative, written

from analyzer.cli import main

RANKS, ITERATIONS = 4, 100


def work(iteration, rank):
    """Three times as long on one rank, the next each time; and once in 20 iterations 60 ms more on rank 1."""
    return (6000 if iteration % RANKS == rank else 2000) + (60_000 if iteration % 20 == 19 and rank == 1 else 0)


@pytest.fixture(scope="module", name="run")
def run_of_three_problems(tmp_path_factory):
    made = iterative(ITERATIONS, RANKS, work, step_us=1000)
    return str(written(tmp_path_factory.mktemp("three"), made))


def said(capsys, *arguments):
    assert main(list(arguments)) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["structure", "info"])
def test_all_three_are_said(run, capsys, command):
    text = said(capsys, command, run)
    assert f"{ITERATIONS} iterations of" in text
    assert "A pipeline: 0 -> 1 -> 2 -> 3 wait one for the other in MPI_Recv, the last the longest" in text
    assert "The imbalance moves: in turn, the next rank in each iteration computes longest." in text
    assert "One iteration in 20 takes" in text and "(20, 40, ... 100): rank 1 computes longer then." in text


def test_numbers_are_those_of_the_plan(run, capsys):
    """Each iteration but the slow ones has 3 * 2000 + 6000 us of computing, and 4 steps of the chain."""
    assert main(["structure", "--json", run]) == 0
    found = json.loads(capsys.readouterr().out)
    uneven = found["uneven"]
    (slow,) = uneven["slow_iterations"]
    assert found["levels"][0]["iterations"] == ITERATIONS
    assert (slow["numbers"], slow["every"], slow["rank"]) == ([20, 40, 60, 80, 100], 20, 1)
    usual = [i for i in range(ITERATIONS) if i % 20 != 19]
    longest = sum(max(work(i, r) for r in range(RANKS)) + 1000 for i in usual)
    sums = [sum(work(i, r) + 1000 for i in usual) for r in range(RANKS)]
    moving = uneven["moving_imbalance"]
    assert moving["in_turn"] and moving["cost_s"] == pytest.approx((longest - max(sums)) / 1e6, rel=0.02)
    assert moving["within"] == pytest.approx(sum(sums) / RANKS / longest, rel=0.02)
    assert moving["of_sums"] == pytest.approx(sum(sums) / RANKS / max(sums), rel=0.02)
    (pipeline,) = uneven["pipelines"]
    assert pipeline["ranks"] == [0, 1, 2, 3] and pipeline["last_s"] >= ITERATIONS * 3 * 1e-3


def test_the_look_has_the_same_as_data(run, capsys):
    assert main(["structure", "--json", run]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert main(["look", "--no-files", "--json", run]) == 0
    look = json.loads(capsys.readouterr().out)["structure"]
    assert look == {key: whole[key] for key in ("sentence", "iterations", "period_s", "uneven")}


def test_some_ranks_have_no_iterations_in_the_look(run, capsys):
    assert "Iterations" not in said(capsys, "look", "--no-files", "--ranks", "0-1", run)


def test_the_picture_has_maps(run, capsys, tmp_path):
    picture = tmp_path / "made.png"
    said(capsys, "structure", run, "-o", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_one_that_is_even_says_nothing(tmp_path, capsys):
    made = written(tmp_path, iterative(60, RANKS, lambda i, r: 2000))
    text = said(capsys, "structure", str(made))
    assert "60 iterations of" in text
    assert not any(word in text for word in ("imbalance", "pipeline", "One iteration in", "become"))
