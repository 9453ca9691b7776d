"""Runs without regions are compared by their iterations: start-up, which does not scale, is left out."""

from __future__ import annotations

import json

import pytest
from loop_programs import CALL_NS
from synthetic import WORLD, call, write_run

from analyzer.cli import main

STARTUP_NS = 5_000_000


def run_of(folder, ranks: int, count: int, compute_ns: int):
    """After a long begin `count` iterations: computation, a reduction and a barrier."""
    folder.mkdir()
    calls, at = [call("MPI_Init", 10, 1000)], 1000 + STARTUP_NS
    calls.append(call("MPI_Bcast", at, at + CALL_NS, comm=WORLD, peer=0))
    at += CALL_NS
    for _ in range(count):
        at += compute_ns
        calls.append(call("MPI_Allreduce", at, at + CALL_NS, comm=WORLD, sent=8, received=8))
        calls.append(call("MPI_Barrier", at + CALL_NS, at + 2 * CALL_NS, comm=WORLD))
        at += 2 * CALL_NS
    calls.append(call("MPI_Finalize", at + 500, at + 1000))
    return str(write_run(folder, [{"calls": calls} for _ in range(ranks)]))


def document(capsys, *words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_periods_are_compared(tmp_path, capsys):
    runs = [run_of(tmp_path / str(ranks), ranks, 30, 80_000 // ranks) for ranks in (1, 2, 4)]
    data = document(capsys, "speedup", *runs, "--scaling", "strong")
    periods = [run["period_s"] for run in data["runs"]]
    assert periods == pytest.approx([(80_000 / ranks + 2 * CALL_NS) / 1e9 for ranks in (1, 2, 4)])
    assert data["runs"][-1]["measured"] == pytest.approx(80_200 / 20_200)
    assert data["runs"][-1]["modelled"] == pytest.approx(data["runs"][-1]["measured"])
    whole = document(capsys, "speedup", *runs, "--scaling", "strong", "--whole")
    assert whole["runs"][-1]["measured"] < 1.5  # the begin takes most of it
    found = document(capsys, "predict", *runs, "--ranks", "4", "--scaling", "strong")
    assert found["predicted"][0]["measured"] == pytest.approx(80_200 / 20_200)


def test_loops_that_are_not_alike_are_not_compared(tmp_path, capsys):
    alike = [run_of(tmp_path / "a", 1, 30, 80_000), run_of(tmp_path / "b", 2, 60, 40_000)]
    data = document(capsys, "speedup", *alike, "--scaling", "strong")
    assert data["runs"][1]["measured"] == pytest.approx(80_200 / 40_200)  # the same calls, more often
    folder = tmp_path / "none"
    folder.mkdir()
    none = write_run(folder, [{"calls": [call("MPI_Init", 10, 1000), call("MPI_Finalize", 90_000, 91_000)]}])
    data = document(capsys, "speedup", alike[0], str(none), "--scaling", "strong")
    assert max(run["period_s"] for run in data["runs"]) > STARTUP_NS / 1e9
