"""Rows of a run's ranks before their clocks are known, read for each rank at its first use."""

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
    """Tables of a rank before its clock is known, with the fate of its process."""

    fate: Fate
    pending: list[ThreadSpool]
    unfinished: Unfinished
    tables: dict[int, dict[str, ThreadTable]]  # by thread of the program, then by name
    sampler: ThreadTable | None  # rows of the tracer's own thread; None: it had none
    counts: dict[int, CountTable]  # by thread, if counters were read
    problems: list[Problem]


class RawRanks:
    """Cache of the tables of ranks. Python threads may share it."""

    def __init__(self, files: Sequence[RankFile], counters: Sequence[Counter], *, impossible: bool) -> None:
        """Prepare the cache.

        Args:
            files: Files of all ranks.
            counters: Counters of the run.
            impossible: Accept rows with impossible time stamps.
        """
        self.files = {file.rank: file for file in files}
        self.counters, self._impossible = counters, impossible
        self._sound: Set[int] = frozenset()
        self._kept: dict[int, RawRank] = {}
        self.lock = RLock()

    def trust(self, sound: Set[int]) -> None:
        """Skip the search for faults in these ranks, because other members of a team have opened them without fault."""
        self._sound = sound

    def get(self, rank: int) -> RawRank:
        """Return the tables of a rank. Raises TracelibError if rows are impossible."""
        with self.lock:
            if rank not in self._kept:
                self._kept[rank] = self._read(self.files[rank])
            return self._kept[rank]

    def tables(self, rank: int) -> Mapping[int, Mapping[str, ThreadTable]]:
        """Return the tables of a rank, by thread, then by name."""
        return self.get(rank).tables

    def forget(self, rank: int) -> None:
        """Remove a rank from the cache, because its threads have been made."""
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
    """Count the threads of each rank.

    Args:
        raw: Tables of the ranks.
        mine: Ranks that this member of the team reads.
        size: Number of ranks of the run.
        team: Processes that share the ranks; all must call this.

    Returns:
        Number of threads, int32 of shape (size,); 1 for ranks without a file. Then the problems of all ranks' rows.
    """
    threads, problems = np.ones(size, np.int32), list[Problem]()
    for part, part_problems in team.gather(lambda: _count(raw, mine)):
        threads[part[:, 0]] = part[:, 1]
        problems += part_problems
    return threads, problems


def _count(raw: RawRanks, mine: Sequence[int]) -> tuple[np.ndarray, list[Problem]]:
    """Read some ranks. Return (rank, number of threads), shape (ranks, 2), and the problems of their rows."""
    rows = [raw.get(rank) for rank in mine]
    threads = [(rank, max(of_rank.tables) + 1) for rank, of_rank in zip(mine, rows, strict=True)]
    return np.array(threads, np.int64).reshape(-1, 2), [problem for of_rank in rows for problem in of_rank.problems]
