"""The sends and receives of one rank in a window, each in the order that MPI matches by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer._kernels import lib
from analyzer.columns.joined import joined
from analyzer.native import pointer
from analyzer.sources.lane.lane import Lane
from analyzer.sources.matching.half import HALF
from tracelib.schema import REQUEST, What

if TYPE_CHECKING:
    from analyzer.sources.matching.ghosts import Ghosts


@dataclass(frozen=True)
class WindowRows:
    """The raw rows of one thread in a window (ticks), and those requests posted in it that completed later (`late`)."""

    lane: Lane
    begin: int
    end: int
    times: tuple[int, int]  # the same in ns
    calls: np.ndarray
    requests: np.ndarray
    late: np.ndarray

    def all_requests(self) -> np.ndarray:
        """Those in the window, then the late ones."""
        return joined([self.requests, self.late], REQUEST) if len(self.late) else self.requests

    def sends(self) -> np.ndarray:
        """HALF of all sends in order of posting, cancelled ones included."""
        found = np.empty(len(self.calls) + len(self.requests), HALF)
        args = pointer(self.calls), len(self.calls), pointer(self.requests), len(self.requests)
        return found[: lib.match_sends(self.lane.struct, *args, halves_of(found))]

    def receives(self) -> np.ndarray:
        """HALF of all completed receives posted in the window."""
        requests = self.all_requests()
        found = np.empty(len(self.calls) + len(requests), HALF)
        args = pointer(self.calls), len(self.calls), pointer(requests), len(requests)
        return found[: lib.match_receives(self.lane.struct, *args, *self.times, halves_of(found))]

    def cancelled(self) -> np.ndarray:
        """Trace requests (REQUEST) of the sends posted in the window that were cancelled."""
        rows = np.concatenate([self.requests, self.late]) if len(self.late) else self.requests
        rows = rows[rows["what"] == What.SEND_CANCELLED]
        return self.lane.requests(rows[(rows["posted"] >= self.begin) & (rows["posted"] < self.end)])

    def name(self, halves: np.ndarray) -> None:
        """Fill in `call` of halves posted by this thread, which `requests` does not tell."""
        lib.match_names(self.lane.struct, pointer(self.calls), len(self.calls), halves_of(halves), len(halves))


def sends_of(rows: Sequence[WindowRows], ghosts: Ghosts) -> np.ndarray:
    """HALF of the sends of a rank that took place, in order of posting, ghosts among them."""
    sends = _by_posting([r.sends() for r in rows])
    window = rows[0].begin, rows[0].end
    cancelled = [r.cancelled() for r in rows]
    cancelled += [_columns(c, cancelled[0].dtype) for c in [ghosts.cancelled(*window)] if len(c)]
    if any(len(c) for c in cancelled):
        sends = _without(sends, np.concatenate(cancelled), ghosts)
    for r in rows:
        r.name(sends)
    return _among(sends, ghosts.sends(*window))


def receives_of(rows: Sequence[WindowRows], ghosts: Ghosts) -> np.ndarray:
    """HALF of the receives of a rank that took place, in order of posting, ghosts among them."""
    receives = _by_posting([r.receives() for r in rows])
    for r in rows:
        r.name(receives)
    return _among(receives, ghosts.receives(rows[0].begin, rows[0].end))


def _among(halves: np.ndarray, ghosts: np.ndarray) -> np.ndarray:
    """Ghosts and halves by time of posting; of what was posted at once the ghosts first."""
    return _by_posting([ghosts, halves]) if len(ghosts) else halves


def _columns(halves: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """What halves and rows of another kind have in common."""
    rows = np.zeros(len(halves), dtype)
    for column in ("posted", "peer", "tag", "comm"):
        rows[column] = halves[column]
    return rows


def halves_of(array: np.ndarray) -> Any:
    """An array of HALF as the kernels take it."""
    return pointer(array, "struct half *")


def _by_posting(parts: Sequence[np.ndarray]) -> np.ndarray:
    """All threads' halves by time of posting; what was posted at once in the order of the rows."""
    halves = np.concatenate(parts) if len(parts) > 1 else parts[0]
    posted = np.ascontiguousarray(halves["posted"])
    if (posted[1:] >= posted[:-1]).all():
        return halves
    return halves.take(np.argsort(posted, kind="stable"))


def _without(sends: np.ndarray, cancelled: np.ndarray, ghosts: Ghosts) -> np.ndarray:
    """`sends` less one for each cancelled request: of several alike started at once, the last; else one ghost less."""
    keep = np.ones(len(sends), bool)
    first, last = (np.searchsorted(sends["posted"], cancelled["posted"], side=side) for side in ("left", "right"))
    for request, low, high in zip(cancelled, first, last, strict=True):
        alike = keep[low:high].copy()
        for column in ("peer", "tag", "comm"):
            alike &= sends[column][low:high] == request[column]
        if alike.any():
            keep[low + np.flatnonzero(alike)[-1]] = False
        else:
            ghosts.forget_send(request)
    return sends[keep]
