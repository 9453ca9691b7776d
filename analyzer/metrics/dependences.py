"""What cannot have happened before what: a message's receipt before its send, leaving a collective before others enter.

Dependences come as groups of points. A *source* is the entry of a call that gives something, a *sink* the exit of one
that takes it; a sink depends on all sources of other ranks before it in its group.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import pairwise

import numpy as np

from analyzer.paraver import base_name
from analyzer.trace import Communicator, Trace

POINT = np.dtype([("time", "<i8"), ("rank", "<i4"), ("kind", "<i4")])
"""`kind`: SINK or not, and FIRST at the beginning of each group."""

SINK, FIRST = 1, 2

MOST_WAITING = 1 << 22
"""Calls that may wait for the other members of their communicators to make theirs; beyond, something is wrong."""


class Pattern(Enum):
    """Who depends on whom in a blocking collective; only where data flows, but for a barrier."""

    ALL = "all on all"
    FROM_ROOT = "all on the root"
    TO_ROOT = "the root on all"
    PREFIX = "each on those before it"


_PATTERNS = {
    Pattern.ALL: "Barrier Allreduce Allgather Allgatherv Alltoall Reduce_scatter Reduce_scatter_block",
    Pattern.FROM_ROOT: "Bcast Scatter Scatterv",
    Pattern.TO_ROOT: "Gather Gatherv Reduce",
    Pattern.PREFIX: "Scan Exscan",
}
PATTERN = {f"MPI_{name}": pattern for pattern, names in _PATTERNS.items() for name in names.split()}
"""The others (MPI_Alltoallv, neighbourhood collectives) do not say who sends to whom."""

_CALL = np.dtype(
    [
        ("comm", "<i4"),
        ("number", "<i8"),
        ("rank", "<i4"),
        ("call", "<i4"),
        ("root", "<i4"),
        ("enter", "<i8"),
        ("exit", "<i8"),
        ("gives", "?"),
        ("takes", "?"),
    ]
)
"""A member's call; `number` counts the blocking collectives of the rank on the communicator."""


def message_points(trace: Trace) -> Iterator[np.ndarray]:
    """POINT of all messages between different ranks, by windows: a source, then a sink."""
    for begin, end in pairwise(trace.windows().tolist()):
        rows = trace.messages(begin, end)
        rows = rows[rows["source"] != rows["destination"]]
        points = np.zeros((len(rows), 2), POINT)
        points["time"][:, 0], points["rank"][:, 0], points["kind"][:, 0] = rows["logical_send"], rows["source"], FIRST
        points["time"][:, 1], points["rank"][:, 1] = rows["physical_receive"], rows["destination"]
        points["kind"][:, 1] = SINK
        yield points.reshape(-1)


def collective_points(trace: Trace) -> Iterator[np.ndarray]:
    """POINT of the blocking collectives of intracommunicators, by windows.

    The n-th of a communicator is the n-th of each member. Where members' calls are not the same one, nothing is known
    about that communicator from there on.
    """
    join = _Join(trace)
    for begin, end in pairwise(trace.windows().tolist()):
        rows = [join.calls_of(rank, begin, end) for rank in range(trace.size)]
        yield join.points(np.concatenate([np.zeros(0, _CALL), *rows]))


class _Join:
    """Brings the calls of all members of a communicator together, over windows of time."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        names = [base_name(p) for p in trace.procedures]
        self._patterns = np.array([_ORDER.index(PATTERN[n]) if n in PATTERN else -1 for n in names], np.int32)
        self._barriers = np.array([n == "MPI_Barrier" for n in names], bool)
        self._counted = np.array([n in PATTERN or n in _PATTERNLESS for n in names], bool)
        self._sizes = np.array([_present(trace, c) for c in trace.communicators], np.int64)
        self._made: dict[tuple[int, int], int] = {}
        self._waiting = np.zeros(0, _CALL)
        self._broken: set[int] = set()

    def calls_of(self, rank: int, begin: int, end: int) -> np.ndarray:
        """_CALL of one rank in a window."""
        blocks = [np.zeros(0, _CALL)]
        for calls in self._trace.calls(rank, begin, end):
            calls = calls[self._counted[calls["call"]] & (calls["comm"] >= 0)]
            calls = calls[self._sizes[calls["comm"]] > 1]
            rows = np.zeros(len(calls), _CALL)
            for column in ("comm", "call", "enter", "exit"):
                rows[column] = calls[column]
            rows["rank"], rows["root"], rows["number"] = rank, calls["peer"], self._numbers(rank, calls["comm"])
            barrier = self._barriers[calls["call"]]
            rows["gives"], rows["takes"] = barrier | (calls["sent"] > 0), barrier | (calls["received"] > 0)
            blocks.append(rows)
        return np.concatenate(blocks)

    def _numbers(self, rank: int, comms: np.ndarray) -> np.ndarray:
        """The number of each call on its communicator."""
        numbers = np.zeros(len(comms), np.int64)
        for comm in np.unique(comms).tolist():
            mine = comms == comm
            first, count = self._made.get((rank, comm), 0), int(mine.sum())
            numbers[mine] = np.arange(first, first + count)
            self._made[rank, comm] = first + count
        return numbers

    def points(self, rows: np.ndarray) -> np.ndarray:
        """POINT of the collectives that all members have made now."""
        rows = np.concatenate([self._waiting, rows])
        rows = rows[~np.isin(rows["comm"], list(self._broken))]
        rows = rows[np.lexsort((rows["rank"], rows["number"], rows["comm"]))]
        group = np.cumsum(_changes(rows["comm"], rows["number"])) - 1
        count = np.bincount(group) if len(group) else np.zeros(0, np.int64)
        whole = (count == self._sizes[rows["comm"][_starts(group)]])[group] if len(group) else np.zeros(0, bool)
        self._waiting = rows[~whole]
        if len(self._waiting) > MOST_WAITING:
            self._broken.update(np.unique(self._waiting["comm"]).tolist())
            self._waiting = self._waiting[:0]
        rows, group = rows[whole], group[whole]
        known = self._same_call(rows, group)
        return self._in_groups(rows[known], group[known])

    def _same_call(self, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Which rows are before the first group of their communicator whose members' calls differ."""
        other = rows["call"] != rows["call"][np.searchsorted(group, group)]
        known = np.ones(len(rows), bool)
        for comm in np.unique(rows["comm"][other]).tolist():
            mine = rows["comm"] == comm
            known &= ~mine | (rows["number"] < rows["number"][other & mine].min())
            self._broken.add(comm)
        return known

    def _in_groups(self, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
        """The sources and sinks of each group, in the order in which sinks depend on sources."""
        pattern = self._patterns[rows["call"]]
        is_root = rows["rank"] == rows["root"]
        from_root, to_root, prefix = (pattern == _ORDER.index(p) for p in _ORDER[1:])
        known = (pattern >= 0) & ((rows["root"] >= 0) | ~(from_root | to_root))
        source = known & rows["gives"] & (~from_root | is_root) & (~to_root | ~is_root)
        sink = known & rows["takes"] & (~to_root | is_root) & (~from_root | ~is_root)
        place = np.where(prefix, self._positions(rows, prefix), 0)
        parts = []
        for chosen, kind, time in ((source, 0, "enter"), (sink, SINK, "exit")):
            part = np.zeros(int(chosen.sum()), POINT)
            part["time"], part["rank"], part["kind"] = rows[time][chosen], rows["rank"][chosen], kind
            parts.append(part)
        points = np.concatenate(parts)
        groups, places = (np.concatenate([x[source], x[sink]]) for x in (group, place))
        order = np.lexsort((points["kind"], places, groups))
        points, groups = points[order], groups[order]
        points["kind"][_starts(groups)] |= FIRST
        return points

    def _positions(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Rank in the communicator of the wanted rows; 0 of the others."""
        positions = np.zeros(len(rows), np.int64)
        for comm in np.unique(rows["comm"][wanted]).tolist():
            members = np.array(self._trace.communicators[comm].members)
            mine = wanted & (rows["comm"] == comm)
            order = np.argsort(members)
            positions[mine] = order[np.searchsorted(members[order], rows["rank"][mine])]
        return positions


_ORDER = list(Pattern)
_PATTERNLESS = frozenset(
    f"MPI_{name}"
    for name in [
        "Alltoallv",
        "Alltoallw",
        "Neighbor_allgather",
        "Neighbor_allgatherv",
        "Neighbor_alltoall",
        "Neighbor_alltoallv",
        "Neighbor_alltoallw",
    ]
)


def _present(trace: Trace, communicator: Communicator) -> int:
    """How many members make calls that we can see; 0: not to be joined."""
    return 0 if communicator.remote else len(set(communicator.members) - set(trace.missing))


def _changes(*columns: np.ndarray) -> np.ndarray:
    """Where a row differs from the one before it; the first does."""
    differs = np.ones(len(columns[0]), bool)
    differs[1:] = False
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return differs


def _starts(group: np.ndarray) -> np.ndarray:
    """Positions at which groups begin."""
    return np.flatnonzero(_changes(group))
