"""One-sided operations: the RMA window of each call, its lock, and which call waits for which rank.

Each RMA window is a communicator of its own: its fences are barriers, in no order with other collectives. Where one
call waits for another rank's call (MPI_Win_start for MPI_Win_post, MPI_Win_wait for MPI_Win_complete), the other rank's
call sends a message.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from analyzer.operations.procedures import FENCE, WIN_COMPLETE, WIN_POST, WIN_START, WIN_WAIT, plan_of
from analyzer.pairing.epochs import ANY, EpochReader, Epochs, with_windows
from analyzer.pairing.requests import gather_blocks
from analyzer.trace import ACCESS, Objects, Trace

_Table = tuple[np.ndarray, np.ndarray]
"""Lists of different lengths as two arrays: the index of each list's first element, and the elements of all lists.

The indices are int64 of shape (lists + 1,).
"""


def is_fence(procedure: str) -> bool:
    """Return True if the procedure is MPI_Win_fence. Dimemas has records for no other procedure on RMA windows."""
    return plan_of(procedure)[0] == FENCE


def window_groups(trace: Trace, uses: Callable[[str], bool] = is_fence) -> tuple[tuple[int, ...], ...]:
    """Return the world ranks of each of Objects.known.

    Args:
        trace: The trace.
        uses: Tells by its name whether a procedure uses RMA windows.

    Returns:
        One tuple for each object; () if it is not a window of an intracommunicator. () if no procedure uses windows.
    """
    if not any(map(uses, trace.procedures)):
        return ()
    groups = []
    for one in trace.extra(Objects).known:
        communicator = trace.communicators[one.comm] if one.kind == "window" and one.comm >= 0 else None
        sound = communicator and not communicator.remote and len({*communicator.members}) == len(communicator.members)
        groups.append(communicator.members if communicator and sound else ())
    return tuple(groups)


class Windows:
    """RMA windows of a trace, as the translation of its ranks into operations needs them."""

    def __init__(self, trace: Trace, plan: np.ndarray) -> None:
        """Prepare the windows.

        Args:
            trace: The trace.
            plan: Kind and flag of the operation of each procedure (`plan_of`), of shape (procedures, 2).
        """
        self._trace, self._plan = trace, plan[:, 0]
        self._has_epochs = trace.extra(Objects).has_windows and bool((self._plan == WIN_START).any())

    @cached_property
    def _epochs(self) -> Epochs:
        reader = EpochReader(self._trace)
        return Epochs.together([reader.of(rank) for rank in range(self._trace.size)])

    @cached_property
    def start_waits(self) -> bool:
        """True if MPI_Win_start waited for the posts in the measured run. False: MPI_Win_complete waits.

        It is True if no more starts returned before their target posted than were still inside when it posted.
        """
        if not self._has_epochs:
            return True
        access, exposure = self._epochs.matched()
        began, posted = self._epochs.accesses[access], self._epochs.exposures["begin"][exposure]
        left = began["began"] < posted
        waited = (began["begin"] < posted) & ~left
        return bool(left.sum() <= waited.sum())

    def partners(self, rank: int) -> Partners:
        """Return the finder of the partners of a rank's calls on RMA windows.

        It takes one window of time after the other.
        """
        return Partners(self._trace, rank, self._guessed(rank) if self._has_epochs else {})

    def _guessed(self, rank: int) -> dict[int, _Table]:
        """Find the groups of calls without a group from the other sides of their epochs.

        Returns:
            By step (WIN_START, WIN_POST) the entries (ns) of the calls, ascending, and the partner of each.
        """
        epochs = self._epochs
        if not (epochs.exposures["partner"] == ANY).any():
            return {}
        access, exposure = epochs.matched()
        accesses, exposures = epochs.accesses[access], epochs.exposures[exposure]
        starts, posts = accesses["rank"] == rank, (exposures["rank"] == rank) & (exposures["partner"] == ANY)
        return {
            WIN_START: _sorted(accesses["begin"][starts], accesses["partner"][starts]),
            WIN_POST: _sorted(exposures["begin"][posts], accesses["rank"][posts]),
        }


def _sorted(time: np.ndarray, partner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((partner, time))
    return time[order], partner[order].astype(np.int32)


class Partners:
    """Finder of the partners of one rank's calls on RMA windows."""

    def __init__(self, trace: Trace, rank: int, guessed: dict[int, _Table]) -> None:
        self._trace, self._rank, self._guessed = trace, rank, guessed
        self._members = [np.zeros(0, np.int32)]  # of each group that was seen
        self._number: dict[tuple[int, int], int] = {}  # of each group, by (step, its group or entry)
        self._open = {step: np.zeros(len(trace.extra(Objects).known), np.int64) for step in (WIN_START, WIN_POST)}

    def of(self, window: tuple[int, int], calls: np.ndarray, kinds: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns that the kernel needs for the calls of a window of time.

        Args:
            window: Begin and end, ns.
            calls: Calls (CALL) of the window.
            kinds: Kind of operation of each call (`enum op_plan`).

        Returns:
            Arrays by name. object: index in Objects.known, -1: not known. detail: flags of the access. partners: world
            ranks.
            first_partner: index in `partners` of the first partner of each call, of shape (calls + 1,).
        """
        rows = gather_blocks(self._trace.extra(Objects).accesses(self._rank, *window), ACCESS)
        at, accesses = with_windows(calls, rows)
        found = {"object": np.full(len(calls), -1, np.int32), "detail": np.zeros(len(calls), np.int32)}
        found["object"][at], found["detail"][at] = accesses["object"], accesses["detail"]
        groups = np.zeros(len(calls), np.int64)
        named = np.zeros(len(calls), np.int64)
        named[at] = accesses["group"]
        for begins, ends in ((WIN_START, WIN_COMPLETE), (WIN_POST, WIN_WAIT)):
            mine = np.flatnonzero(np.isin(kinds, (begins, ends)) & (found["object"] >= 0))
            mine = mine[np.argsort(found["object"][mine], kind="stable")]
            opening = mine[kinds[mine] == begins]
            groups[opening] = self._numbers(begins, calls["enter"][opening], named[opening])
            groups[mine] = self._carried(begins, found["object"][mine], kinds[mine] == begins, groups[mine])
        sizes = np.array([len(members) for members in self._members])
        first = np.concatenate([[0], np.cumsum(sizes[groups])])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        place = np.arange(first[-1]) + np.repeat(starts[groups] - first[:-1], sizes[groups])
        every = np.concatenate(self._members).astype(np.int32)
        return found | {"first_partner": first.astype(np.int64), "partners": every[place]}

    def _numbers(self, step: int, entered: np.ndarray, named: np.ndarray) -> np.ndarray:
        """Return the number of the group of each call that begins an epoch.

        It is the group that the trace names; if there is none, the guessed group.
        """
        found = np.zeros(len(named), np.int64)
        for group in np.unique(named[named > 0]).tolist():
            found[named == group] = self._numbered((step, group), self._trace.extra(Objects).group(self._rank, group))
        times, partners = self._guessed.get(step, (np.zeros(0, np.int64), np.zeros(0, np.int32)))
        unnamed = np.flatnonzero(named == 0)
        low, high = (np.searchsorted(times, entered[unnamed], side) for side in ("left", "right"))
        for at, begin, end in zip(unnamed.tolist(), low.tolist(), high.tolist(), strict=True):
            members = partners[begin:end]
            found[at] = self._numbered((step, -hash(members.tobytes())), members) if len(members) else 0
        return found

    def _numbered(self, key: tuple[int, int], members: np.ndarray) -> int:
        if key not in self._number:
            self._number[key] = len(self._members)
            self._members.append(np.asarray(members, np.int32))
        return self._number[key]

    def _carried(self, step: int, window: np.ndarray, begins: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return for each call the group of the last call on its window that began an epoch.

        Calls are by window and time.
        """
        if not len(window):
            return groups
        new = np.append(True, np.diff(window) != 0)
        last = np.maximum.accumulate(np.where(begins, np.arange(len(window)), -1))
        here = last >= np.maximum.accumulate(np.where(new, np.arange(len(window)), -1))
        found = np.where(here, groups[last], self._open[step][window])
        ends = np.append(new[1:], True)
        self._open[step][window[ends]] = found[ends]
        return found
