"""The iterations of a run that is still being written: what a few ranks did last, looked at again and again.

Memory is bounded by the ranks and calls of one look, however long the run is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.recording.rank_file.spool import Fate, fate
from analyzer.recording.run.rank_rows import RowReader, row_reader
from analyzer.structure.calls.sequence import Sequence, sequence_of
from analyzer.structure.iterations import Iterations
from analyzer.structure.levels.agreed_loops import AgreedLoop, Sequences, agreed, whole
from analyzer.structure.levels.loop_tree import tree
from analyzer.trace import Losses, Trace
from analyzer.trace.chosen import Choice

MOST_RANKS = 8
"""Number of ranks that are examined."""
MOST_CALLS = 1 << 16
"""Number of last calls of each rank that are read: about this many, at most twice as many."""
ENOUGH = 6
"""Iterations that one look must show."""
FOR_A_CUT = 64
"""The last periods of which some are cut out."""
ALIKE = 0.25
"""Two looks say the same if their iterations do the same, and their periods differ by less than this share of them."""


@dataclass(frozen=True)
class LiveIterations:
    """Iterations in the part of a run that is written so far."""

    until_ns: int  # the last call
    is_running: bool
    period_ns: int  # 0: nothing repeats
    shown: int  # iterations that were looked at
    body: str
    begin_ns: int = 0  # of the loop, as far as it was looked at
    inside: tuple[tuple[int, int], ...] = ()  # of each loop in a typical iteration its passes, and the period in ns

    def confirms(self, earlier: LiveIterations | None) -> bool:
        """Check whether both found the same loop, and it went on meanwhile."""
        return (
            earlier is not None
            and self.period_ns > 0
            and self.body == earlier.body
            and self.until_ns > earlier.until_ns
            and abs(self.period_ns - earlier.period_ns) < ALIKE * earlier.period_ns
        )


def place_of(path: Path) -> Path:
    """Find the files of a run: run.h5, or run.ranks while rank 0 has not written that. Raises TracelibError."""
    ranks = path.with_suffix(".ranks")
    if not path.exists() and path.suffix == ".h5" and ranks.is_dir():
        return ranks
    if not path.exists():
        raise TracelibError(f"{path}: no such file", "the traced program makes it when it begins")
    return path


def look(path: Path, ranks: Choice | None = None) -> LiveIterations:
    """Find iterations in the last calls of a few ranks, or of the chosen ones. Raises TracelibError for a foreign
    file."""
    trace = open_trace(path, choice=ranks or _some_ranks(path), matched=False)
    try:
        running = is_running(trace)
        missing = set(trace.extra(Losses).missing)
        read = [rank for rank in range(trace.size) if rank not in missing]
        sequences = Sequences(trace, _begin(trace, read))
        found = tree(sequences, whole(sequences, read), Team(), np.zeros((0, 2), np.int64), deepest=2)
        last = max(found, key=lambda node: node.loop.end_ns, default=None)
        if last is None or (running and last.loop.count < ENOUGH):
            return LiveIterations(trace.duration_ns, running, 0, 0, "")
        main, inside = last.loop, tuple((one.loop.count, _period(one.loop)) for one in last.inside)
        return LiveIterations(trace.duration_ns, running, _period(main), main.count, main.body, main.begin_ns, inside)
    finally:
        trace.close()


def last_iterations(trace: Trace, now: LiveIterations, team: Team) -> Iterations | None:
    """Return the last iterations of the loop of a look, on all ranks, that all ranks have written. None: there are
    fewer than ENOUGH yet. Collective over the team."""
    missing = set(trace.extra(Losses).missing)
    ranks = [rank for rank in trace.share(team) if rank not in missing]
    begin = max(now.begin_ns, now.until_ns - FOR_A_CUT * now.period_ns)
    lasts = [int(calls.exit.max(initial=0)) for calls in (sequence_of(trace, rank, begin) for rank in ranks)]
    until = min(last for part in team.allgather(lasts) for last in part)

    def read(of: Trace, rank: int, first: int, end: int | None) -> Sequence:
        return sequence_of(of, rank, first, until if end is None else end)

    sequences = Sequences(trace, begin, read)
    found = [one for one in agreed(sequences, whole(sequences, ranks), team) if one.body == now.body]
    loop = max(found, key=lambda one: one.end_ns, default=None)
    if loop is None or loop.count < ENOUGH:
        return None
    return Iterations(1, loop.edges, _period(loop), loop.body, loop.source)


def is_running(trace: Trace) -> bool:
    """Check whether a rank still writes, as far as it can be known. Raises TracelibError for a foreign file."""
    return any(fate(file) in (Fate.RUNNING, Fate.UNKNOWN) for file in _reader_of(trace).files_of(range(trace.size)))


def _reader_of(trace: Trace) -> RowReader:
    """Return the reader of a trace that can be followed. Raises TracelibError for a foreign file."""
    reader = row_reader(trace)
    if reader is None:
        raise TracelibError(f"{trace.path}: only a run of tracelib can be followed", "leave out --follow")
    return reader


def _some_ranks(path: Path) -> Choice | None:
    """Choose MOST_RANKS of the ranks, spread over those whose files are there; None: these are few enough."""
    folder = path if path.is_dir() else path.with_suffix(".ranks")
    known = sorted(int(file.stem) for file in folder.glob("*.h5") if file.stem.isdecimal()) if folder.is_dir() else []
    if len(known) <= MOST_RANKS:
        return None
    some = np.array(known)[np.linspace(0, len(known) - 1, MOST_RANKS).astype(np.int64)]
    return Choice.parse(",".join(map(str, some.tolist())))


def _begin(trace: Trace, ranks: list[int]) -> int:
    """Find the time from which on the busiest rank has about MOST_CALLS calls."""
    bounds = [trace.windows_of(rank, MOST_CALLS) for rank in ranks]
    return max((int(one[-3]) for one in bounds if len(one) > 2), default=0)


def _period(loop: AgreedLoop) -> int:
    known = loop.edges[loop.edges[:, 0] >= 0]
    return round(float(np.median(np.diff(known, axis=1).mean(axis=0))))
