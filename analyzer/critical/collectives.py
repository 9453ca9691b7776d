"""Dependences by collective operations: who waits for whom follows from what the operation does."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from analyzer.critical.dependences import Dependences
from analyzer.critical.timeline import Timeline
from analyzer.metrics.collective_calls import PATTERN, PATTERNS, Pattern, collectives, positions, starts
from analyzer.metrics.nonblocking_collectives import PROBABLY_ALL, blocking_name, nonblocking_collectives
from analyzer.paraver import base_name
from analyzer.trace import Trace

_ALL, _FROM_ROOT, _TO_ROOT, _PREFIX = (
    PATTERNS.index(p) for p in (Pattern.ALL, Pattern.FROM_ROOT, Pattern.TO_ROOT, Pattern.PREFIX)
)


def add_collectives(found: Dependences, trace: Trace, nodes: Timeline) -> None:
    """Add those of blocking and nonblocking collectives, MPI_Init and MPI_Finalize."""
    groups = _Groups(found, trace, nodes)
    for rows, group in collectives(trace):
        groups.add(rows, group)
    groups.add(*nonblocking_collectives(trace))
    for names in (("MPI_Init", "MPI_Init_thread"), ("MPI_Finalize",)):
        groups.add_all_ranks(names)


@dataclass(frozen=True)
class _Members:
    """Members of collectives, those of one together; all arrays are of the shape (members,)."""

    rows: np.ndarray  # MEMBER_CALL
    group: np.ndarray  # number of the collective, ascending
    gives: np.ndarray  # bool
    takes: np.ndarray  # bool
    entered: np.ndarray  # node
    left: np.ndarray  # node, of the call that completed it; -1: none

    def take(self, chosen: np.ndarray) -> _Members:
        """Some of them, in this order."""
        return _Members(*(getattr(self, field.name)[chosen] for field in fields(self)))


class _Groups:
    """Collectives whose members' calls are known."""

    def __init__(self, found: Dependences, trace: Trace, nodes: Timeline) -> None:
        self._found, self._trace, self._nodes = found, trace, nodes
        names = [base_name(p) for p in trace.procedures]
        blocking = [blocking_name(n) for n in names]
        self._probably = np.array([n in PROBABLY_ALL for n in blocking], bool)
        known = [PATTERNS.index(PATTERN[n]) if n in PATTERN else -1 for n in blocking]
        known = [_ALL if probably else pattern for pattern, probably in zip(known, self._probably, strict=True)]
        self._patterns = np.array([min(k, _ALL) for k in known] if trace.predicted else known, np.int32)

    def add(self, rows: np.ndarray, group: np.ndarray) -> None:
        """Collectives as their members' calls (MEMBER_CALL) and the number of the collective, ascending."""
        if not len(rows):
            return
        pattern = self._patterns[rows["call"]]
        is_root = rows["rank"] == rows["root"]
        rooted = (pattern == _FROM_ROOT) | (pattern == _TO_ROOT)
        known = (pattern >= 0) & ((rows["root"] >= 0) | ~rooted)
        all_give = self._trace.predicted
        gives = known & (rows["gives"] | all_give) & ~((pattern == _FROM_ROOT) & ~is_root)
        gives &= ~((pattern == _TO_ROOT) & is_root)
        takes = known & (rows["takes"] | all_give) & ~((pattern == _FROM_ROOT) & is_root)
        takes &= ~((pattern == _TO_ROOT) & ~is_root)
        entered = self._nodes.entered(rows["rank"], rows["thread"], rows["enter"])
        left = self._nodes.left(rows["rank"], rows["thread"], rows["exit"])
        left = np.where(rows["exit"] > 0, left, -1)
        chosen = pattern == _PREFIX
        members = _Members(rows, group, gives, takes, entered, left)
        self._join(members.take(np.flatnonzero(~chosen)))
        self._chain(members.take(np.flatnonzero(chosen)))

    def _join(self, m: _Members) -> None:
        """One join of all who give, for all who take."""
        if not len(m.group):
            return
        first = starts(m.group)
        number = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(m.group))))
        given = np.where(m.gives, m.rows["enter"], np.iinfo(np.int64).min)
        early = m.takes & (m.rows["exit"] < np.maximum.reduceat(given, first)[number])
        self._found.contradictions += int((early & (m.left >= 0) & ~self._probably[m.rows["call"]]).sum())
        joins = self._found.new_joins(len(first))[number]
        self._found.add(np.where(m.gives, joins, -1), m.entered)
        self._found.add(np.where(m.takes & ~early, m.left, -1), joins)

    def _chain(self, m: _Members) -> None:
        """A join of each member and those before it, for the next."""
        m = m.take(np.lexsort((positions(self._trace, m.rows), m.group)))
        joins = self._found.new_joins(len(m.group))
        before = np.append(-1, joins[:-1])[: len(joins)]
        before[starts(m.group)] = -1
        self._found.add(joins, before)
        self._found.add(np.where(m.gives, joins, -1), m.entered)
        self._found.add(np.where(m.takes, m.left, -1), before)

    def add_all_ranks(self, names: tuple[str, ...]) -> None:
        """What every rank calls once, if none left it before the last entered it."""
        numbers = [k for k, name in enumerate(self._trace.procedures) if base_name(name) in names]
        calls = np.flatnonzero(np.isin(self._nodes.call, numbers)) if numbers else np.zeros(0, np.int64)
        present = self._trace.size - len(self._trace.missing)
        if len(calls) != present or present < 2:
            return
        if self._nodes.exit[calls].min() < self._nodes.enter[calls].max():
            return
        join = np.repeat(self._found.new_joins(1), len(calls))
        self._found.add(join, calls)
        self._found.add(calls, join)
