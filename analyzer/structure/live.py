"""Iterations of a run that is still being written, from the last calls of a few ranks.

The run is looked at again and again. Memory is bounded by the ranks and calls of one look, however long the run is.
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
"""Largest number of ranks that are read."""
MOST_CALLS = 1 << 16
"""Number of last calls of each rank that are read: about this many, at most twice as many."""
ENOUGH = 6
"""Smallest number of iterations that one look must show."""
FOR_A_CUT = 64
"""Number of last periods from which iterations are cut out."""
ALIKE = 0.25
"""Two looks found the same loop if its body is equal, and its periods differ by less than this share."""


@dataclass(frozen=True)
class LiveIterations:
    """Iterations in the part of a run that is written so far.

    Attributes:
        until_ns: Time of the last call.
        is_running: Whether the run is still being written.
        period_ns: Length of an iteration. 0: nothing repeats.
        shown: Number of iterations that were read.
        body: What an iteration does, in words.
        begin_ns: Begin of the loop, as far as it was read.
        inside: For each loop in a typical iteration: number of passes, and their period in ns.
    """

    until_ns: int  # the last call
    is_running: bool
    period_ns: int  # 0: nothing repeats
    shown: int  # iterations that were looked at
    body: str
    begin_ns: int = 0  # of the loop, as far as it was looked at
    inside: tuple[tuple[int, int], ...] = ()  # of each loop in a typical iteration its passes, and the period in ns

    def confirms(self, earlier: LiveIterations | None) -> bool:
        """Return True if an earlier look found the same loop (ALIKE), and the loop has gone on since."""
        return (
            earlier is not None
            and self.period_ns > 0
            and self.body == earlier.body
            and self.until_ns > earlier.until_ns
            and abs(self.period_ns - earlier.period_ns) < ALIKE * earlier.period_ns
        )


def place_of(path: Path) -> Path:
    """Return where the files of a run are: run.h5, or run.ranks as long as rank 0 has not written run.h5.

    Raises:
        TracelibError: There is no such file.
    """
    ranks = path.with_suffix(".ranks")
    if not path.exists() and path.suffix == ".h5" and ranks.is_dir():
        return ranks
    if not path.exists():
        raise TracelibError(f"{path}: no such file", "the traced program makes it when it begins")
    return path


def look(path: Path, ranks: Choice | None = None) -> LiveIterations:
    """Find iterations in the last calls of a few ranks.

    Args:
        path: Path of the run.
        ranks: Ranks to read. None: at most MOST_RANKS ranks.

    Raises:
        TracelibError: The file is no run of tracelib.
    """
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
    """Find the last iterations that all ranks have written, of the loop that a look found. Collective over the team.

    Args:
        trace: The run.
        now: Result of the look.
        team: Processes that share the work.

    Returns:
        The iterations. None: there are fewer than ENOUGH yet.
    """
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
    """Return True if a rank still writes, or may still write.

    Raises:
        TracelibError: The trace is no run of tracelib.
    """
    return any(fate(file) in (Fate.RUNNING, Fate.UNKNOWN) for file in _reader_of(trace).files_of(range(trace.size)))


def _reader_of(trace: Trace) -> RowReader:
    """Return the reader of a trace that can be followed. Raises TracelibError for a foreign file."""
    reader = row_reader(trace)
    if reader is None:
        raise TracelibError(f"{trace.path}: only a run of tracelib can be followed", "leave out --follow")
    return reader


def _some_ranks(path: Path) -> Choice | None:
    """Choose MOST_RANKS ranks, spread evenly over the ranks that have files. None: there are no more than that."""
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
