"""Cuts a run: some iterations, or a stretch of time, as a run of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.cut.choose import span_of
from analyzer.structure.cut.edges import crossing, shared_collectives
from analyzer.structure.cut.records import CutRecords
from analyzer.trace import Losses, Trace
from analyzer.writers.run_file import write_run

CLOCK = "cut"
"""What the ranks of a cut run read: ns from its begin."""


@dataclass(frozen=True)
class Cut:
    """What a cut took and left."""

    begin_ns: int  # in the whole run
    end_ns: int
    messages: int  # with both sides inside
    messages_in: int  # received inside, sent before
    messages_out: int  # sent inside, received later
    collectives: int  # calls of collectives that not all members have inside


def write_cut(trace: Trace, team: Team, windows: np.ndarray, path: Path, *, called: Path | None = None) -> Cut:
    """Write what each rank does in its window, int64 (ranks, 2) ns, as the run `path`. Times begin with the cut.

    A call that goes on over an edge is cut there. A message of which one side lies outside becomes a call with
    MPI_PROC_NULL that takes as long; a collective that not all members have inside belongs to no communicator. Counters
    are left out. Collective over the team; the first process writes. Raises TracelibError where it cannot.
    """
    windows = windows.copy()
    windows[list(trace.extra(Losses).missing)] = -1
    begin, end = span_of(windows)
    crosses = crossing(trace, windows)
    records = CutRecords(trace, windows, crosses, shared_collectives(trace, team, windows))
    if team.rank == 0:
        said = {"cut_from": str(trace.path), "cut": f"{begin} to {end} ns"}
        write_run(trace, records.all(), path, said, called, CLOCK)
    left_out = team.bcast(records.left_out)
    return Cut(begin, end, crosses.kept, crosses.messages_in, crosses.messages_out, left_out)
