"""Dependences by collective operations: the operation determines which members wait for which.

Neighbourhood collectives: the neighbours are not recorded, but times exclude members that cannot be neighbours.
Nonblocking and persistent collectives are begun by one call and completed by another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields

import numpy as np

from analyzer.critical.dependences import Dependences
from analyzer.critical.thread_nodes import NOTED, NodeTimeline
from analyzer.pairing.collective_calls import PATTERN, PATTERNS, CollectiveCalls, Pattern, positions, starts
from analyzer.pairing.nonblocking_collectives import PROBABLY_ALL, complete
from analyzer.pairing.parts import RankRows, parts
from analyzer.trace import REQUEST, Losses, Trace
from tracelib.schema import RequestKind
from tracelib.schema.procedures import (
    BLOCKING_COLLECTIVES,
    FENCES,
    FINALIZE,
    INIT,
    NEIGHBOURHOOD,
    NONBLOCKING_COLLECTIVES,
    PERSISTENT_COLLECTIVES,
    WINDOWS_MADE,
    base_name,
    base_procedure,
)

MOST_PAIRS = 32
"""Largest mean number of possible neighbours of a member for which pairs are used. Above it, all wait for all."""

_COMPARED = 1 << 24


def possible_pairs(enter: np.ndarray, exit_: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Find the pairs of members of a communicator in which the first may take data from the second.

    If a member ever left a collective before another one had entered it, the other is no neighbour that it takes data
    from.

    Args:
        enter: Times of entry in ns, int64 of shape (collectives, members), of one communicator.
        exit_: Times of exit in ns, same shape; 0: not known.

    Returns:
        Index of the taking and of the giving member of each pair. None: more than MOST_PAIRS (32) pairs for each
        member.
    """
    members = enter.shape[1]
    possible = ~np.eye(members, dtype=bool)
    step = max(_COMPARED // members**2, 1)
    for first in range(0, len(enter), step):
        chosen = slice(first, first + step)
        left = np.where(exit_[chosen] > 0, exit_[chosen], np.iinfo(np.int64).max)
        possible &= ~(left[:, :, None] < enter[chosen][:, None, :]).any(axis=0)
    if possible.sum() > MOST_PAIRS * members:
        return None
    taking, giving = np.nonzero(possible)
    return taking, giving


_KNOWN = frozenset((*PATTERN, *PROBABLY_ALL, *NEIGHBOURHOOD))
_WHAT = (RequestKind.COLLECTIVE_STARTED, RequestKind.COLLECTIVE_DONE)


def started_collectives(trace: Trace, nodes: NodeTimeline) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the nonblocking collectives of a run, then the persistent collectives of each procedure.

    The n-th start of a persistent collective by one member belongs to the n-th start by each other member, whatever
    they start in between.

    Yields:
        Calls of the members (MEMBER_CALL), and the number of the collective of each row, ascending.
    """
    names = [base_name(p) for p in trace.procedures]
    nonblocking = np.array([n in NONBLOCKING_COLLECTIVES and base_procedure(n) in _KNOWN for n in names], bool)
    persistent = [k for k, n in enumerate(names) if n in PERSISTENT_COLLECTIVES and base_procedure(n) in _KNOWN]
    if not nonblocking.any() and not persistent:
        return
    begun = nodes.noted.compress(nonblocking[nodes.noted["call"]] & (nodes.noted["comm"] >= 0))
    begun = begun.take(np.argsort(begun["rank"], kind="stable"))
    requests = _requests(trace)
    done = requests.where(requests.rows["what"] == RequestKind.COLLECTIVE_DONE)
    yield _joined(CollectiveCalls(trace, begins=True), begun, done)
    for call in persistent:
        yield _joined(CollectiveCalls(trace, made_by=call), _starts(requests, call), done)


def _requests(trace: Trace) -> RankRows:
    """Read the requests (REQUEST) of collectives of all ranks."""
    found = [
        part.requests.where(np.isin(part.requests.rows["what"], _WHAT)) for part in parts(trace, range(trace.size))
    ]
    return RankRows.joined(found, REQUEST)


def _starts(requests: RankRows, call: int) -> np.ndarray:
    """Return the starts of persistent operations that a procedure made, as calls (NOTED)."""
    every = requests.rows
    wanted = (every["what"] == RequestKind.COLLECTIVE_STARTED) & (every["tag"] == call) & (every["comm"] >= 0)
    rank, started = requests.where(wanted)
    rows = np.zeros(len(started), NOTED)
    for column, of_request in (("enter", "posted"), ("sent", "bytes"), ("received", "bytes")):
        rows[column] = started[of_request]
    for column in ("comm", "peer", "thread"):
        rows[column] = started[column]
    rows["call"], rows["rank"] = call, rank
    return rows


def _joined(join: CollectiveCalls, begun: np.ndarray, done: RankRows) -> tuple[np.ndarray, np.ndarray]:
    """Match the calls (NOTED) with which ranks began collectives, and set the times of completion."""
    members = join.members(RankRows(begun["rank"].astype(np.int64), begun))
    complete(members, done)
    return join.groups(members)


_ALL, _FROM_ROOT, _TO_ROOT, _PREFIX = (
    PATTERNS.index(p) for p in (Pattern.ALL, Pattern.FROM_ROOT, Pattern.TO_ROOT, Pattern.PREFIX)
)


_BLOCKING = BLOCKING_COLLECTIVES | WINDOWS_MADE | FENCES
WHOLE_CALLS = _BLOCKING | NONBLOCKING_COLLECTIVES
"""Procedures whose calls `add_collectives` needs with all columns (NodeTimeline.noted)."""


def add_collectives(found: Dependences, trace: Trace, nodes: NodeTimeline) -> None:
    """Add the dependences by blocking, nonblocking and persistent collectives, MPI_Init and MPI_Finalize."""
    groups = CollectiveGroups(found, trace, nodes)
    blocking = np.array([base_name(p) in _BLOCKING - FENCES for p in trace.procedures], bool)
    groups.add(*joined(trace, nodes.noted.compress(blocking[nodes.noted["call"]])))
    for rows, group in started_collectives(trace, nodes):
        groups.add(rows, group)
    for names in (INIT, FINALIZE):
        groups.add_all_ranks(names)


def joined(trace: Trace, calls: np.ndarray, join: CollectiveCalls | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Match the calls of the members of each collective.

    Args:
        trace: The trace.
        calls: The calls (NOTED).
        join: The matcher. None: a matcher of blocking collectives.

    Returns:
        The calls as MEMBER_CALL, and the number of the collective of each row, ascending.
    """
    join = join or CollectiveCalls(trace)
    calls = calls.compress(calls["comm"] >= 0)
    calls = calls.take(np.argsort(calls["rank"], kind="stable"))
    return join.groups(join.members(RankRows(calls["rank"].astype(np.int64), calls)))


@dataclass(frozen=True)
class _Members:
    """Members of collectives, sorted by collective. All arrays have shape (members,)."""

    rows: np.ndarray  # MEMBER_CALL
    group: np.ndarray  # number of the collective, ascending
    gives: np.ndarray  # bool
    takes: np.ndarray  # bool
    entered: np.ndarray  # node
    left: np.ndarray  # node of the call that completed the collective; -1: none

    def take(self, chosen: np.ndarray) -> _Members:
        """Select members by index, in this order."""
        return _Members(*(getattr(self, field.name)[chosen] for field in fields(self)))


class CollectiveGroups:
    """Builder of the dependences by collectives whose members' calls are known."""

    def __init__(self, found: Dependences, trace: Trace, nodes: NodeTimeline) -> None:
        self._found, self._trace, self._nodes = found, trace, nodes
        blocking = [base_procedure(p) for p in trace.procedures]
        self._together = np.array([n in WINDOWS_MADE | FENCES for n in blocking], bool)
        self._near = np.array([n in NEIGHBOURHOOD for n in blocking], bool)
        self._probably = np.array([n in PROBABLY_ALL for n in blocking], bool) | self._together | self._near
        known = [PATTERNS.index(PATTERN[n]) if n in PATTERN else -1 for n in blocking]
        known = [_ALL if probably else pattern for pattern, probably in zip(known, self._probably, strict=True)]
        self._patterns = np.array([min(k, _ALL) for k in known] if trace.origin.predicted else known, np.int32)

    def add(self, rows: np.ndarray, group: np.ndarray) -> None:
        """Add the dependences of collectives.

        Args:
            rows: Calls of the members (MEMBER_CALL).
            group: Number of the collective of each row, ascending.
        """
        if not len(rows):
            return
        pattern = self._patterns[rows["call"]]
        is_root = rows["rank"] == rows["root"]
        rooted = (pattern == _FROM_ROOT) | (pattern == _TO_ROOT)
        known = (pattern >= 0) & ((rows["root"] >= 0) | ~rooted)
        all_give = self._together[rows["call"]] | self._trace.origin.predicted
        gives = known & (rows["gives"] | all_give) & ~((pattern == _FROM_ROOT) & ~is_root)
        gives &= ~((pattern == _TO_ROOT) & is_root)
        takes = known & (rows["takes"] | all_give) & ~((pattern == _FROM_ROOT) & is_root)
        takes &= ~((pattern == _TO_ROOT) & ~is_root)
        entered = self._nodes.entered(rows["rank"], rows["thread"], rows["enter"])
        left = self._nodes.left(rows["rank"], rows["thread"], rows["exit"])
        left = np.where(rows["exit"] > 0, left, -1)
        chain, near = pattern == _PREFIX, self._near[rows["call"]] & ~np.bool_(self._trace.origin.predicted)
        members = _Members(rows, group, gives, takes, entered, left)
        self._join(members.take(np.flatnonzero(~chain & ~near)))
        self._chain(members.take(np.flatnonzero(chain)))
        for comm in np.unique(rows["comm"][near]).tolist():
            self._meet(members.take(np.flatnonzero(near & (rows["comm"] == comm))))

    def _join(self, m: _Members) -> None:
        """Add one join for each collective: it needs all members that give, and all members that take need it.

        A member that left before the last giver entered (as in an Alltoallv, or if clocks contradict each other) waited
        only for the givers that had entered.
        """
        if not len(m.group):
            return
        first = starts(m.group)
        number = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(m.group))))
        given = np.where(m.gives, m.rows["enter"], np.iinfo(np.int64).min)
        early = m.takes & (m.rows["exit"] < np.maximum.reduceat(given, first)[number])
        self._found.contradictions += int((early & (m.left >= 0) & ~self._probably[m.rows["call"]]).sum())
        some = early & ~self._together[m.rows["call"]]
        if some.any():
            self._wait_for_present(m, number, some)
        joins = self._found.new_joins(len(first))[number]
        self._found.add(np.where(m.gives, joins, -1), m.entered)
        self._found.add(np.where(m.takes & ~early, m.left, -1), joins)

    def _wait_for_present(self, m: _Members, number: np.ndarray, some: np.ndarray) -> None:
        """Make some members (bool) wait for the givers that entered before they left.

        `number` is the collective of each member. Each giver has a join with all givers before it, for the members that
        left between this giver and the next.
        """
        givers = np.flatnonzero(m.gives & np.isin(number, number[some]))
        givers = givers[np.lexsort((m.rows["enter"][givers], number[givers]))]
        joins, of_join = self._found.new_joins(len(givers)), number[givers]
        before = np.append(-1, joins[:-1])[: len(joins)]
        before[starts(of_join)] = -1
        self._found.add(joins, before)
        self._found.add(joins, m.entered[givers])
        leaving = np.flatnonzero(some)
        time = np.concatenate([m.rows["enter"][givers], m.rows["exit"][leaving]])
        of = np.concatenate([of_join, number[leaving]])
        leaves = np.arange(len(time)) >= len(givers)
        order = np.lexsort((leaves, time, of))
        last = np.maximum.accumulate(np.where(leaves[order], -1, order))  # the givers are in this very order
        there = leaves[order] & (last >= 0) & (of[order] == of_join[last.clip(min=0)])
        self._found.add(m.left[leaving[order[there] - len(givers)]], joins[last[there]])

    def _meet(self, m: _Members) -> None:
        """Make each member wait for its possible neighbours, or for all members if too many are possible."""
        m = m.take(np.lexsort((m.rows["rank"], m.group)))
        shape = (-1, int(np.searchsorted(m.group, m.group[0], "right")))
        pairs = possible_pairs(m.rows["enter"].reshape(shape), m.rows["exit"].reshape(shape))
        if pairs is None:
            self._join(m)
            return
        taking, giving = pairs
        flows = m.takes.reshape(shape)[:, taking] & m.gives.reshape(shape)[:, giving]
        entered = np.where(flows, m.entered.reshape(shape)[:, giving], -1)
        self._found.add(m.left.reshape(shape)[:, taking].ravel(), entered.ravel())

    def _chain(self, m: _Members) -> None:
        """Make each member wait for all members of lower rank in the communicator: a chain of joins."""
        m = m.take(np.lexsort((positions(self._trace, m.rows), m.group)))
        joins = self._found.new_joins(len(m.group))
        before = np.append(-1, joins[:-1])[: len(joins)]
        before[starts(m.group)] = -1
        self._found.add(joins, before)
        self._found.add(np.where(m.gives, joins, -1), m.entered)
        self._found.add(np.where(m.takes, m.left, -1), before)

    def add_all_ranks(self, names: Collection[str]) -> None:
        """Add a join of all ranks for procedures that each rank calls once.

        None is added if a rank left before the last entered.
        """
        numbers = [k for k, name in enumerate(self._trace.procedures) if base_name(name) in names]
        pieces = self._nodes.pieces() if numbers else ()
        parts = [first + np.flatnonzero(np.isin(rows["call"], numbers)) for first, rows in pieces]
        calls = np.concatenate([np.zeros(0, np.int64), *parts])
        present = self._trace.size - len(self._trace.extra(Losses).missing)
        if len(calls) != present or present < 2:
            return
        if self._nodes.exit[calls].min() < self._nodes.enter[calls].max():
            return
        join = np.repeat(self._found.new_joins(1), len(calls))
        self._found.add(join, calls)
        self._found.add(calls, join)
