"""Programs of one kind of loop each, whose iterations are known, traced with call paths and without."""

from __future__ import annotations

import pytest

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.run_structure import IterationMethod, structure

pytestmark = pytest.mark.long

BY_CALLS = {
    "first_does_more": 44, "norm_and_output": 150, "rejected_steps": 64, "uniform": 400, "wavefronts": 25,
    "v_cycles": 22, "three": 3, "particles": 66, "overlap": 70, "ping_pong": 9, "no_loop": None, "writes_files": 56,
    "split_waits": 48, "warm_up": 34, "fences": 46, "coupled": 30, "only_sums": 1500, "long_set_up": 28,
    "triangular": 26, "drift": 60, "three_deep": 7, "conjugate_gradients": 12, "random_partners": 50,
}  # fmt: skip
"""Iterations of programs by their calls alone. The computation before a loop may tell where its first pass begins."""
BY_COMPUTING = {
    "partners_in_turn": 54, "silent_stages": 36, "long_computation": 40, "two_loops": 45, "roots_in_turn": 52,
    "restarts": 14, "transforms": 21, "places_in_turn": 58, "substeps": 13, "converges": 18,
}  # fmt: skip
"""In these it also counts how long ranks compute between their calls."""
NEEDS_PATHS = {"converges"}
"""Programs that, by calls alone, look like loops with rare steps."""


@pytest.fixture
def counted(openmpi, compiled, traced, tmp_path):
    """counted(name, environment): the structure of a program of this kind, traced with these variables."""

    def count(name: str, environment: dict[str, str]):
        run = traced(openmpi, compiled(openmpi, "kinds.c"), name, ranks=4, folder=tmp_path, env=environment).run
        trace = open_trace(run)
        try:
            return structure(trace, Team(), IterationMethod.CALLS)
        finally:
            trace.close()

    return count


def counts_of(found) -> set[int | None]:
    """How many passes the loops have that follow one another."""
    return {part.count for part in found.parts if part.iterations} or {None}


@pytest.mark.timed
@pytest.mark.parametrize("environment", [{}, {"TRACELIB_STACK": "0"}], ids=["paths", "calls"])
@pytest.mark.parametrize("name", BY_CALLS)
def test_what_calls_say(counted, name, environment):
    assert BY_CALLS[name] in counts_of(counted(name, environment))


@pytest.mark.timed(reruns=6)  # where ranks lose their CPUs often, bursts say nothing
@pytest.mark.parametrize("environment", [{}, {"TRACELIB_STACK": "0"}], ids=["paths", "calls"])
@pytest.mark.parametrize("name", BY_COMPUTING)
def test_what_computing_says(counted, name, environment):
    if environment and name in NEEDS_PATHS:
        return
    assert BY_COMPUTING[name] in counts_of(counted(name, environment))


@pytest.mark.parametrize("environment", [{}, {"TRACELIB_STACK": "0"}], ids=["paths", "calls"])
def test_tasks_of_a_master(counted, environment):
    """84 tasks among three workers, as many as each of them asks for."""
    main = counted("tasks", environment).main
    if main.tasks:
        assert main.tasks.total == 84 and main.tasks.fewest <= main.count <= main.tasks.most
    else:
        assert main.count == 28  # all are handed as many
