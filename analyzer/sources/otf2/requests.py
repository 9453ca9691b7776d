"""Sends and receives of one thread of an OTF2 archive; those of requests take shape over several events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analyzer._kernels import lib
from analyzer.columns.joined import joined
from analyzer.sources.otf2.names import Names

HALF = np.dtype(
    [("logical", "<i8"), ("physical", "<i8"), ("size", "<i8"), ("comm", "<i4"), ("peer", "<i4"), ("tag", "<i8"),
     ("rank", "<i4"), ("thread", "<i4"), ("order", "<i8"), ("done", "<i8")]
)  # fmt: skip
"""One side of a message: when its call was entered, when it took place, when the request was done (0: it blocks)."""

_REQUEST = np.dtype([("request", "<i8"), ("order", "<i8"), ("logical", "<i8")])
"""A request that is posted: the event's number in its location, and when its call was entered."""

Entered = Callable[[np.ndarray], np.ndarray]
"""Of rows of events: when the call around them was entered."""


class Sends:
    """Sends (HALF). One of a request is complete when an event says so."""

    def __init__(self, rank: int, thread: int) -> None:
        self._rank, self._thread = rank, thread
        self._pending, self._requests = np.zeros(0, HALF), np.zeros(0, np.int64)

    def take(
        self, rows: np.ndarray, order: np.ndarray, kinds: tuple[int, int], entered: Entered, names: Names, *, last: bool
    ) -> np.ndarray:
        """Those that are settled by these events; `last`: all."""
        at = np.flatnonzero(np.isin(rows["kind"], kinds))
        made = _halves(rows, at, names, self._rank, self._thread)
        made["logical"], made["order"] = entered(at), order[at]
        immediate = rows["kind"][at] == kinds[1]
        waiting = joined([self._pending, made[immediate]], HALF)
        requests = np.concatenate([self._requests, rows["request"][at[immediate]]])
        done = np.flatnonzero(rows["kind"] == lib.ARCHIVE_ISEND_DONE)
        partner = _nearest(requests, waiting["order"], rows["request"][done], order[done], later=True)
        complete = partner >= 0
        waiting["done"][complete] = rows["time"][done[partner[complete]]]
        settled = complete | last
        self._pending, self._requests = waiting[~settled], requests[~settled]
        return joined([made[~immediate], waiting[settled]], HALF)


class Receives:
    """Receives (HALF). One of a request was posted in an earlier event."""

    def __init__(self, rank: int, thread: int) -> None:
        self._rank, self._thread = rank, thread
        self._posted = np.zeros(0, _REQUEST)

    def take(
        self, rows: np.ndarray, order: np.ndarray, kinds: tuple[int, int], entered: Entered, names: Names
    ) -> np.ndarray:
        """Those that these events complete."""
        at = np.flatnonzero(np.isin(rows["kind"], kinds))
        found = _halves(rows, at, names, self._rank, self._thread)
        found["logical"], found["order"] = entered(at), order[at]
        new = np.flatnonzero(rows["kind"] == lib.ARCHIVE_RECV_POSTED)
        posted = np.zeros(len(new), _REQUEST)
        posted["request"], posted["order"], posted["logical"] = rows["request"][new], order[new], entered(new)
        posted = joined([self._posted, posted], _REQUEST)
        mine = np.flatnonzero(rows["kind"][at] == kinds[1])
        of = rows["request"][at[mine]]
        partner = _nearest(of, found["order"][mine], posted["request"], posted["order"], later=False)
        mine, partner = mine[partner >= 0], partner[partner >= 0]
        found["done"][mine] = rows["time"][at[mine]]
        found["logical"][mine], found["order"][mine] = posted["logical"][partner], posted["order"][partner]
        self._posted = np.delete(posted, partner)
        return found


def _halves(rows: np.ndarray, at: np.ndarray, names: Names, rank: int, thread: int) -> np.ndarray:
    found = np.zeros(len(at), HALF)
    found["physical"], found["size"] = rows["time"][at], rows["length"][at]
    found["comm"] = names.comm_rows(rows["comm"][at])
    found["peer"] = names.world_rank(found["comm"], rows["what"][at])
    found["tag"] = rows["tag"][at].view(np.int32)
    found["rank"], found["thread"] = rank, thread
    return found


def _nearest(
    request: np.ndarray, order: np.ndarray, other_request: np.ndarray, other_order: np.ndarray, *, later: bool
) -> np.ndarray:
    """Of each the nearest other of the same request, in order after it or before it; -1: there is none."""
    requests, orders = np.concatenate([request, other_request]), np.concatenate([order, other_order])
    is_other = np.repeat([False, True], [len(request), len(other_request)])
    by = np.lexsort((orders, requests))
    if later:
        by = by[::-1]
    last = np.maximum.accumulate(np.where(is_other[by], np.arange(len(by)), -1))
    near = by[last.clip(min=0)]
    same = (last >= 0) & (requests[near] == requests[by])
    found = np.full(len(by), -1)
    found[by] = np.where(same, near - len(request), -1)
    return found[: len(request)]
