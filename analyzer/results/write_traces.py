"""Writing of a run as a Paraver or Dimemas trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analyzer.efficiency.ideal import ranks_of_many_callers
from analyzer.errors import TracelibError
from analyzer.operations.events import NO_EVENTS
from analyzer.results.open_part import RunOpener
from analyzer.results.output_files import check_writable
from analyzer.trace import CallPaths, Trace, ranks_named
from analyzer.trace.event_types import EventType
from analyzer.trace.paraver import MOST_LEVELS
from analyzer.waits.annotated import WithWaits
from analyzer.waits.kinds import WaitKind
from analyzer.writers.callers import WithCallers
from analyzer.writers.dim import DimReport, write_dim
from analyzer.writers.paraver_labels import write_event_cfg, write_pcf, write_row
from analyzer.writers.prv import write_prv


def write_with_waits(trace: Trace, base: Path, host: RunOpener, force: bool) -> list[Path]:
    """Write a Paraver trace with wait states as events, and BASE.waits.cfg, which shows them. Return the paths."""
    cfg = base.with_name(base.name + ".waits.cfg")
    check_writable(cfg, trace, force)
    with host.step("Finding wait states"):
        annotated = WithWaits(trace, host.team)
    paths = write_paraver(annotated, base, host, force)
    if host.team.rank == 0:
        write_event_cfg(cfg, "Wait state", EventType.WAIT_STATE, len(WaitKind))
    return [*paths, cfg]


def write_paraver(trace: Trace, base: Path, host: RunOpener, force: bool) -> list[Path]:
    """Write BASE.prv, BASE.pcf and BASE.row, and return their paths. Collective over the team."""
    paths = [base.with_name(base.name + ending) for ending in (".prv", ".pcf", ".row")]
    for path in paths:
        check_writable(path, trace, force)
    with host.step(f"Writing {paths[0]}"):
        types = write_prv(trace, paths[0], host.team)
    if host.team.rank == 0:
        write_pcf(trace, paths[1], types)
        write_row(trace, paths[2])
    host.team.barrier()
    return paths


def write_dimemas(trace: Trace, base: Path, host: RunOpener, force: bool, events: np.ndarray = NO_EVENTS) -> DimReport:
    """Write BASE.dim. Collective over the team.

    Args:
        trace: The run.
        base: Path without ending.
        host: The program that opened the run.
        force: Whether an existing file that is no trace may be replaced.
        events: Additional events, of type EVENT, in order of time.
    """
    path = base.with_name(base.name + ".dim")
    check_writable(path, trace, force)
    with host.step(f"Writing {path}"):
        return write_dim(trace, path, host.team, events)


def dimemas_notes(trace: Trace, report: DimReport) -> list[str]:
    """List what the .dim file of a trace lacks of the run, one line each."""
    notes, name = [], report.path.name
    if report.left_out:
        calls = ", ".join(f"{count} {of}" for of, count in report.left_out.items())
        notes.append(f"{name} leaves out what Dimemas has no record for: {calls}")
    if ranks := ranks_of_many_callers(trace):
        of = ranks_named(ranks)
        notes.append(f"{name} has the calls of all threads of {of} in one sequence, so a replay of it may never end")
    return notes


def with_callers(trace: Trace, levels: int) -> Trace:
    """Add callers of each call as events.

    Args:
        trace: A run that knows where its calls come from.
        levels: Number of levels of callers.

    Raises:
        TracelibError: The run does not know callers, or `levels` is out of its range.
    """
    if not 1 <= levels <= MOST_LEVELS:
        raise TracelibError(f"{levels} levels of callers cannot be written", f"give 1 to {MOST_LEVELS}")
    if not trace.extra(CallPaths).known:
        raise TracelibError(
            f"{trace.path}: it does not say where its calls come from", "record it without TRACELIB_STACK=0"
        )
    return WithCallers(trace, levels)
