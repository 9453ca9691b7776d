"""Wait states of collectives: which members wait, and for which member, by the pattern of dependences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import Sorted, joined
from analyzer.pairing.collective_calls import PATTERN, PATTERNS, Pattern, collectives, positions, starts
from analyzer.pairing.nonblocking_collectives import nonblocking_collectives, persistent_collectives
from analyzer.parallel import Team
from analyzer.trace import Trace
from analyzer.waits.kinds import WAIT, WaitKind
from analyzer.waits.message_candidates import CANDIDATE
from analyzer.waits.one_sided import fences
from analyzer.waits.synchronization import MEMBER, MESSAGE, SYNC
from analyzer.waits.threads import Lanes
from tracelib.schema.procedures import BARRIERS, BLOCKING_COLLECTIVES, base_procedure

_KINDS: dict[Pattern | None, WaitKind] = {
    Pattern.ALL: WaitKind.N_TO_N,
    Pattern.FROM_ROOT: WaitKind.LATE_BROADCAST,
    Pattern.TO_ROOT: WaitKind.EARLY_REDUCE,
    Pattern.PREFIX: WaitKind.EARLY_SCAN,
}
NOBODY = -1
"""Value in place of a row: there is no such member."""
_UNKNOWN = len(PATTERNS)
"""Number of the pattern of collectives that do not say who depends on whom: MPI_Alltoallv, neighbourhood collectives.

Only times tell who may have waited.
"""
_EARLIEST = np.iinfo(np.int64).min


@dataclass(frozen=True)
class CollectiveWaits:
    """The waits, synchronizations and completion times of the collectives in one window."""

    waits: np.ndarray  # WAIT
    syncs: np.ndarray  # SYNC
    completion: np.ndarray  # (2, ranks) ns in barriers and in N-to-N collectives after the first member had left


def fence_waits(trace: Trace, lanes: Lanes, team: Team) -> Iterator[np.ndarray]:
    """Find the waits (WAIT) in MPI_Win_fence, window by window.

    Not all fences synchronize (MPI_MODE_NOPRECEDE). So a member that left before the last member entered did not wait
    for that member.
    """
    for rows, group in fences(trace, team):
        waits = np.zeros(0, WAIT)
        if len(rows):
            members = _Members(trace, rows, group, lanes.lane_numbers(rows["rank"], rows["thread"]))
            waits = members.waits(Pattern.ALL, np.full(len(rows), int(WaitKind.FENCE)))
        yield waits[waits["cause_enter"] <= waits["exit"]]


def collective_waits(trace: Trace, lanes: Lanes, team: Team) -> Iterator[CollectiveWaits]:
    """Find the wait states of the blocking collectives, window by window.

    A member that takes data waits until the last of the members that give it data enters. A member that gives no data
    delays nobody. A member that takes no data does not wait. In a barrier all members wait for all.
    """
    patterns = _patterns(trace)
    for rows, group in collectives(trace, team):
        waits, syncs = [np.zeros(0, WAIT)], [np.zeros(0, SYNC)]
        completion = np.zeros((2, trace.size), np.int64)
        for members, pattern, kind in _by_pattern(trace, lanes, patterns, rows, group):
            waits.append(members.waits(pattern, kind))
            syncs.append(members.syncs(pattern))
            if pattern is Pattern.ALL:
                completion = members.completion(kind == WaitKind.N_TO_N)
        yield CollectiveWaits(joined(waits, WAIT), joined(syncs, SYNC), completion)


def nonblocking_candidates(trace: Trace, lanes: Lanes, team: Team) -> np.ndarray:
    """Find the possible waits (CANDIDATE) of calls that complete nonblocking collectives. Collective.

    Such a call waits until the last member that gives data has begun the collective.
    """
    return _candidates(trace, lanes, *nonblocking_collectives(trace, team))


def persistent_candidates(trace: Trace, lanes: Lanes, team: Team) -> np.ndarray:
    """Find the possible waits (CANDIDATE) of calls that complete persistent collectives. Collective."""
    return _candidates(trace, lanes, *persistent_collectives(trace, team))


def _candidates(trace: Trace, lanes: Lanes, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
    parts = [np.zeros(0, CANDIDATE)]
    for members, pattern, kind in _by_pattern(trace, lanes, _patterns(trace), rows, group):
        parts.append(members.candidates(pattern, kind))
    return np.concatenate(parts)


def _patterns(trace: Trace) -> np.ndarray:
    """Return the number of the pattern of each procedure: index in PATTERNS, or _UNKNOWN; -1: no collective."""
    names = [base_procedure(p) for p in trace.procedures]
    known = {name: PATTERNS.index(pattern) for name, pattern in PATTERN.items()}
    return np.array([known.get(n, _UNKNOWN if n in BLOCKING_COLLECTIVES else -1) for n in names], np.int64)


def _by_pattern(
    trace: Trace, lanes: Lanes, patterns: np.ndarray, rows: np.ndarray, group: np.ndarray
) -> Iterator[tuple[_Members, Pattern | None, np.ndarray]]:
    """Split collectives by their pattern.

    Args:
        trace: The trace.
        lanes: The threads of the trace.
        patterns: Number of the pattern of each procedure.
        rows: Calls of members (MEMBER_CALL).
        group: Number of the collective of each row, ascending.

    Yields:
        Members of collectives, their pattern (None: not known), and the WaitKind of each row.
    """
    barriers = np.array([base_procedure(p) in BARRIERS for p in trace.procedures], bool)
    for number, pattern in enumerate((*PATTERNS, None)):
        mine = patterns[rows["call"]] == number
        if mine.any():
            lane = lanes.lane_numbers(rows["rank"][mine], rows["thread"][mine])
            kind = np.where(
                barriers[rows["call"][mine]], int(WaitKind.BARRIER), int(_KINDS.get(pattern, WaitKind.N_TO_N))
            )
            yield _Members(trace, rows.compress(mine), group[mine], lane), pattern, kind


def last_present(rows: np.ndarray, group: np.ndarray, gives: np.ndarray) -> np.ndarray:
    """Find for each row the last member that gave data and had entered before the member of the row left.

    A member cannot have waited for a giver that entered after it left.

    Args:
        rows: Calls of members of collectives (MEMBER_CALL).
        group: Number of the collective of each row, ascending.
        gives: bool, True for members that give data.

    Returns:
        Row of that giver for each row; NOBODY (-1): there is none.
    """
    givers = np.flatnonzero(gives)
    if not len(givers):
        return np.full(len(rows), NOBODY)
    givers = givers[np.lexsort((rows["enter"][givers], group[givers]))]
    after = Sorted(group[givers], rows["enter"][givers]).at_or_after(group, rows["exit"])
    last = np.where(after >= 0, after, np.searchsorted(group[givers], group, side="right")) - 1
    return np.where((last >= 0) & (group[givers[last]] == group), givers[last], NOBODY)


class _Members:
    """The calls (MEMBER_CALL) of the members of collectives that have one pattern, in order of `group`."""

    def __init__(self, trace: Trace, rows: np.ndarray, group: np.ndarray, lane: np.ndarray) -> None:
        self._trace = trace
        self.rows, self._lane = rows, lane
        self._first = starts(group)  # row of each group
        self._group = np.unique(group, return_inverse=True)[1]

    def causes(self, pattern: Pattern | None) -> tuple[np.ndarray, np.ndarray]:
        """Find for each row the last member from which it takes data, and when the first giver entered.

        Returns:
            Row of the last giver (NOBODY: none), and a time in ns. The time is the entry of the first giver for
            TO_ROOT; for other patterns it is the entry of the last giver.
        """
        rows = self.rows
        is_root = rows["rank"] == rows["root"]
        if pattern is Pattern.FROM_ROOT:
            gives, takes = rows["gives"] & is_root, rows["takes"] & ~is_root
        elif pattern is Pattern.TO_ROOT:
            gives, takes = rows["gives"] & ~is_root, rows["takes"] & is_root
        else:
            gives, takes = rows["gives"], rows["takes"]
        if pattern is None:
            cause = last_present(rows, self._group, gives)
        else:
            cause = self._last_before(gives) if pattern is Pattern.PREFIX else self._last(gives)
        first = self._earliest(gives)[self._group] if pattern is Pattern.TO_ROOT else rows["enter"][cause]
        return np.where(takes, cause, NOBODY), first

    def waits(self, pattern: Pattern | None, kind: np.ndarray) -> np.ndarray:
        """Build the waits (WAIT) of members that had to wait in blocking collectives."""
        rows, (cause, first) = self.rows, self.causes(pattern)
        waits = (cause != NOBODY) & (rows["enter"][cause] > rows["enter"])
        found, cause = np.zeros(int(waits.sum()), WAIT), cause[waits]
        for column in ("enter", "exit", "call"):
            found[column] = rows[column][waits]
        found["lane"], found["cause"], found["kind"] = self._lane[waits], self._lane[cause], kind[waits]
        found["cause_enter"] = rows["enter"][cause]
        found["end"] = np.minimum(found["cause_enter"], found["exit"])
        found["first"] = first[waits].clip(found["enter"], found["end"])
        return found[found["end"] > found["enter"]]

    def candidates(self, pattern: Pattern | None, kind: np.ndarray) -> np.ndarray:
        """Build the possible waits (CANDIDATE) of calls that completed nonblocking collectives."""
        cause, first = self.causes(pattern)
        known = (cause != NOBODY) & (self.rows["exit"] > 0)
        found, cause = np.zeros(int(known.sum()), CANDIDATE), cause[known]
        found["complete"], found["until"] = self.rows["exit"][known], self.rows["enter"][cause]
        found["posted"] = self.rows["enter"][known]
        found["lane"], found["cause"], found["kind"] = self._lane[known], self._lane[cause], kind[known]
        found["first"] = first[known]
        return found[found["lane"] != found["cause"]]

    def _last(self, gives: np.ndarray) -> np.ndarray:
        """Find for each row the giver that was the last to enter its collective; NOBODY: no member gives."""
        time = np.where(gives, self.rows["enter"], _EARLIEST)
        order = np.lexsort((time, self._group))
        last = order[np.append(self._first[1:], len(order)) - 1]
        return np.where(gives[last], last, NOBODY)[self._group]

    def _earliest(self, gives: np.ndarray) -> np.ndarray:
        """Find the time at which the first giver of each collective entered, ns."""
        return np.minimum.reduceat(np.where(gives, self.rows["enter"], np.iinfo(np.int64).max), self._first)

    def _last_before(self, gives: np.ndarray) -> np.ndarray:
        """Find for each row the giver that was the last to enter, among the ranks before it in the communicator."""
        place = positions(self._trace, self.rows)
        order = np.lexsort((place, self._group))
        group, giving = self._group[order], gives[order]
        best = np.where(giving, order, NOBODY)
        time = np.where(giving, self.rows["enter"][order], _EARLIEST)
        step = 1
        while step < len(order):  # the latest of 2, 4, 8, ... rows up to this one
            same = group[step:] == group[:-step]
            if not same.any():
                break
            better = same & (time[:-step] > time[step:])
            best[step:], time[step:] = (np.where(better, a[:-step], a[step:]) for a in (best, time))
            step *= 2
        before = np.full(len(order), NOBODY)
        before[1:] = np.where(group[1:] == group[:-1], best[:-1], NOBODY)
        result = np.empty(len(order), np.int64)
        result[order] = before
        return result

    def syncs(self, pattern: Pattern | None) -> np.ndarray:
        """Build the SYNC rows of members that left collectives.

        For ALL, each member gets a MEMBER row. For rooted patterns the rows are as of messages between the root and
        each other member. Other patterns synchronize nobody.
        """
        rows = np.zeros(len(self.rows), SYNC)
        rows["key"] = rows["time"] = self.rows["exit"]
        rows["lane"], rows["comm"], rows["what"] = self._lane, self.rows["comm"], MEMBER
        if pattern is Pattern.ALL:
            return rows
        root = self._last(self.rows["rank"] == self.rows["root"])
        rows["other"], rows["other_time"], rows["what"] = self._lane[root], self.rows["exit"][root], MESSAGE
        rows["key"] = np.maximum(rows["time"], rows["other_time"])
        if pattern not in (Pattern.FROM_ROOT, Pattern.TO_ROOT):
            return rows[:0]
        return rows[(root != NOBODY) & (rows["lane"] != rows["other"])]

    def completion(self, is_n_to_n: np.ndarray) -> np.ndarray:
        """Sum the ns that members that take data stayed after the first member had left.

        Returns:
            int64 of shape (2, ranks): barriers, then N-to-N collectives.
        """
        left = np.minimum.reduceat(self.rows["exit"], self._first)[self._group]
        times = np.where(self.rows["takes"], self.rows["exit"] - np.maximum(left, self.rows["enter"]), 0)
        found = np.zeros((2, self._trace.size), np.int64)
        np.add.at(found, (is_n_to_n.astype(int), self.rows["rank"]), times)
        return found
