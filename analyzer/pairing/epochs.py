"""Epochs of RMA windows: the calls that begin and end each epoch, and the epochs of different ranks that match.

An origin's access epoch lasts from MPI_Win_start to MPI_Win_complete. A target's exposure epoch lasts from MPI_Win_post
to MPI_Win_wait (or to the MPI_Win_test that ended it). Both calls that begin an epoch name a group. In files without
groups, only the targets of the origin's operations are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np

from analyzer.pairing.requests import gather_blocks, window_calls, windows_of_rank
from analyzer.trace import ACCESS, Objects, Trace
from tracelib.schema.procedures import ONE_SIDED_OPERATIONS, base_name, with_value

EPOCH = np.dtype(
    [
        ("window", "<i4"),  # index in Objects.known
        ("rank", "<i4"),
        ("partner", "<i4"),  # target of an access epoch or lock, origin of an exposure; -1: any
        ("begin_thread", "<i4"),
        ("thread", "<i4"),  # thread that ended the epoch
        ("exclusive", "?"),  # True for an exclusive lock
        ("begin", "<i8"),  # enter of MPI_Win_start, _post, _lock
        ("began", "<i8"),  # exit of that call
        ("last", "<i8"),  # enter of MPI_Win_complete, _wait, _unlock
        ("end", "<i8"),  # exit of that call
    ]
)
"""Epoch or lock with one partner. Times are in ns. An epoch with a group has a row for each member of the group."""

ANY = -1
"""Value of `partner` and `target` that stands for any rank."""


class Step(IntEnum):
    """Step of an epoch or lock that a call makes, or a one-sided operation."""

    OPERATION = 0
    START = 1
    COMPLETE = 2
    POST = 3
    WAIT = 4
    LOCK = 5
    UNLOCK = 6


_STEPS = {name: step for step in Step if step for name in with_value("epoch", step.name)}
SYNCHRONIZES = frozenset(_STEPS)
"""Procedures that begin and end epochs and locks. A trace without them has none."""
_EXCLUSIVE = 1  # in `detail` of MPI_Win_lock

_STEP = np.dtype(
    [("enter", "<i8"), ("exit", "<i8"), ("window", "<i4"), ("target", "<i4"), ("thread", "<i4"), ("step", "<i4"),
     ("detail", "<i4"), ("group", "<i4")]
)  # fmt: skip
"""Call that begins or ends an epoch or a lock, or a one-sided operation. Times are in ns."""


@dataclass(frozen=True)
class Epochs:
    """Access epochs, exposure epochs, and times in which locks were held, of some ranks (EPOCH)."""

    accesses: np.ndarray
    exposures: np.ndarray
    locks: np.ndarray

    @classmethod
    def together(cls, parts: Sequence[Epochs]) -> Epochs:
        """Concatenate the epochs of several ranks."""
        none = np.zeros(0, EPOCH)
        return cls(
            np.concatenate([none, *(p.accesses for p in parts)]),
            np.concatenate([none, *(p.exposures for p in parts)]),
            np.concatenate([none, *(p.locks for p in parts)]),
        )

    def matched(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of access epochs, and of the exposure epoch that belongs to each."""
        return _matched(self.accesses, self.exposures)


def with_windows(calls: np.ndarray, accesses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the calls that accessed an RMA window.

    Args:
        calls: Calls of one rank (CALL), in any order.
        accesses: Accesses of the rank (ACCESS).

    Returns:
        Indices of the calls that have an access, and these accesses.
    """
    if not len(accesses) or not len(calls):
        return np.zeros(0, np.int64), accesses[:0]
    rows = accesses[np.lexsort((accesses["enter"], accesses["thread"]))]
    order = np.lexsort((calls["enter"], calls["thread"]))
    key = np.concatenate([rows["thread"], calls["thread"]]), np.concatenate([rows["enter"], calls["enter"]])
    every = np.lexsort((np.repeat([0, 1], [len(rows), len(calls)]), key[1], key[0]))
    last = np.maximum.accumulate(np.where(every < len(rows), every, -1))
    at = np.empty(len(every), np.int64)
    at[every] = last
    at = at[len(rows) :][order]
    same = (at >= 0) & (rows["enter"][at] == calls["enter"][order]) & (rows["thread"][at] == calls["thread"][order])
    return order[same], rows[at[same]]


class EpochReader:
    """Reader of the epochs and locks of ranks."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        names = [base_name(p) for p in trace.procedures]
        steps = [Step.OPERATION if n in ONE_SIDED_OPERATIONS else _STEPS.get(n, -1) for n in names]
        self._steps = np.array(steps, np.int64)
        self._all = np.array([n.endswith("_all") for n in names], bool)

    @property
    def has_any(self) -> bool:
        """True if the run may have epochs, locks or one-sided operations."""
        return bool((self._steps >= 0).any()) and self._trace.extra(Objects).has_windows

    def of(self, rank: int) -> Epochs:
        """Return the epochs and locks of one rank on all RMA windows."""
        steps, touched = self._read(rank)
        found: list[list[np.ndarray]] = [[], [], []]
        for one in np.unique(steps["window"]).tolist():
            rows = steps[steps["window"] == one]
            by_step = [rows[rows["step"] == step] for step in range(Step.UNLOCK + 1)]
            first = _open_at(by_step[Step.START], by_step[Step.COMPLETE])
            targets = touched[touched[:, 0] == one, 1:]
            found[0].append(self._with_partners(rank, by_step[Step.START], by_step[Step.COMPLETE], first, targets))
            first = _open_at(by_step[Step.POST], by_step[Step.WAIT])
            found[1].append(self._with_partners(rank, by_step[Step.POST], by_step[Step.WAIT], first, None))
            found[2].append(_held(rank, by_step[Step.LOCK], by_step[Step.UNLOCK]))
        return Epochs(*(np.concatenate([np.zeros(0, EPOCH), *parts]) for parts in found))

    def _read(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rank's steps in order of entry (_STEP), and the targets of its operations in access epochs.

        The targets are int64 rows of RMA window, number of the MPI_Win_start on the window, and target.
        """
        started = np.zeros(len(self._trace.extra(Objects).known), np.int64)
        parts, touched = [np.zeros(0, _STEP)], [np.zeros((0, 3), np.int64)]
        for begin, end in pairwise(windows_of_rank(self._trace, rank).tolist()):
            rows, operations = self._window(rank, begin, end)
            parts.append(rows)
            touched.append(_touched(rows, operations, started))
            np.add.at(started, rows["window"][rows["step"] == Step.START], 1)
        return np.concatenate(parts), np.unique(np.concatenate(touched), axis=0)

    def _window(self, rank: int, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps that begin or end something, and the operations, of a window of time (both _STEP)."""
        calls = window_calls(self._trace, rank, begin, end)
        calls = calls[self._steps[calls["call"]] >= 0]
        at, accesses = with_windows(calls, gather_blocks(self._trace.extra(Objects).accesses(rank, begin, end), ACCESS))
        calls, rows = calls[at], np.zeros(len(at), _STEP)
        for column in ("enter", "exit", "thread"):
            rows[column] = calls[column]
        rows["window"], rows["detail"], rows["group"] = accesses["object"], accesses["detail"], accesses["group"]
        rows["step"] = self._steps[calls["call"]]
        rows["target"] = np.where(self._all[calls["call"]], ANY, calls["peer"])
        rows = rows[rows["window"] >= 0]
        rows = rows[np.argsort(rows["enter"], kind="stable")]
        return rows[rows["step"] != Step.OPERATION], rows[(rows["step"] == Step.OPERATION) & (rows["target"] >= 0)]

    def _with_partners(
        self, rank: int, begins: np.ndarray, ends: np.ndarray, first: np.ndarray, targets: np.ndarray | None
    ) -> np.ndarray:
        """Return the epochs (EPOCH) from begins[first] to `ends`, a row for each partner.

        Partners are the members of the group. Without a group they are the targets (start, target) of the operations.
        An exposure epoch without a group has one row, with partner ANY.
        """
        known = first >= 0
        begins, ends, number = begins[first[known]], ends[known], first[known]
        spans = _spans(rank, begins, ends)
        parts = [np.zeros(0, EPOCH)]
        for group in np.unique(begins["group"]).tolist():
            mine = begins["group"] == group
            if group:
                members = self._trace.extra(Objects).group(rank, group).tolist()
                parts += [_of_partner(spans[mine], partner) for partner in members]
            elif targets is None:
                parts.append(_of_partner(spans[mine], ANY))
            else:
                at = np.searchsorted(number, targets[:, 0]).clip(max=max(len(number) - 1, 0))
                inside = mine[at] & (number[at] == targets[:, 0])
                parts.append(_of_partner(spans[at[inside]], targets[inside, 1]))
        found = np.concatenate(parts)
        return found[np.argsort(found["begin"], kind="stable")]


def _touched(steps: np.ndarray, operations: np.ndarray, started: np.ndarray) -> np.ndarray:
    """Return (RMA window, start, target) of the operations in access epochs, each once.

    `started`: number of access epochs that began before this window of time, by RMA window.
    """
    parts = [np.zeros((0, 3), np.int64)]
    for window in np.unique(operations["window"]).tolist():
        mine = operations[operations["window"] == window]
        starts = steps["enter"][(steps["step"] == Step.START) & (steps["window"] == window)]
        start = started[window] + np.searchsorted(starts, mine["enter"], "right") - 1
        rows = np.stack([mine["window"], start, mine["target"]], axis=1).astype(np.int64)
        parts.append(np.unique(rows[start >= 0], axis=0))
    return np.concatenate(parts)


def _open_at(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return for each end the last begin before it; -1: none.

    If several ends have the same begin, only the last gets it.
    """
    at = np.searchsorted(begins["enter"], ends["enter"], "right") - 1
    last = np.append(at[1:] != at[:-1], True) if len(at) else np.zeros(0, bool)
    return np.where(last, at, -1)


def _spans(rank: int, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    spans = np.zeros(len(begins), EPOCH)
    spans["window"], spans["rank"] = begins["window"], rank
    spans["begin_thread"], spans["thread"] = begins["thread"], ends["thread"]
    spans["begin"], spans["began"] = begins["enter"], begins["exit"]
    spans["last"], spans["end"] = ends["enter"], ends["exit"]
    return spans


def _of_partner(spans: np.ndarray, partner: int | np.ndarray) -> np.ndarray:
    rows = spans.copy()
    rows["partner"] = partner
    return rows


def _held(rank: int, locks: np.ndarray, unlocks: np.ndarray) -> np.ndarray:
    """Return the locks of a rank (EPOCH): the n-th lock of each target ends with its n-th unlock."""
    parts = [np.zeros(0, EPOCH)]
    for target in np.unique(locks["target"]).tolist():
        begins, ends = locks[locks["target"] == target], unlocks[unlocks["target"] == target]
        count = min(len(begins), len(ends))
        spans = _of_partner(_spans(rank, begins[:count], ends[:count]), target)
        spans["exclusive"] = (begins["detail"][:count] & 3) == _EXCLUSIVE
        parts.append(spans)
    return np.concatenate(parts)


def _matched(accesses: np.ndarray, exposures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Match access epochs to exposure epochs by RMA window, origin and target.

    If there are as many of both, the n-th access epoch belongs to the n-th exposure epoch. Otherwise each access epoch
    belongs to the next exposure epoch that had not ended when the access epoch was completed, and that was posted
    before the access epoch ended.
    """
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    order = np.lexsort((accesses["begin"], accesses["partner"], accesses["rank"], accesses["window"]))
    theirs = np.lexsort((exposures["begin"], exposures["partner"], exposures["rank"], exposures["window"]))
    key = tuple(exposures[name][theirs] for name in ("window", "rank", "partner"))
    for mine in _runs(order, accesses["window"], accesses["rank"], accesses["partner"]):
        window, origin, target = (int(accesses[name][mine[0]]) for name in ("window", "rank", "partner"))
        there = np.concatenate([theirs[_where(key, window, target, partner)] for partner in (ANY, origin)])
        there = there[np.argsort(exposures["begin"][there], kind="stable")]
        if len(mine) == len(there):
            parts.append((mine, there))
            continue
        ends = np.maximum.accumulate(exposures["end"][there])
        at = np.searchsorted(ends, accesses["last"][mine])
        count = np.arange(len(at))
        at = np.maximum.accumulate(at - count) + count  # no exposure is taken twice
        mine, at = mine[at < len(there)], there[at[at < len(there)]]
        posted = exposures["begin"][at] <= accesses["end"][mine]
        parts.append((mine[posted], at[posted]))
    epochs, found = zip(*parts, strict=True)
    return np.concatenate(epochs), np.concatenate(found)


def _runs(order: np.ndarray, *columns: np.ndarray) -> Iterator[np.ndarray]:
    """Yield groups of sorted rows that are equal in all columns."""
    new = np.zeros(len(order), bool)
    for column in columns:
        new[1:] |= np.diff(column[order]) != 0
    yield from np.split(order, np.flatnonzero(new)) if len(order) else ()


def _where(columns: Sequence[np.ndarray], *values: int) -> slice:
    """Return the slice of rows in which the columns have these values.

    Rows are sorted by the columns, first column first.
    """
    low, high = 0, len(columns[0])
    for column, value in zip(columns, values, strict=True):
        low, high = (low + np.searchsorted(column[low:high], [value, value + 1])).tolist()
    return slice(low, high)
