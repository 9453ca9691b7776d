"""--iteration where a cut run would not do: samples, kinds of bursts, a moment; and in files for others."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from synthetic import WORLD, call, write_run
from test_cuts import ITERATIONS, STEP_NS, numbers, run_of_steps

from analyzer.cli import main
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace.chosen import Choice
from tracelib import schema
from tracelib.schema import SAMPLE_BEGIN

FIRST_NS = 2000  # of run_of_steps: its first iteration begins
SLOW = 18  # it takes four times as long
CODE = {
    "functions": [(0, 0, b"", b""), (10, 1, b"solve", b"heat.py"), (30, 1, b"smooth", b"b.py")],
    "paths": [(0, 0, 0), (0, schema.PATH_IN_FUNCTION | 1, 14), (0, schema.PATH_IN_FUNCTION | 2, 33)],
}
SOLVE, SMOOTH = 1, 2
HALF, STEP = 4000, 10_000
STEPS = 8


def sampled_run(folder):
    """A rank whose steps are 8 us of computing and 2 us of a reduction; it is sampled twice in each: `solve` in odd
    steps (1, 3, ...), in even ones `solve` and `smooth`."""
    calls = [call("MPI_Init", 10, 1000)]
    samples = [(1000, 0, 0, 0, 0, 0, SAMPLE_BEGIN)]
    for step in range(STEPS):
        begin = 1000 + step * STEP
        for number in (1, 2):
            path = SMOOTH if step % 2 and number == 2 else SOLVE
            samples.append((begin + number * HALF - 100, HALF, path, 0, 0, 0, 0))
        calls.append(call("MPI_Allreduce", begin + 2 * HALF, begin + STEP, comm=WORLD, sent=8, received=8))
    calls.append(call("MPI_Finalize", 1000 + STEPS * STEP + 1, 1000 + STEPS * STEP + 500))
    return write_run(folder, [CODE | {"calls": calls, "samples": samples}])


@pytest.mark.parametrize(
    ("wanted", "computed"),
    [("2", {"solve": 4e-6, "smooth": 4e-6}), ("3", {"solve": 8e-6}), ("2-5", {"solve": 24e-6, "smooth": 8e-6})],
)
def test_samples_of_some_iterations(tmp_path, capsys, wanted, computed):
    found = numbers(capsys, "hot", sampled_run(tmp_path), "--json", "--iteration", wanted)
    assert found["computing_s"] == pytest.approx(sum(computed.values()))
    assert {one["function"]: one["time_s"] for one in found["functions"]} == pytest.approx(computed)


def test_a_flame_graph_compares_the_same_iterations(tmp_path, capsys):
    run, flame = sampled_run(tmp_path), tmp_path / "f.svg"
    assert main(["hot", str(run), "--iteration", "3", "--flame", str(flame), "--against", str(run)]) == 0
    assert "smooth" not in flame.read_text() and "solve" in flame.read_text()
    assert main(["hot", str(run), "--iteration", str(STEPS + 1)]) != 0
    assert f"no iteration {STEPS + 1}" in capsys.readouterr().err


def test_gaps_between_calls_of_some_iterations(tmp_path, capsys):
    found = numbers(capsys, "hot", run_of_steps(tmp_path), "--json", "--iteration", f"{SLOW - 1}-{SLOW}")
    assert sum(one["time_s"] for one in found["between"]) == pytest.approx((5 * (6000 + 5000) + 2 * 2 * 700) / 1e9)


def test_kinds_of_bursts_of_some_iterations(tmp_path, capsys):
    """The slow iteration has bursts that no other has; of the others each has four on each rank."""
    run = run_of_steps(tmp_path)
    for wanted, count, time_ns in ((SLOW, 1, 4 * 11_000 + 2 * 700), ("5-9", 5, 5 * (11_000 + 2 * 700))):
        words = ["--json", "--iteration", str(wanted), "-o", str(tmp_path / "part"), "-f", "--least", "1"]
        found = numbers(capsys, "clusters", run, *words)
        kinds = found["clusters"]
        assert sum(kind["bursts"] for kind in kinds) == 2 * 4 * count
        assert sum(kind["time_s"] for kind in kinds) == pytest.approx(time_ns / 1e9)
    (tmp_path / "part.clusters.json").rename(tmp_path / "run.clusters.json")
    trace = open_trace(run, choice=Choice("", (), 1))  # of the whole run: rank 0 of all but the slow iteration
    assert useful(trace, Team()).by_rank().tolist() == [(ITERATIONS - 1) * 6000, 0]
    trace.close()


def test_a_moment_counts_from_an_iteration(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    begin = FIRST_NS + (SLOW - 1) * STEP_NS
    words = ["--rank", "0", "--json"]
    of_run = numbers(capsys, "what", run, "--at", f"{begin + 25_000}ns", *words)
    assert numbers(capsys, "what", run, "--at", "25us", "--iteration", SLOW, *words) == of_run
    assert of_run["ranks"][0]["at_s"] == pytest.approx((begin + 25_000) / 1e9)


def test_a_study_of_some_iterations(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    words = ["--vary", "speed=1..2", "-n", "1", "--latency", "0", "--bandwidth", "1e6MB/s", "--jobs", "1", "--json"]
    found = numbers(capsys, "monte-carlo", run, *words, "--iteration", "5-9")
    (one,) = found["runs"]
    assert one["measured_s"] == pytest.approx(5 * STEP_NS / 1e9)


def test_tables_of_some_iterations(tmp_path, capsys):
    run = run_of_steps(tmp_path)
    words = ["export", str(run), "--to", "parquet", "--iteration", "5-9", "-o", str(tmp_path / "part")]
    assert main([*words, "--table", "calls"]) == 0
    table = pd.read_parquet(tmp_path / "part.calls.parquet")
    assert len(table) == 2 * 4 * 5
    assert main([*words, "--iterations", "--table", "iterations"]) == 0
    assert sorted(pd.read_parquet(tmp_path / "part.iterations.parquet")["iteration"]) == sorted([*range(5)] * 2)


def test_a_timeline_of_some_iterations(tmp_path):
    run = run_of_steps(tmp_path)
    words = ["export", str(run), "--to", "chrome", "--iteration", "5-9", "-o", str(tmp_path / "part")]
    assert main(words) == 0
    events = json.loads((tmp_path / "part.json").read_text())["traceEvents"]
    assert max(one["ts"] for one in events) == pytest.approx(5 * STEP_NS / 1e3, rel=0.01)
