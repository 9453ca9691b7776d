"""Findings by hand, and that what the first look says of many runs agrees with its own numbers."""

import io
import itertools
import json
import re
import shlex

import numpy as np
import pytest
from hypothesis import given, settings
from memory_trace import MemoryTrace
from paths import EPOCH
from random_runs import runs
from rich.console import Console
from synthetic import write_run
from uneven_runs import iterative, written

from analyzer.commands.registry import names
from analyzer.findings import LEAST, MOST, Certainty, FindingKind, largest_findings
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.report.look.as_json import summary_json
from analyzer.report.look.finding_sentences import NOTHING, findings, findings_lines, overlap_note
from analyzer.report.look.first_look import print_look
from analyzer.report.look.summary import summarize
from analyzer.report.words import units
from benchmarks.synthetic.run import PATTERNS
from benchmarks.synthetic.run import write_run as write_pattern

MS = 10**6


def of_calls(*calls, **options):
    return summarize(MemoryTrace(list(calls), **options), Team())


def late(ranks):
    """One rank computes 500 ms, the others 100; all leave the barrier at 600 ms."""
    return [[("MPI_Barrier", (500 if rank == ranks - 1 else 100) * MS, 600 * MS, {"comm": 0})] for rank in range(ranks)]


def test_a_late_rank_by_hand():
    """Mean computing of 500, 100, 100, 100 is 200 ms: 300 ms of 600 are lost to it; on an ideal network the barrier
    takes nothing, which saves the 100 ms from 500 on."""
    found = findings(of_calls(*late(4)))
    assert [(f.kind, f.cost_ns, f.share, f.sure, f.rank, f.call) for f in found] == [
        (FindingKind.IMBALANCE, 300 * MS, 0.5, Certainty.MEASURED, 3, "MPI_Barrier"),
        (FindingKind.TRANSFER, 100 * MS, 1 / 6, Certainty.REPLAYED, 3, "MPI_Barrier"),
    ]


def test_its_sentence():
    assert findings_lines(of_calls(*late(4)))[0] == (
        "Rank 3 computes 2.5 times as long as the mean, the others wait for it in MPI_Barrier: up to 300 ms (50.0 % of "
        "the run), measured; next: analyze waits memory.h5"
    )


def test_starting_mpi_is_no_matter_of_the_network():
    """All ranks are in MPI_Init for 400 ms at least, one for 450; then all compute for 500."""
    ranks = [[("MPI_Init", 0, end * MS, {}), ("MPI_Finalize", 950 * MS, 950 * MS, {})] for end in (400, 450)]
    kinds = {f.kind: f.cost_ns for f in findings(of_calls(*ranks))}
    assert kinds[FindingKind.STARTING] == 400 * MS
    assert kinds.get(FindingKind.TRANSFER, 0) <= 50 * MS


def test_waiting_in_mpi_init_is_followed_where_it_is_shown():
    """Rank 0 computes 800 ms before MPI_Init, rank 1 none: analyze waits has no waiting in MPI_Init."""
    ranks = [[("MPI_Init", begin * MS, 1000 * MS, {})] for begin in (800, 0)]
    found = next(f for f in summary_json(of_calls(*ranks))["findings"] if f["kind"] == "load imbalance")
    assert (found["call"], found["next"]) == ("MPI_Init", "analyze critical-path memory.h5")


def test_files_are_named_where_they_take_the_time():
    ranks = [[("MPI_File_write_all", 100 * MS, 1000 * MS, {"comm": 0})] for _ in range(2)]
    assert findings_lines(of_calls(*ranks))[0].startswith(
        "Ranks wait for each other, and in MPI_File_write_all for files, even where messages take no time; rank 0 "
        "waits most, 0 s in all: up to 900 ms"
    )


def test_the_sentence_of_iterations_is_whole(tmp_path):
    """Each tenth of 60 iterations is slow; an ellipsis is no end of a sentence."""
    run = iterative(60, 4, lambda k, rank: 8000 if k % 10 == 9 and rank == 1 else 1000)
    lines = findings_lines(summarize(open_trace(written(tmp_path, run)), Team()))
    assert any("(10, 20, ... 60): rank 1 computes longer then: up to" in line for line in lines), lines


def test_the_tracer_is_one():
    """A flush of 200 ms on rank 1 of a run of 1 s."""
    calls = [[("MPI_Barrier", 900 * MS, 1000 * MS, {"comm": 0})] for _ in range(2)]
    found = findings(of_calls(*calls, flushes={1: [(100 * MS, 300 * MS)]}))
    assert [(f.cost_ns, f.rank) for f in found if f.kind is FindingKind.TRACER] == [(200 * MS, 1)]


def test_a_run_without_fault_has_none():
    calls = [[("MPI_Barrier", 999 * MS, 1000 * MS, {"comm": 0})] for _ in range(4)]
    assert findings_lines(of_calls(*calls)) == [NOTHING]


def test_a_moving_imbalance_stands_for_the_waiting_that_it_makes(tmp_path):
    """Ranks take turns to compute 3 times as long: 4 ranks, 40 iterations."""
    run = iterative(40, 4, lambda iteration, rank: 3000 if iteration % 4 == rank else 1000)
    summary = summarize(open_trace(written(tmp_path, run)), Team())
    every = findings(summary)
    moving = next(f for f in every if f.kind is FindingKind.MOVING)
    assert moving.cost_ns == pytest.approx(40 * 1500e3, rel=0.05)  # the first iteration may be found to begin later
    assert FindingKind.SERIALIZATION in {f.kind for f in every}
    told = [f.kind for f in largest_findings(every)]
    assert told[0] is FindingKind.MOVING and FindingKind.SERIALIZATION not in told
    assert (len(told) > 1) == bool(overlap_note(summary))


@given(runs())
@settings(max_examples=6)
def test_random_runs_do_not_contradict_themselves(tmp_path_factory, run):
    ranks, tsc_per_us = run
    folder = tmp_path_factory.mktemp("random")
    agrees(write_run(folder, ranks, tsc_per_us=tsc_per_us))


@pytest.mark.parametrize(("pattern", "ranks"), list(zip(PATTERNS, (20, 4, 7, 4, 9), strict=True)))
def test_synthetic_runs_do_not_contradict_themselves(tmp_path, pattern, ranks):
    """In a folder whose name is longer than a line of the terminal."""
    agrees(write_pattern(tmp_path / ("run" * 30), pattern, ranks, 60).path)


UNEVEN = {
    "even": lambda iteration, rank: 1000,
    "late rank": lambda iteration, rank: 1000 + 500 * (rank == 2),
    "in turn": lambda iteration, rank: 2000 if iteration % 4 == rank else 1000,
    "slow": lambda iteration, rank: 9000 if (iteration, rank) == (17, 1) else 1000,
    "drift": lambda iteration, rank: 1000 + 60 * iteration,
}


@pytest.mark.parametrize("name", UNEVEN)
@pytest.mark.parametrize("step_us", [0, 400])
def test_uneven_runs_do_not_contradict_themselves(tmp_path, name, step_us):
    agrees(written(tmp_path, iterative(30, 4, UNEVEN[name], step_us=step_us)))


def test_an_imported_trace_does_not_contradict_itself():
    if not EPOCH.exists():
        pytest.skip(f"{EPOCH} is not here")
    agrees(EPOCH / "epoch_4proc.prv.gz")


def agrees(path):
    """That findings, efficiencies and sentences of a first look are of one set of numbers."""
    trace = open_trace(path)
    summary = summarize(trace, Team())
    said = json.loads(json.dumps(summary_json(summary)))
    text = io.StringIO()
    print_look(summary, Console(file=text, width=80, highlight=False))
    look = " ".join(text.getvalue().split())
    letters = look.replace(" ", "")  # a path that is longer than a line is broken within
    trace.close()
    found, factors = said["findings"], said["efficiency"]
    runtime = factors["runtime_s"]
    assert [f["cost_s"] for f in found] == sorted((f["cost_s"] for f in found), reverse=True)
    for one in found:
        _finding(one, said)
        assert not one["shown"] or "".join(one["text"].split()) in letters
    assert sum(one["shown"] for one in found) <= MOST
    if not factors["parallel_efficiency"]:
        return
    _factors({f["kind"]: f["cost_s"] for f in reversed(found)}, said, runtime)
    for longest in re.findall(r"(rank \d+) computes (?:[\d.]+ % longer|[\d.]+ times as long)", look, re.IGNORECASE):
        useful = summary.useful.by_rank()[summary.present]
        rank = int(longest.split()[1])
        assert summary.useful.by_rank()[rank] == useful.max() or summary.threads > len(summary.present)
    for time, share in re.findall(r"up to ([\d.]+ \w+) (?:of the run )?\(([<>\d.]+ %)(?: of the run)?\)[,.]", look):
        assert agree(time, share, runtime), (time, share, runtime)


def _finding(one, said):
    runtime = said["efficiency"]["runtime_s"]
    assert LEAST <= one["share"] <= 1
    assert one["share"] == pytest.approx(one["cost_s"] / runtime)
    assert f"up to {units.time(round(one['cost_s'] * 1e9))} ({units.percent(one['share'])} of the run)" in one["text"]
    assert one["rank"] is None or 0 <= one["rank"] < said["ranks"]
    assert one["next"] in one["text"]
    words = shlex.split(one["next"])
    assert words[0].startswith("TRACELIB_") or (words[0] == "analyze" and words[1] in names())


def _factors(costs, said, runtime):
    """Assert that the factors sum up to the loss; factors that are no finding are below LEAST."""
    efficiency = said["efficiency"]
    lost = runtime * (1 - efficiency["parallel_efficiency"])
    kinds = ("load imbalance", "serialization", "transfer", "communication", "starting and ending MPI")
    known = sum(costs.get(kind, 0) for kind in kinds)
    # None of four is there below LEAST; costs are whole ns; the replay rounds, and its longest computation is that of
    # its rank's bursts.
    between = abs((efficiency["ideal_useful_max_s"] or 0) - runtime * efficiency["communication_efficiency"])
    if efficiency["ideal_runtime_s"] is None:
        between = 0
    longer = max((efficiency["ideal_runtime_s"] or 0) - runtime, 0)
    assert known - longer - between - 1e-6 * runtime - 3e-9 <= lost <= known + between + 4 * LEAST * runtime
    if efficiency["ideal_runtime_s"] is not None:
        gain = max(runtime - efficiency["ideal_runtime_s"], 0)
        network = costs.get("transfer", 0) + costs.get("starting and ending MPI", 0)
        assert network <= gain + 1e-9 <= network + 2 * LEAST * runtime + 2e-9


UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


def agree(time, share, runtime):
    """Whether a printed time is the printed share of the run, as far as both are rounded."""
    number, unit = time.split()
    part = float(number) * UNITS[unit] / runtime
    if share.startswith("<"):
        return part <= 0.0011
    if share.startswith(">"):
        return part >= 0.995
    return abs(part - float(share.split()[0]) / 100) <= 0.0006 + 0.006 * part


def test_the_check_would_see_a_contradiction():
    assert agree("300 ms", "50.0 %", 0.6)
    assert not agree("300 ms", "52.0 %", 0.6)
    assert not agree("3.00 s", "50.0 %", 0.6)


def test_costs_are_told_to_overlap_only_where_they_may():
    summary = of_calls(*late(4))
    assert not overlap_note(summary)
    combinations = list(itertools.permutations(findings(summary)))
    assert all(len(largest_findings(list(some))) == 2 for some in combinations)
    assert np.isclose(sum(f.share for f in findings(summary)), 2 / 3)
