"""A round of nonblocking messages: each rank posts its receives, then its sends, then waits for all of them."""

from __future__ import annotations

import numpy as np

from benchmarks.synthetic.world import GAP_NS, NUMBER, POST_NS, WORLD, World, blank_calls
from tracelib import schema
from tracelib.schema import RequestKind


class Exchange:
    """Messages from `sources` to `destinations` with `tags` (n each), every rank's in this order."""

    def __init__(self, world: World, sources: np.ndarray, destinations: np.ndarray, tags: np.ndarray) -> None:
        self._world = world
        self._sources, self._destinations = sources, destinations
        self._received = np.argsort(destinations, kind="stable")
        sent = np.argsort(sources, kind="stable")
        receives = np.bincount(destinations, minlength=world.ranks)
        sends = np.bincount(sources, minlength=world.ranks)
        self.ranks = np.flatnonzero(receives + sends)  # that take part
        receives, sends = receives[self.ranks], sends[self.ranks]
        self._requests_of = receives + sends
        self._receivers, self._first_received = np.unique(destinations[self._received], return_index=True)
        calls = self._requests_of + 1
        first = calls.cumsum() - calls
        self._rank_of_call = np.repeat(self.ranks, calls)
        self._delay_ns = (np.arange(calls.sum()) - np.repeat(first, calls)) * (POST_NS + GAP_NS)
        self._wait_at = first + self._requests_of
        self._is_request = np.ones(calls.sum(), bool)
        self._is_request[self._wait_at] = False
        self._rank_of_request = self._rank_of_call[self._is_request]
        self._receive_at = np.empty(len(sources), np.int64)
        self._receive_at[self._received] = _places(first, receives)
        self._send_at = np.empty(len(sources), np.int64)
        self._send_at[sent] = _places(first + receives, sends)
        self._prepare(tags)

    def _prepare(self, tags: np.ndarray) -> None:
        """Compute the columns that are equal in every round."""
        rows = self._calls = blank_calls(len(self._rank_of_call))
        rows["call"] = NUMBER["MPI_Waitall"]
        rows["comm"][self._is_request] = WORLD
        for at, procedure, peers in (
            (self._receive_at, "MPI_Irecv", self._sources),
            (self._send_at, "MPI_Isend", self._destinations),
        ):
            rows["call"][at], rows["peer"][at], rows["tag"][at] = NUMBER[procedure], peers, tags
        self._done = np.zeros(int(self._requests_of.sum()), schema.REQUEST)
        posted = rows[self._is_request]
        self._done["comm"], self._done["peer"], self._done["tag"] = WORLD, posted["peer"], posted["tag"]
        is_send = posted["call"] == NUMBER["MPI_Isend"]
        self._done["what"] = np.where(is_send, RequestKind.SEND_DONE, RequestKind.RECV_DONE)

    def run(self, size: int | np.ndarray) -> None:
        """Run once, from where the ranks are; `size` bytes of each message."""
        world, calls, done = self._world, self._calls.copy(), self._done.copy()
        calls["enter"] = world.now[self._rank_of_call] + self._delay_ns
        calls["exit"] = calls["enter"] + np.uint64(POST_NS)
        calls["sent"][self._send_at] = size
        arrival = calls["exit"][self._send_at].astype(np.int64)
        arrival += world.message_ns(self._sources, self._destinations, size)
        last = np.zeros(world.ranks, np.int64)
        last[self._receivers] = np.maximum.reduceat(arrival[self._received], self._first_received)
        leave = np.maximum(calls["enter"][self._wait_at].astype(np.int64), last[self.ranks]) + POST_NS
        calls["exit"][self._wait_at] = leave
        done["posted"], done["completed"] = calls["enter"][self._is_request], np.repeat(leave, self._requests_of)
        bytes_of = np.zeros(len(calls), np.int64)
        bytes_of[self._send_at] = bytes_of[self._receive_at] = size
        done["bytes"] = bytes_of[self._is_request]
        world.recorder.add_calls(self._rank_of_call, calls)
        world.recorder.add_requests(self._rank_of_request, done)
        world.now[self.ranks] = leave + GAP_NS


def _places(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return first[0], first[0] + 1, ... (counts[0] numbers), then first[1], first[1] + 1, ..., and so on."""
    return np.arange(counts.sum()) + np.repeat(first - (counts.cumsum() - counts), counts)
