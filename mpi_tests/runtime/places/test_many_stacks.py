"""Programs that call MPI from very many stacks: each is walked once, that time is the tracer's, and it is bounded."""

import json
import random

import numpy as np
import pytest
from call_paths import Places
from conftest import source_of
from result import rank_files

from tracelib.schema import PATH_SHORT, PATHS_TYPE

SOURCE = "looks_from_two_places"
OTHERS = 40
"""Stacks of other calls: MPI_Init, and those with which the tracer measures itself."""


@pytest.fixture
def traced_stacks(openmpi, compiled, launch, tmp_path):
    """traced_stacks(stacks, rounds): the rank file and the result of the run."""

    def start(stacks, rounds):
        program = compiled(openmpi, "many_stacks.c", "-O1")
        done = launch(openmpi, program, str(stacks), str(rounds), ranks=1).check()
        (file,) = rank_files(tmp_path / "run.h5")
        return file, done

    return start


def searches(file):
    """Begin and end (ticks) of each search for callers."""
    events = file.tables["events"]
    mine = events[events["type"] == PATHS_TYPE]
    assert mine["value"].tolist() == [1, 0] * (len(mine) // 2)
    return mine["time"][::2], mine["time"][1::2]


def ticks_of(ns, file):
    clock = file.tables["clock"]
    return ns * int(clock["ticks"][-1] - clock["ticks"][0]) / int(clock["monotonic_ns"][-1] - clock["monotonic_ns"][0])


def is_shortened(file):
    paths = file.tables["paths"]
    return bool(((paths["module"] == 0) & (paths["offset"] == PATH_SHORT)).any())


def test_each_stack_is_walked_once(traced_stacks):
    """On a machine that stands still while a stack is walked, fewer callers may be looked for: this is said."""
    stacks, rounds = 3000, 5
    file, done = traced_stacks(stacks, rounds)
    sends = file.counts()["MPI_Send"]
    begins, _ = searches(file)
    assert sends == stacks * rounds
    assert is_shortened(file) == ("fewer callers" in done.stderr)
    assert is_shortened(file) or stacks <= len(begins) <= stacks + OTHERS
    assert is_shortened(file) or len(np.unique(file.tables["call_paths"])) >= stacks


def test_the_time_of_each_search_is_the_tracers(traced_stacks):
    """Before each call with a path that was not there before, and after the call before it, lies a search."""
    file, _ = traced_stacks(2000, 2)
    calls, paths = file.tables["calls"], file.tables["call_paths"]
    begins, ends = searches(file)
    _, first = np.unique(paths, return_index=True)
    first = first[(first > 0) & (first < len(calls) - 1)]  # MPI_Finalize is stamped when it meets the other ranks
    at = np.searchsorted(ends, calls["enter"][first], "right") - 1
    assert (at >= 0).all()
    assert (begins[at] >= calls["exit"][first - 1]).all()


@pytest.mark.timed
@pytest.mark.parametrize(("least", "most"), [(1, 1), (50, 500), (2000, 20_000)])
def test_recognizing_stacks_is_the_tracers_time(traced_stacks, least, most):
    """Between two calls the program only descends its path, which it times itself: the rest is the tracer's.

    Half of the gaps at least: others were interrupted, or come from a cold cache."""
    stacks = random.randint(least, most)
    rounds = 20_000 // stacks + 3
    file, done = traced_stacks(stacks, rounds)
    program = ticks_of(float(done.stdout.split()[-1]), file)
    sends = file.calls[file.names == "MPI_Send"][-stacks * (rounds - 1) :]  # all stacks are known
    gaps = np.sort((sends["enter"][1:] - sends["exit"][:-1]).astype(np.int64))[: len(sends) // 2]
    overhead = int(file.attributes["overhead_ticks"])
    assert np.maximum(gaps - overhead - program, 0).mean() < gaps.mean() / 2
    assert overhead < 3 * gaps.mean() + 10


def test_calls_that_share_a_row_have_the_callers_of_their_first(openmpi, compiled, launch, tmp_path):
    """A look from here and many from there: a row of its own, and the others share some."""
    program = compiled(openmpi, f"{SOURCE}.c", "-O1", "-g")
    launch(openmpi, program, ranks=1).check()
    (file,) = rank_files(tmp_path / "run.h5")
    polls = file.tables["polls"]
    paths = file.tables["call_paths"][file.names == "MPI_Wtime"].tolist()
    assert len(paths) + polls["count"].sum() == 1000
    assert len(polls)
    places = Places.of(file, {program.name: program})
    text = source_of(f"{SOURCE}.c").read_text().splitlines()
    lines = [
        places.stack(path, [f"{SOURCE}.c"])[-1].split(":")[1] for path in paths + file.tables["poll_paths"].tolist()
    ]
    functions = [text[int(line) - 3].split()[-1] for line in lines]
    assert functions == ["here(void)"] + ["there(void)"] * (len(functions) - 1)


def test_too_many_stacks_have_fewer_callers_and_it_is_said(traced_stacks, tmp_path, analyze):
    file, done = traced_stacks(600_000, 1)
    assert is_shortened(file)
    assert "with fewer callers than TRACELIB_STACK asks for" in done.stderr
    places = Places.of(file, {})
    of_calls = np.unique(file.tables["call_paths"])
    ends = {places.end(int(path)) for path in of_calls}
    assert "short" in ends
    assert "note: some calls have fewer callers than TRACELIB_STACK" in analyze("check", tmp_path / "run.h5").stdout
    assert "calls have fewer callers than TRACELIB_STACK asks for" in " ".join(
        analyze("look", "--no-files", tmp_path / "run.h5").stdout.split()
    )
    assert (
        json.loads(analyze("look", "--no-files", tmp_path / "run.h5", "--json").stdout)["calls"]["MPI_Send"]["count"]
        == 600_000
    )
