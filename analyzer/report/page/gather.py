"""All data that an HTML page shows of one run, computed once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analyzer.critical.path import CriticalPath, critical_path
from analyzer.critical.shares import PathShares, path_shares
from analyzer.errors import TracelibError
from analyzer.imbalance.analysis import Imbalance, analyze_imbalance
from analyzer.machine.description import Machine
from analyzer.machine.observed_machine import own_machine
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.report.look.summary import MOST_CALLS, Summary, summarize
from analyzer.sensitivity.limits import ReplayLimits, limits
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.parts import Structure
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.timeline import Timeline, TimelineMarks, lines_of, marks_of, timeline
from analyzer.trace import Trace
from analyzer.trace.trace import check_computing

Step = Callable[[str], AbstractContextManager]

MOST_CELLS = 400_000
"""Largest number of cells in the finest level of all timelines of a page. The coarser levels add at most a third."""
_MOST_BINS = 32_768
_MOST_READ = 20_000_000
"""Largest number of calls of a run whose critical path is followed, and whose iterations are looked for, for a page."""


@dataclass(frozen=True)
class PageRun:
    """Data of one run for a page. A field that was not computed is None; `left_out` has the reason by section."""

    name: str
    file: str
    summary: Summary
    timeline: Timeline
    marks: TimelineMarks
    structure: Structure | None = None
    even: Imbalance | None = None  # imbalance of the main loop
    path: CriticalPath | None = None
    shares: PathShares | None = None
    limits: ReplayLimits | None = None
    network_known: bool = True
    cpu_time: bool = False  # whether bursts in `limits` are CPU time
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def trace(self) -> Trace:
        """The trace of the run."""
        return self.summary.trace


def gather(
    file: str, trace: Trace, team: Team, runs: int = 1, step: Step = lambda label: nullcontext(), name: str = ""
) -> PageRun:
    """Compute all data that a page shows of one run. Collective over the team.

    Args:
        file: The run, as the user named it.
        trace: Its trace.
        team: Processes that share the work. Critical path and limits are only on its first member.
        runs: Number of runs on the page, which share MOST_CELLS.
        step: Function that is called with the label of each step and returns a context, to show progress.
        name: Name of the run on the page. "": its file name.

    Raises:
        TracelibError: The trace has no times of calls (a Dimemas trace), or does not say what is computing.
    """
    if not trace.has_call_times:
        raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "report on the run that it was made of")
    check_computing(trace)
    summary = summarize(trace, team, step)
    calls, left_out = int(summary.profile.count.sum()), dict[str, str]()
    made_of, even = summary.structure, summary.even
    if made_of is None and 0 < calls <= _MOST_READ:  # the first look does not take the time that it takes
        with step("Looking for iterations"):
            made_of = structure(trace, team, IterationMethod.CALLS)
            found = iterations(made_of)
            even = analyze_imbalance(trace, team, found) if found else None
    with step("Drawing ranks over time"):
        lines = lines_of(trace, summary.profile, summary.useful, summary.waits)
        bins = max(min(MOST_CELLS // runs // max(len(lines.names), 1), _MOST_BINS), 16)
        cells = timeline(trace, team, summary.profile, lines, bins)
    marks = TimelineMarks()
    if team.rank == 0:
        first = int(lines.typical[0]) if len(lines.typical) else 0
        marks = marks_of(trace, lines.of_rank, first, iterations(made_of))
    path = of_path = None
    if calls > _MOST_READ:
        left_out["path"] = f"it is followed for runs of up to {_MOST_READ} calls"
        left_out["structure"] = f"iterations are looked for in runs of up to {_MOST_READ} calls"
    elif team.rank == 0:
        with step("Following the critical path"):
            path = critical_path(trace)
            of_path = path_shares(trace, path)
    limited, known, cpu_time = None, True, False
    if calls > MOST_CALLS:
        left_out["sensitivity"] = f"it is replayed for runs of up to {MOST_CALLS} calls"
    elif summary.efficiency.ideal.reason:
        left_out["sensitivity"] = summary.efficiency.ideal.reason
    else:
        with step("Replaying on other networks"):
            own = own_machine(trace, team)
            machine, known = own or Machine.ideal(), own is not None
            program = program_of(trace, team, buffered=machine.eager_limit is None)
            limited, cpu_time = limits(program, machine, team, jobs=1), program.cpu_time
    name = name or Path(file).name
    return PageRun(name, file, summary, cells, marks, made_of, even, path, of_path, limited, known, cpu_time, left_out)


def iterations(made_of: Structure | None) -> Iterations | None:
    """Return the iterations of the main loop. None: there is no main loop."""
    main = made_of.main if made_of else None
    return main.iterations if main else None


def busiest(ns: np.ndarray, most: int) -> list[int]:
    """Return the at most `most` columns of a table (ranks, columns) with the largest sums, without columns of sum 0."""
    sums = ns.sum(axis=0)
    return [k for k in np.argsort(-sums, kind="stable")[:most].tolist() if sums[k]]
