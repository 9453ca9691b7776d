"""What the lines of a timeline stand for: a rank each, or, of many ranks, groups that behave alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.metrics.clusters import Column, groups_of
from analyzer.metrics.profile import Profile
from analyzer.metrics.useful import Useful
from analyzer.trace import Losses, Trace
from analyzer.trace.description import ranks_text
from analyzer.waits.waits import Waits

MOST_RANKS = 128
"""Of more ranks, lines are groups."""
_LONGEST = 24


@dataclass(frozen=True)
class Lines:
    """A line for each of `names`."""

    names: tuple[str, ...]
    of_rank: np.ndarray  # int64 (ranks,): the line that each rank is in; -1: in none
    threads: np.ndarray  # int64 (lines,): of all ranks of a line
    typical: np.ndarray  # int64 (lines,): a rank that stands for each line

    @property
    def grouped(self) -> bool:
        """Whether some lines stand for several ranks."""
        return bool(np.bincount(self.of_rank[self.of_rank >= 0]).max(initial=0) > 1)


def lines_of(trace: Trace, calls: Profile, computed: Useful, waited: Waits) -> Lines:
    """A line for each rank that could be read; above MOST_RANKS one for each group of ranks that behave alike by
    computing, time in MPI and waiting, and one for each rank that is in none."""
    present = np.setdiff1d(np.arange(trace.size), trace.extra(Losses).missing)
    if len(present) <= MOST_RANKS:
        return _lines(trace, [(str(rank), np.array([rank]), rank) for rank in present.tolist()])
    sums = computed.by_rank(), calls.mpi_ns(), waited.time_ns.sum(axis=1)
    return groups(trace, present, *(of_rank[present] for of_rank in sums))


def groups(trace: Trace, present: np.ndarray, computing: np.ndarray, in_mpi: np.ndarray, waiting: np.ndarray) -> Lines:
    """The same of any number of ranks (`present`), by the ns that each of them has of these."""
    columns = Column("computing", computing), Column("in MPI", in_mpi), Column("waiting", waiting)
    found = groups_of(present, columns)
    members = [(_named(group.ranks), group.ranks, group.typical) for group in found.groups]
    alone = sorted(one.rank for one in found.outliers)
    return _lines(trace, [*members, *((str(rank), np.array([rank]), rank) for rank in alone)])


def _named(ranks: np.ndarray) -> str:
    text = ranks_text(ranks.tolist())
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 3].rpartition(",")[0] + ",..."
    return f"{text} ({len(ranks)})"


def _lines(trace: Trace, members: list[tuple[str, np.ndarray, int]]) -> Lines:
    of_rank = np.full(trace.size, -1, np.int64)
    for line, (_, ranks, _) in enumerate(members):
        of_rank[ranks] = line
    threads = [int(np.asarray(trace.threads)[ranks].sum()) for _, ranks, _ in members]
    names = tuple(name for name, _, _ in members)
    return Lines(names, of_rank, np.array(threads, np.int64), np.array([one for *_, one in members], np.int64))
