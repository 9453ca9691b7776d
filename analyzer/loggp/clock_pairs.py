"""Clocks that timed the two sides of a message, and the largest error between them."""

from __future__ import annotations

import math

import numpy as np

from analyzer.trace import Clocks, NodeClock, Trace


class ClockPairs:
    """The clocks of a trace, by number: rank 0's clock is number 0.

    A pair (sender's clock, receiver's clock) is also one number.
    """

    def __init__(self, trace: Trace) -> None:
        self._node = np.asarray(trace.nodes.of_rank, np.int64)
        self._clock = np.zeros(trace.size, np.int64)
        self._error_s: list[float | None] = [0.0]
        if trace.origin.imported:  # it says nothing of the clocks of its nodes
            self._clock = self._node
            self._error_s = [None] * (int(self._node.max(initial=0)) + 1)
        for clock in trace.extra(Clocks).known:
            self._clock[list(clock.ranks)] = len(self._error_s)
            self._error_s.append(_error_s(clock))

    def between_nodes(self, messages: np.ndarray) -> np.ndarray:
        """Return a mask of the messages that went from one node to another."""
        return self._node[messages["source"]] != self._node[messages["destination"]]

    def pair(self, messages: np.ndarray) -> np.ndarray:
        """Return the number of the pair of clocks of each message."""
        return self._clock[messages["source"]] * len(self._error_s) + self._clock[messages["destination"]]

    def margin_ns(self, messages: np.ndarray) -> np.ndarray:
        """Return the largest possible error in ns between the times of each message's two sides. 0: it is not known."""
        pairs, place = np.unique(self.pair(messages), return_inverse=True)
        return np.array([1e9 * (self.error_s(int(pair)) or 0) for pair in pairs], np.int64)[place]

    def reverse(self, pair: int) -> int:
        """Return the number of the pair with sender's and receiver's clock exchanged."""
        sender, receiver = divmod(pair, len(self._error_s))
        return receiver * len(self._error_s) + sender

    def error_s(self, pair: int) -> float | None:
        """Return the error in s of a time between the clocks of a pair. 0: one clock. None: it is not known."""
        sender, receiver = divmod(pair, len(self._error_s))
        if sender == receiver:
            return 0.0
        errors = self._error_s[sender], self._error_s[receiver]
        return None if None in errors else math.hypot(*(e for e in errors if e is not None))


def _error_s(clock: NodeClock) -> float | None:
    """Return twice the clock's standard error in s, but at most its certain bound. None: neither is known."""
    accuracy = [] if clock.accuracy_ns is None else [2 * clock.accuracy_ns]
    bound = [] if clock.bound_ns is None else [clock.bound_ns]
    return min([*accuracy, *bound]) / 1e9 if accuracy or bound else None
