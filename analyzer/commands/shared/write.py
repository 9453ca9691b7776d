"""Writing the derived files of a trace, for the commands that do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.shared.outputs import check_writable
from analyzer.commands.shared.session import Session
from analyzer.writers.paraver_labels import write_event_cfg

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    import numpy as np

    from analyzer.trace import Trace
    from analyzer.writers.dim import DimReport


def write_with_waits(trace: Trace, base: Path, session: Session, force: bool) -> list[Path]:
    """Write the Paraver trace with wait states as events, and BASE.waits.cfg, which shows them."""
    from analyzer.trace.paraver import EventType
    from analyzer.waits.annotated import WithWaits
    from analyzer.waits.kinds import WaitKind

    cfg = base.with_name(base.name + ".waits.cfg")
    check_writable(cfg, trace, force)
    with session.step("Finding wait states"):
        annotated = WithWaits(trace, session.team)
    paths = write_paraver(annotated, base, session, force)
    if session.team.rank == 0:
        write_event_cfg(cfg, "Wait state", EventType.WAIT_STATE, len(WaitKind))
    return [*paths, cfg]


def write_paraver(trace: Trace, base: Path, session: Session, force: bool) -> list[Path]:
    """Write BASE.prv, BASE.pcf and BASE.row; returns their paths. Collective over the team."""
    from analyzer.writers.paraver_labels import write_pcf, write_row
    from analyzer.writers.prv import write_prv

    paths = [base.with_name(base.name + ending) for ending in (".prv", ".pcf", ".row")]
    for path in paths:
        check_writable(path, trace, force)
    with session.step(f"Writing {paths[0]}"):
        types = write_prv(trace, paths[0], session.team)
    if session.team.rank == 0:
        write_pcf(trace, paths[1], types)
        write_row(trace, paths[2])
    session.team.barrier()
    return paths


def write_dimemas(
    trace: Trace, base: Path, session: Session, force: bool, events: np.ndarray | None = None
) -> DimReport:
    """Write BASE.dim, with additional events (EVENT, in order of time). Collective over the team."""
    from analyzer.operations.events import NO_EVENTS
    from analyzer.writers.dim import write_dim

    path = base.with_name(base.name + ".dim")
    check_writable(path, trace, force)
    with session.step(f"Writing {path}"):
        return write_dim(trace, path, session.team, NO_EVENTS if events is None else events)


def dimemas_notes(trace: Trace, report: DimReport) -> list[str]:
    """List what the .dim file of a trace does not hold, as lines for the user."""
    from analyzer.efficiency.ideal import ranks_of_many_callers
    from analyzer.trace import ranks_named

    notes, name = [], report.path.name
    if report.left_out:
        calls = ", ".join(f"{count} {of}" for of, count in report.left_out.items())
        notes.append(f"{name} leaves out what Dimemas has no record for: {calls}")
    if ranks := ranks_of_many_callers(trace):
        of = ranks_named(ranks)
        notes.append(f"{name} has the calls of all threads of {of} in one sequence, so a replay of it may never end")
    return notes
