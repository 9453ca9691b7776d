"""Rows of a run's ranks before their clocks are known, read for each rank when they are first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from threading import RLock
from typing import NamedTuple

import numpy as np

from analyzer.parallel import Team
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.rank_tables import thread_tables
from analyzer.recording.rank_file.spool import Fate, Unfinished, fate, pending_rows
from analyzer.recording.rank_file.stamps import possible_only
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.recording.run.ends import shortcomings
from analyzer.recording.thread_records.count_table import CountTable, count_tables
from analyzer.trace import Counter, Problem
from tracelib import schema
from tracelib.schema.spool import ThreadSpool


class RawRank(NamedTuple):
    """Rows of a rank before its clock is known."""

    fate: Fate
    pending: list[ThreadSpool]
    unfinished: Unfinished
    tables: dict[int, dict[str, ThreadTable]]  # by thread of the program
    sampler: ThreadTable | None  # rows of the tracer's own thread; None: it had none
    counts: dict[int, CountTable]  # by thread, if counters were read
    problems: list[Problem]


class RawRanks:
    """Cache of the rows of ranks. Threads may share it."""

    def __init__(self, files: Sequence[RankFile], counters: Sequence[Counter], *, impossible: bool) -> None:
        """Prepare the ranks; `impossible`: accept impossible time stamps."""
        self.files = {file.rank: file for file in files}
        self.counters, self._impossible = counters, impossible
        self._sound: Set[int] = frozenset()
        self._kept: dict[int, RawRank] = {}
        self.lock = RLock()

    def trust(self, sound: Set[int]) -> None:
        """Skip the search for faults in these ranks, because members of a team have opened them without fault."""
        self._sound = sound

    def get(self, rank: int) -> RawRank:
        """Return the rows of a rank. Raises TracelibError if some are impossible."""
        with self.lock:
            if rank not in self._kept:
                self._kept[rank] = self._read(self.files[rank])
            return self._kept[rank]

    def tables(self, rank: int) -> Mapping[int, Mapping[str, ThreadTable]]:
        """Return the tables of each thread of a rank."""
        return self.get(rank).tables

    def forget(self, rank: int) -> None:
        """Drop the rows of a rank, whose threads are made."""
        self._kept.pop(rank, None)

    def _read(self, file: RankFile) -> RawRank:
        of_file = fate(file)
        pending, problems = pending_rows(file, of_file)
        unfinished = Unfinished(file, pending)
        every = [*pending, *unfinished.rows]
        tables = thread_tables(file, every)
        sampler = tables.pop(schema.SAMPLER_THREAD, {}).get("events")
        counts = count_tables(file, every, tables, self.counters)
        problems = problems + shortcomings(file)
        problems += possible_only(file, tables, impossible=self._impossible, sound=file.rank in self._sound)
        return RawRank(of_file, pending, unfinished, tables, sampler, counts, problems)


def count_threads(raw: RawRanks, mine: Sequence[int], size: int, team: Team) -> tuple[np.ndarray, list[Problem]]:
    """Count the threads of each of a run's `size` ranks (int32), and report the problems of their rows.

    In a team each member reads its own ranks, `mine`.
    """
    threads, problems = np.ones(size, np.int32), list[Problem]()
    for part, part_problems in team.gather(lambda: _count(raw, mine)):
        threads[part[:, 0]] = part[:, 1]
        problems += part_problems
    return threads, problems


def _count(raw: RawRanks, mine: Sequence[int]) -> tuple[np.ndarray, list[Problem]]:
    """Read some ranks. Returns their number of threads as (rank, threads), shape (ranks, 2), and problems of rows."""
    rows = [raw.get(rank) for rank in mine]
    threads = [(rank, max(of_rank.tables) + 1) for rank, of_rank in zip(mine, rows, strict=True)]
    return np.array(threads, np.int64).reshape(-1, 2), [problem for of_rank in rows for problem in of_rank.problems]
