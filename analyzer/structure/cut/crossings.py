"""Messages of which only one side is inside a cut, and collectives that not all members have inside.

They are kept as calls that took their time, and no longer as messages or collectives: matched with what is inside, they
would be other messages than in the whole run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.trace import Losses, Trace
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, base_name


@dataclass(frozen=True)
class Crossing:
    """Sides of messages and collectives, by rank, whose other side is outside the cut."""

    sends: dict[int, np.ndarray]  # int64: when the sends were entered, in order
    receives: dict[int, np.ndarray]  # when the receives were posted
    messages_in: int  # received inside, sent before
    messages_out: int  # sent inside, received later
    kept: int  # with both sides inside


def crossing(trace: Trace, windows: np.ndarray) -> Crossing:
    """Return the messages that cross the edges of windows (ranks, 2), ns. Collective over the processes of the
    trace."""
    trace.match()
    sends: dict[int, list[np.ndarray]] = {}
    receives: dict[int, list[np.ndarray]] = {}
    counts = np.zeros(3, np.int64)
    for rows in _messages(trace, int(windows[:, 1].max())):
        out = _inside(windows, rows["source"], rows["logical_send"])
        into = _inside(windows, rows["destination"], rows["logical_receive"])
        into &= rows["physical_receive"] <= windows[rows["destination"], 1]
        starts = _inside(windows, rows["destination"], rows["logical_receive"])
        counts += [(into & ~out).sum(), (out & ~into).sum(), (out & into).sum()]
        for found, chosen, rank, time in (
            (sends, out & ~into, "source", "logical_send"),
            (receives, starts & ~(out & into), "destination", "logical_receive"),
        ):
            some = rows[chosen]
            for one in np.unique(some[rank]).tolist():
                found.setdefault(one, []).append(some[time][some[rank] == one])
    return Crossing(_sorted(sends), _sorted(receives), *(int(count) for count in counts))


def _sorted(times: dict[int, list[np.ndarray]]) -> dict[int, np.ndarray]:
    return {rank: np.sort(np.concatenate(parts)) for rank, parts in times.items()}


def _messages(trace: Trace, end: int) -> Iterator[np.ndarray]:
    windows = trace.windows()
    for low, high in zip(windows[:-1].tolist(), windows[1:].tolist(), strict=True):
        if low <= end:
            yield trace.messages(low, high)


def _inside(windows: np.ndarray, rank: np.ndarray, time: np.ndarray) -> np.ndarray:
    return (time >= windows[rank, 0]) & (time < windows[rank, 1])


def shared_collectives(trace: Trace, team: Team, windows: np.ndarray) -> dict[int, tuple[int, int]]:
    """Find for each communicator (index) the blocking collectives that all members make in their windows.

    Returns the number of the first, from 0, and the one behind the last; each is the n-th of its communicator on every
    member. Collective over the team.
    """
    counted = np.array([base_name(name) in BLOCKING_COLLECTIVES for name in trace.procedures], bool)
    missing = set(trace.extra(Losses).missing)
    mine: dict[int, tuple[int, int]] = {}
    for rank in trace.share(team):
        if rank in missing or windows[rank, 0] < 0:
            continue
        before, until = (_made(trace, rank, counted, int(time)) for time in windows[rank])
        for comm, number in until.items():
            low, high = mine.get(comm, (0, 2**62))
            mine[comm] = max(low, before.get(comm, 0)), min(high, number)
    found: dict[int, tuple[int, int]] = {}
    for part in team.allgather(mine):
        for comm, (low, high) in part.items():
            first, last = found.get(comm, (0, 2**62))
            found[comm] = max(first, low), min(last, high)
    return found


def _made(trace: Trace, rank: int, counted: np.ndarray, end: int) -> dict[int, int]:
    """Count the collectives that a rank has entered on each communicator before a time."""
    total: dict[int, int] = {}
    for calls in trace.calls(rank, 0, end):
        comms, counts = np.unique(calls["comm"][counted[calls["call"]] & (calls["comm"] >= 0)], return_counts=True)
        for comm, count in zip(comms.tolist(), counts.tolist(), strict=True):
            total[comm] = total.get(comm, 0) + count
    return total
