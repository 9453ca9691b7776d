"""TRACELIB_CALLS and TRACELIB_BURSTS: calls that are not recorded one by one are counted and timed all the same."""

import json
from collections import Counter

import numpy as np
import pytest

from analyzer.metrics.profile import profile
from analyzer.metrics.useful import useful
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.trace import State, TracerTime

pytestmark = pytest.mark.timed

PHASES, MILLISECONDS = 25, 4


def counted(run) -> list[Counter]:
    """Calls of each rank by name, as the profile has them."""
    trace = open_trace(str(run))
    found = profile(trace, Team())
    trace.close()
    return [Counter({n: int(c) for n, c in zip(found.procedures, row, strict=True) if c}) for row in found.count]


@pytest.mark.parametrize(
    "env",
    [
        {"TRACELIB_CALLS": "-p2p"},
        {"TRACELIB_CALLS": "collective"},
        {"TRACELIB_CALLS": "p2p,completion", "TRACELIB_BUFFER": "16K"},
        {"TRACELIB_BURSTS": "100us", "TRACELIB_BUFFER": "16K"},
    ],
    ids=["all but p2p", "collectives", "p2p", "bursts"],
)
def test_the_profile_has_every_call(mpi, compiled, traced, analyze, env):
    result = traced(mpi, compiled(mpi, "nonblocking.c"), env=env)
    for rank, (counts, truth) in enumerate(zip(counted(result.run), result.truths(), strict=True)):
        assert {name: counts[name] for name in truth.calls} == dict(truth.calls), f"rank {rank}"
    analyze("check", result.run).check()
    names = {name for file in result.ranks for name in file.names}
    assert ("MPI_Isend" in names) == ("p2p" in env.get("TRACELIB_CALLS", "").split(","))


def test_what_is_recorded_has_its_place_in_the_window(openmpi, compiled, traced):
    result = traced(openmpi, compiled(openmpi, "one_sided.c"), ranks=2, env={"TRACELIB_CALLS": "rma"})
    for file, truth in zip(result.ranks, result.truths(), strict=True):
        assert file.accesses() == truth.accesses


def test_paraver_has_the_sums_of_the_burst_mode(mpi, compiled, traced, analyze):
    """Statistics of point-to-point and collective calls against the program's count, and stretches against both."""
    env = {"TRACELIB_BURSTS": "100us", "TRACELIB_BUFFER": "16K"}
    result = traced(mpi, compiled(mpi, "nonblocking.c"), env=env)
    analyze("prv", result.run).check()
    sums: dict[int, Counter] = {rank: Counter() for rank in range(len(result.ranks))}
    for line in (result.folder / "run.prv").read_text().splitlines():
        kind, *numbers = line.split(":")
        if kind == "2":
            for type_, value in zip(numbers[5::2], numbers[6::2], strict=True):
                sums[int(numbers[2]) - 1][int(type_)] += int(value)
    for rank, truth in enumerate(result.truths()):
        collective = sum(count for name, count in truth.calls.items() if name in ("MPI_Barrier", "MPI_Allreduce"))
        words = ("send", "Send", "recv", "Recv", "Start", "Wait", "Test", "Cancel")
        named = {name for name in truth.calls if any(word in name for word in words)}
        named -= {name for name in named if name.endswith("_init") or name == "MPI_Test_cancelled"}
        assert sums[rank][54000000] == sum(truth.calls[name] for name in named), f"rank {rank}"
        assert sums[rank][54000001] == sum(size * n for (*_, size), n in truth.sent.items())
        assert sums[rank][54000003] == collective
        assert sums[rank][49000030] == sum(sums[rank][type_] for type_ in (54000000, 54000003, 54000014))
        assert sums[rank][49000031] == pytest.approx(sums[rank][54000006], abs=1000)
    text = (result.folder / "run.pcf").read_text()
    assert "54000003    Number of GLOBAL MPI calls" in text


def test_bytes_are_those_of_the_full_trace(openmpi, compiled, traced, tmp_path):
    """By procedure and rank, of messages sent and received and of collectives."""
    program, sums = compiled(openmpi, "collectives.c"), []
    for name, env in (("full", {}), ("bursts", {"TRACELIB_BURSTS": "100us"})):
        folder = tmp_path / name
        folder.mkdir()
        result = traced(openmpi, program, env=env, folder=folder)
        trace = open_trace(str(result.run))
        found = profile(trace, Team())
        of = {p: k for k, p in enumerate(found.procedures)}
        sums.append({p: (found.sent[:, k].tolist(), found.received[:, k].tolist()) for p, k in of.items()
                     if found.count[:, k].any()})  # fmt: skip
        trace.close()
    assert sums[0] == sums[1]


def test_long_bursts_are_kept_and_the_rest_is_summed_up(mpi, compiled, traced):
    """Each phase computes 4 ms and meets in a barrier: as many bursts of more than 1 ms, and the whole useful time."""
    program = compiled(mpi, "phases.c", "-O1")
    env = {"TRACELIB_BURSTS": "1ms", "TRACELIB_CPUTIME": "off"}
    result = traced(mpi, program, str(PHASES), str(MILLISECONDS), ranks=2, env=env)
    files = result.ranks
    trace = open_trace(str(result.run))
    states = trace.states()
    computed = useful(trace, Team()).by_rank()
    for rank, file in enumerate(files):
        running = states[(states["rank"] == rank) & (states["state"] == State.RUNNING)]
        long = running["end"] - running["begin"] > 1_000_000
        assert PHASES <= np.count_nonzero(long) <= PHASES + 3  # and those before MPI_Init, before MPI_Finalize
        rows = file.tables["summaries"]
        stretches = rows[rows["flags"] == 0]
        assert len(file.calls) <= 2  # MPI_Init, MPI_Finalize
        assert PHASES <= len(stretches) <= PHASES + 3
        assert int(stretches["count"].sum()) == int(rows["count"][rows["flags"] > 0].sum())
        inside = sum(int(block["inside"].sum()) for block in trace.calls(rank))
        begin, end = trace.span(rank)
        flushed = int(
            (trace.extra(TracerTime).flushes(rank)["end"] - trace.extra(TracerTime).flushes(rank)["begin"]).sum()
        )
        assert computed[rank] == pytest.approx(end - begin - inside - flushed, rel=0.02)
    trace.close()


def test_nonsense_is_said_and_all_is_recorded(openmpi, compiled, traced, analyze):
    result = traced(openmpi, compiled(openmpi, "back_to_back.c"), "10", ranks=1, env={"TRACELIB_CALLS": "everything"})
    assert "TRACELIB_CALLS=everything: the kinds of calls are p2p" in result.finished.stderr
    assert np.count_nonzero(result.ranks[0].names == "MPI_Send") == 10
    assert json.loads(analyze("look", "--no-files", "--json", result.run).check().stdout)["ranks"] == 1
