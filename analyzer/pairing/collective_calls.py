"""Matching of the calls of different ranks that are one collective.

The n-th collective of a communicator consists of the n-th calls of its members. Collectives that a rank made while it
recorded nothing are counted. A collective that a member did not record is not matched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import distinct, joined
from analyzer.columns.spill import Spill
from analyzer.pairing.parts import RankRows, window_of
from analyzer.parallel import Team
from analyzer.trace import Communicator, Losses, Trace
from tracelib.schema import Peer
from tracelib.schema.procedures import BARRIERS, BLOCKING_COLLECTIVES, PERSISTENT_BARRIERS, base_name, value_of


def each_way(trace: Trace, rows: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split each collective of an intercommunicator into two: one for each direction between its groups.

    In each of the two, members of one group give and members of the other group take. So no rank waits for its own
    group. A rank that neither gives nor takes (MPI_PROC_NULL as root) is in neither.

    Args:
        trace: The trace.
        rows: Calls of members (MEMBER_CALL).
        group: Number of the collective of each row, ascending.

    Returns:
        The calls (MEMBER_CALL), and the new number of the collective of each row, ascending.
    """
    across = np.array([bool(c.remote) for c in trace.communicators], bool)[rows["comm"]]
    if not across.any():
        return rows, group
    parts, numbers = [rows[~across]], [2 * group[~across]]
    rows, group = rows[across], group[across]
    is_remote = _is_remote(trace, rows)
    for way, gives_here in enumerate((~is_remote, is_remote)):
        one_way = rows.copy()
        one_way["gives"] &= gives_here
        one_way["takes"] &= ~gives_here
        taking_part = one_way["gives"] | one_way["takes"]
        parts.append(one_way[taking_part])
        numbers.append(2 * group[taking_part] + way)
    found, number = np.concatenate(parts), np.concatenate(numbers)
    order = np.argsort(number, kind="stable")
    return found[order], number[order]


def _is_remote(trace: Trace, rows: np.ndarray) -> np.ndarray:
    """Return a mask of the rows whose rank is in the remote group of its communicator."""
    found = np.zeros(len(rows), bool)
    for comm in distinct(rows["comm"]).tolist():
        mine = rows["comm"] == comm
        found[mine] = np.isin(rows["rank"][mine], trace.communicators[comm].remote)
    return found


MOST_WAITING = 1 << 22
"""Largest number of calls that may be kept until the calls of other members are read.

More mean that something is wrong.
"""


class Pattern(Enum):
    """Dependences in a blocking collective: ranks depend on each other where data flows, and in a barrier."""

    ALL = "all on all"
    FROM_ROOT = "all on the root"
    TO_ROOT = "the root on all"
    PREFIX = "each on those before it"


PATTERN = {
    name: Pattern[value]
    for name in sorted(BLOCKING_COLLECTIVES)
    if (value := value_of("dependence", name)) in Pattern.__members__
}
"""Pattern of each procedure whose dependences are known.

Other collectives (MPI_Alltoallv, neighbourhood collectives) do not say who sends to whom.
"""

PATTERNS = tuple(Pattern)
"""All patterns. The number of a pattern is its index here."""


def pattern_numbers(trace: Trace) -> np.ndarray:
    """Return the index in PATTERNS of each procedure of a trace (int32); -1: no known pattern."""
    names = [base_name(p) for p in trace.procedures]
    return np.array([PATTERNS.index(PATTERN[n]) if n in PATTERN else -1 for n in names], np.int32)


ANY_PROCEDURE = -2
"""Value of `made_by` for persistent collectives made by any procedure."""

MEMBER_CALL = np.dtype(
    [
        ("comm", "<i4"),
        ("number", "<i8"),
        ("rank", "<i4"),
        ("thread", "<i4"),
        ("call", "<i4"),
        ("root", "<i4"),
        ("enter", "<i8"),
        ("exit", "<i8"),
        ("gives", "?"),
        ("takes", "?"),
    ]
)
"""Call of a collective by a member.

`number` counts the collectives of this kind of the rank on the communicator, from 0.

`gives`, `takes`: the member hands over data, takes data. `root`: world rank. Times are in ns.
"""


def collectives(trace: Trace, team: Team | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the blocking collectives, window by window.

    If the procedures of the members of a collective differ, this collective and all later ones of the communicator are
    left out.

    Args:
        trace: The trace.
        team: Members that share the collectives: each member gets some. None: this process gets all.

    Yields:
        Calls of all members (MEMBER_CALL), and the number (within the window) of the collective of each row, ascending.
    """
    yield from CollectiveCalls(trace, team or Team()).by_windows()


class CollectiveCalls:
    """Matcher of the calls of all members of a communicator, window by window.

    Args:
        trace: The trace.
        team: Members that share the work. None: this process alone.
        begins: True: match nonblocking collectives. False: match blocking ones.
        made_by: Match persistent collectives made by this procedure (index in Trace.procedures), or by any procedure
            (ANY_PROCEDURE). None: do not.
    """

    def __init__(
        self, trace: Trace, team: Team | None = None, *, begins: bool = False, made_by: int | None = None
    ) -> None:
        self._trace, self._team = trace, team or Team()
        self._missed = _Missed(trace, begins, made_by)
        names = [base_name(p) for p in trace.procedures]
        self._barriers = np.array([n in BARRIERS | PERSISTENT_BARRIERS for n in names], bool)
        self._counted = np.array([n in BLOCKING_COLLECTIVES for n in names], bool)
        self._sizes = sizes(trace, trace.communicators)
        self._made: dict[int, int] = {}  # by rank * communicators + communicator
        self._waiting = np.zeros(0, MEMBER_CALL)
        self._limits = np.zeros(0, np.int64)  # by communicator: number of the first collective that is not known

    def by_windows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the collectives, window by window, in the form of `collectives`."""
        windows, spill = self._trace.windows(), Spill(MEMBER_CALL)
        for ranks, bounds in self._trace.parts(self._trace.share(self._team), self._trace.sizes.part_calls):
            for begin, end in pairwise(bounds.tolist()):
                rows = self.calls_of(ranks, begin, end)
                spill.append_each(window_of(windows, rows["enter"]), rows)
        for window in range(len(windows) - 1):
            yield self.groups(self._shared(spill.read(window)))
        spill.close()

    def _shared(self, rows: np.ndarray) -> np.ndarray:
        """Exchange rows so that this member has all rows of its collectives: in a team of n, every n-th collective."""
        if self._team.size == 1:
            return rows
        of_member = rows["number"] % self._team.size
        parts = [rows.compress(of_member == member) for member in range(self._team.size)]
        return joined(self._team.alltoall(parts), MEMBER_CALL)

    def calls_of(self, ranks: range, begin: int, end: int) -> np.ndarray:
        """Return the calls of collectives (MEMBER_CALL) that some ranks enter in [begin, end) ns."""
        every = self._calls(ranks, begin, end)
        return self.members(every.where(every.rows["comm"] >= 0))

    def _calls(self, ranks: range, begin: int, end: int) -> RankRows:
        """Return the calls (CALL) that count. `comm` is the key by which they are matched."""
        every = RankRows.of(ranks, *self._trace.rank_calls(ranks, begin, end))
        return every.where(self._counted[every.rows["call"]])

    def members(self, every: RankRows) -> np.ndarray:
        """Convert the calls (CALL) of some ranks to MEMBER_CALL, in order.

        Calls on communicators with one rank are left out.
        """
        rank, calls = every.where(self._sizes[every.rows["comm"]] > 1)
        rows = np.zeros(len(calls), MEMBER_CALL)
        for column in ("comm", "call", "enter", "exit", "thread"):
            rows[column] = calls[column]
        rows["rank"], rows["number"] = rank, self._numbers(rank, calls)
        rows["root"] = np.where(calls["peer"] == Peer.ROOT, rank, calls["peer"])
        barrier = self._barriers[calls["call"]]
        rows["gives"], rows["takes"] = barrier | (calls["sent"] > 0), barrier | (calls["received"] > 0)
        return rows

    def _numbers(self, rank: np.ndarray, calls: np.ndarray) -> np.ndarray:
        """Return the number of each call among the calls of its rank on its communicator.

        Calls of a rank are in order.
        """
        key = rank * len(self._sizes) + calls["comm"]
        order = np.argsort(key, kind="stable")
        keys, first, count = np.unique(key[order], return_index=True, return_counts=True)
        before = np.array([self._made.get(one, 0) for one in keys.tolist()], np.int64)
        numbers = np.empty(len(calls), np.int64)
        numbers[order] = np.arange(len(calls)) - np.repeat(first - before, count)
        self._made.update(zip(keys.tolist(), (before + count).tolist(), strict=True))
        for one in self._missed.who(keys // len(self._sizes)):
            of_rank = rank == one
            for comm in distinct(calls["comm"][of_rank]).tolist():
                mine = of_rank & (calls["comm"] == comm)
                numbers[mine] += self._missed.before(one, comm, calls["enter"][mine])
        return numbers

    def groups(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Match calls with all earlier ones, and return the collectives that all members have made by now.

        Collectives of intercommunicators are split by `each_way`.

        Args:
            rows: The next calls (MEMBER_CALL).

        Returns:
            Calls of the members (MEMBER_CALL), and the number of the collective of each row, ascending.
        """
        rows = joined([self._waiting, rows], MEMBER_CALL)
        rows = rows.compress(self._is_known(rows))
        rows = rows.take(np.lexsort((rows["rank"], rows["number"], rows["comm"])))
        group = np.cumsum(_changes(rows["comm"], rows["number"])) - 1
        count = np.bincount(group) if len(group) else np.zeros(0, np.int64)
        whole = (count == self._sizes[rows["comm"][starts(group)]])[group] if len(group) else np.zeros(0, bool)
        self._waiting = rows.compress(~whole & ~self._is_past(rows, whole))
        rows, group = rows.compress(whole), group[whole]
        self._find_broken(rows, group)
        known = self._is_known(rows)
        return self._each_way(rows.compress(known), group[known])

    def _each_way(self, rows: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split the collectives of intercommunicators."""
        return each_way(self._trace, rows, group)

    def _is_past(self, rows: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """Return a mask of the rows whose collective cannot be complete any more, since a later one already is."""
        latest = np.full(len(self._sizes), -1)
        np.maximum.at(latest, rows["comm"][whole], rows["number"][whole])
        return rows["number"] < latest[rows["comm"]]

    def _find_broken(self, rows: np.ndarray, group: np.ndarray) -> None:
        """Find communicators whose members' calls differ, or with too many incomplete collectives; limit them."""
        other = rows.compress(rows["call"] != rows["call"][np.searchsorted(group, group)])
        parts = self._team.allgather((other[["comm", "number"]], len(self._waiting)))
        for broken, _ in parts:
            self._limit(broken["comm"], broken["number"])
        if sum(waiting for _, waiting in parts) > MOST_WAITING:
            for comms in self._team.allgather(distinct(self._waiting["comm"])):
                self._limit(comms, np.zeros(len(comms), np.int64))
            self._waiting = self._waiting[:0]

    def _limit(self, comms: np.ndarray, numbers: np.ndarray) -> None:
        if len(comms) and not len(self._limits):
            self._limits = np.full(len(self._sizes), np.iinfo(np.int64).max)
        np.minimum.at(self._limits, comms, numbers)

    def _is_known(self, rows: np.ndarray) -> np.ndarray:
        """Return a mask of the rows before the first collective of their communicator that is not known."""
        if not len(self._limits):
            return np.ones(len(rows), bool)
        return rows["number"] < self._limits[rows["comm"]]


class _Missed:
    """Collectives of one kind that ranks made while they recorded nothing."""

    def __init__(self, trace: Trace, begins: bool, made_by: int | None) -> None:
        self._trace, self._begins, self._made_by = trace, begins, made_by
        self._ranks: dict[int, np.ndarray] = {}

    def who(self, ranks: np.ndarray) -> list[int]:
        """Return the ranks that missed any collective of this kind."""
        return [rank for rank in distinct(ranks).tolist() if len(self._of(rank))]

    def before(self, rank: int, comm: int, times: np.ndarray) -> np.ndarray | int:
        """Return how many collectives a rank had missed on a communicator before each time (ns)."""
        rows = self._of(rank)
        rows = rows[rows["comm"] == comm] if len(rows) else rows
        if not len(rows):
            return 0
        return np.append(0, np.cumsum(rows["count"]))[np.searchsorted(rows["time"], times)]

    def _of(self, rank: int) -> np.ndarray:
        if rank not in self._ranks:
            rows = self._trace.extra(Losses).missed_collectives(rank)
            if self._made_by is None:
                wanted = (rows["begins"] == self._begins) & (rows["call"] < 0)
            else:
                wanted = (rows["call"] >= 0) & ((rows["call"] == self._made_by) | (self._made_by == ANY_PROCEDURE))
            self._ranks[rank] = rows[wanted]
        return self._ranks[rank]


def sizes(trace: Trace, communicators: Iterable[Communicator | None]) -> np.ndarray:
    """Return the number of members of each communicator whose calls the trace has, int64; 0: do not match it.

    None in place of a communicator gives 0.
    """
    missing = frozenset(trace.extra(Losses).missing)
    return np.array([_present(trace, c, missing) if c else 0 for c in communicators], np.int64)


def _present(trace: Trace, communicator: Communicator, missing: frozenset[int]) -> int:
    if communicator.remote and trace.origin.predicted:
        return 0  # no rank waits in them in the simulator
    return len({*communicator.members, *communicator.remote} - missing)


def calls_by_communicator(trace: Trace, rank: int, chosen: np.ndarray) -> Counter[int]:
    """Count the calls of a rank by index of the communicator.

    `chosen`: bool for each procedure, True if its calls count. A Counter, because with thousands of ranks there are far
    more communicators than one rank uses.
    """
    made: Counter[int] = Counter()
    for calls in trace.calls(rank):
        comms, counts = np.unique(calls["comm"][chosen[calls["call"]] & (calls["comm"] >= 0)], return_counts=True)
        made.update(dict(zip(comms.tolist(), counts.tolist(), strict=True)))
    return made


def _changes(*columns: np.ndarray) -> np.ndarray:
    """Return a mask of the rows that differ from the previous row in any column. The first row differs."""
    differs = np.ones(len(columns[0]), bool)
    differs[1:] = False
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return differs


def starts(group: np.ndarray) -> np.ndarray:
    """Return the index of the first row of each group. `group`: number of the group of each row, ascending."""
    return np.flatnonzero(_changes(group))


def positions(trace: Trace, rows: np.ndarray) -> np.ndarray:
    """Return the rank of each row (MEMBER_CALL) within its communicator."""
    found = np.zeros(len(rows), np.int64)
    for comm in distinct(rows["comm"]).tolist():
        members = np.array(trace.communicators[comm].members)
        mine = rows["comm"] == comm
        order = np.argsort(members)
        found[mine] = order[np.searchsorted(members[order], rows["rank"][mine])]
    return found
