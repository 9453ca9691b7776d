"""A rank that is stopped for a while: a perturbed time, found where it was, and no iteration that stands for others."""

from __future__ import annotations

from contextlib import closing

import pytest

from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.structure.cut.chosen_iterations import typical_stretch
from analyzer.structure.levels.run_structure import iterations
from analyzer.structure.perturbations import PerturbationCause, perturbed

STEPS, WHICH = 40, 24
STOPPED_NS = 400_000_000


@pytest.mark.timed
def test_a_stopped_rank_is_found_where_it_was(openmpi, compiled, traced):
    program = compiled(openmpi, "stopped.c")
    run = traced(openmpi, program, str(STEPS), str(WHICH), ranks=2, env={"TRACELIB_CPUTIME": "on"}).run
    with closing(open_trace(run)) as trace:
        found = iterations(trace, Team())
        assert found is not None and found.count == STEPS
        begin, end = found.span_of(WHICH)
        assert end - begin > STOPPED_NS
        without_cpu = [one for one in perturbed(trace, Team()) if one.cause is PerturbationCause.PREEMPTION]
        inside = sum(max(min(one.end_ns, end) - max(one.begin_ns, begin), 0) for one in without_cpu)
        assert inside > 0.9 * STOPPED_NS
        first = typical_stretch(trace, Team(), found, 2).first
        assert not first <= WHICH < first + 2
        elsewhere = sum(one.end_ns - one.begin_ns for one in without_cpu) - inside
        assert elsewhere < 0.75 * trace.duration_ns  # what others on a busy machine took is found, too
