"""40 kinds of programs in traces of states alone: no MPI events, as other tracers and accelerators write them."""

from __future__ import annotations

import pytest
from state_programs import KINDS, written

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.levels.run_structure import structure

SEEDS = (1, 2)
RUNS = 3
"""Number of runs of each program, with different noise."""
LEAST = 36
"""Least number of 40 that must be right, for any seed; seeds 1 to 10 have 39 or 40."""


def judged(number, seed, folder):
    """Return the count of each run's main loop and all its reported counts; and the true count."""
    answers = []
    for noise in range(RUNS):
        path, count = written(number, seed, folder, noise)
        trace = open_trace(path, matched=False)
        try:
            found = structure(trace, Team())
        finally:
            trace.close()
        main = found.main.count if found.main else None
        said = {one for loop in found.loops for one in (loop.count, loop.total)}
        said |= {round(loop.count / every) for loop in found.loops for every in loop.every}
        answers.append((main, said))
    return answers, count


def test_there_are_40():
    assert len(KINDS) == len({kind.__name__ for kind in KINDS}) == 40


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_iterations_of_states(tmp_path, seed):
    """All runs of at least 36 are right. If the headline is wrong, another reported count is right but for a pass."""
    wrong = {}
    for number, kind in enumerate(KINDS):
        answers, count = judged(number, seed, tmp_path)
        if any(main != count for main, _ in answers):
            wrong[kind.__name__] = count, answers
    assert len(KINDS) - len(wrong) >= LEAST, wrong
    for name, (count, answers) in wrong.items():
        for main, said in answers:
            assert main is None or count is not None, name
            assert main is None or any(abs(one - count) <= 1 for one in said), (name, count, said)
