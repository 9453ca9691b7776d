"""Iterations of real programs, whose number is on their command line; and small runs that are cut out of them."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.run_structure import IterationMethod, structure

pytestmark = pytest.mark.long

OPENMPI = {
    "sweeps": 30, "power_method": 5, "transforms": 6, "pipelined": 25, "multigrid": 4, "converging": 8, "stencil": 100,
}  # fmt: skip
MPICH = {"sorting": 10, "hydrodynamics": 60, "nested": 6, "particles": 75}
INSIDE = {"power_method": 25, "nested": 50, "pipelined": 12}


def found_in(run):
    trace = open_trace(run)
    try:
        return structure(trace, Team(), IterationMethod.CALLS).main
    finally:
        trace.close()


def made_in(folder, name):
    own = folder / name
    own.mkdir()
    return own


def check(run, name: str, count: int) -> None:
    loop = found_in(run)
    assert loop is not None, name
    assert loop.count == count, name
    if name in INSIDE:
        assert INSIDE[name] in {part.count for part in loop.inside if part.iterations}, name


def test_programs_under_open_mpi(openmpi, compiled, traced, tmp_path):
    program = compiled(openmpi, "loops.c")
    for name, count in OPENMPI.items():
        check(traced(openmpi, program, name, str(count), ranks=4, folder=made_in(tmp_path, name)).run, name, count)
    assert found_in(traced(openmpi, program, "no_loop", "1", ranks=4, folder=made_in(tmp_path, "none")).run) is None


@pytest.mark.timed  # a loop that others keep from the CPUs for long is a small part of its run
def test_programs_under_mpich(mpich, compiled, traced, tmp_path):
    program = compiled(mpich, "loops.c")
    for name, count in MPICH.items():
        check(traced(mpich, program, name, str(count), ranks=2, folder=made_in(tmp_path, name)).run, name, count)


def farthest(said):
    """Return by how much the factors of a cut may differ from the factors of the loop.

    Where ranks lose their CPUs, no few iterations are like all, and the command says how far off they are.
    """
    differ = re.search(r"These iterations differ by up to ([\d.e+-]+) percentage points", said)
    return float(differ[1]) / 100 + 0.01 if differ else 0.02


def outside(cut):
    """Share of the ranks' time before their first and after their last iteration, while others are in theirs."""
    trace = open_trace(cut)
    inside = [end - begin for begin, end in map(trace.span, range(trace.size))]
    trace.close()
    return 1 - sum(inside) / (trace.size * trace.duration_ns)


@pytest.mark.timed
def test_a_cut_is_a_sound_run_that_every_command_reads(openmpi, compiled, traced, analyze):
    run = traced(openmpi, compiled(openmpi, "loops.c"), "stencil", "200", ranks=2).run
    whole = json.loads(analyze("structure", run, "--json", "--method", "calls").check().stdout)["levels"][0]
    analyze("cut", run, "-o", "loop.h5", "-q", "--first", "1", "--iterations", "200").check()
    said = analyze("cut", run, "-o", "small.h5").check().stderr
    loop, few = (json.loads(analyze("efficiency", f"{name}.h5", "--json").check().stdout) for name in ("loop", "small"))
    for factor in ("parallel_efficiency", "load_balance", "communication_efficiency"):
        assert few[factor] == pytest.approx(loop[factor], abs=farthest(said)), factor
    assert loop["parallel_efficiency"] == pytest.approx(
        whole["efficiency"], abs=0.005 + outside(run.parent / "loop.h5")
    )
    for options in (("--iterations", "4"), ("--first", "11"), ("--from", "0", "--to", str(whole["end_s"]))):
        done = json.loads(analyze("cut", run, "-o", "small.h5", "--json", "-f", *options).check().stdout)
        assert done["bytes"] < done["bytes_before"]
        assert "good" in analyze("check", "small.h5").check().stdout
    for command in ("info", "efficiency", "waits", "critical-path", "replay", "prv", "dim"):
        analyze(command, "small.h5").check()
    assert analyze("cut", run, "-o", "small.prv").check().stdout.startswith("small.prv")
    analyze("check", "small.prv").check()


@pytest.mark.timed
def test_a_running_program_is_followed(openmpi, compiled, traced, analyze, tmp_path):
    """It says the period while the program runs, and ends when that does."""
    count = 2500
    program = compiled(openmpi, "loops.c")
    with ThreadPoolExecutor(1) as beside:
        going = beside.submit(
            traced, openmpi, program, "paced", str(count), ranks=1, env={"TRACELIB_BUFFER": "64K"}, limit_s=120
        )
        while not list((tmp_path / "run.ranks").glob("*.h5")):
            time.sleep(0.05)
            assert not going.done(), going.result()
        found = json.loads(analyze("structure", "run.h5", "--follow", "--json").check().stdout)
        run = going.result().run
    first = found["loops"][0]
    assert first["running"] and found["looks"] > 1
    trace = open_trace(run)
    assert first["at_s"] < trace.duration_ns / 1e9
    whole = structure(trace, Team(), IterationMethod.CALLS).main.iterations
    trace.close()
    assert whole.count == count
    assert first["period_s"] == pytest.approx(whole.period_ns / 1e9, rel=0.5)  # both are medians
    assert first["body"].startswith("1 exchange")
    assert 0 < found["peak_memory_bytes"] < 400e6
