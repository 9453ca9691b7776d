"""What the critical path consists of, by function and by rank, and how much slack computation has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.critical.functions import COMPUTATION, Function, Functions
from analyzer.critical.path import CriticalPath
from analyzer.trace import Trace

_NODES_AT_ONCE = 1 << 16
"""So that what is computed of them stays in the cache."""


@dataclass(frozen=True)
class Share:
    """A function's time on the path, and on all ranks."""

    function: Function
    path_ns: int
    mean_ns: float  # of the ranks that could be read, on the path or not

    @property
    def imbalance_ns(self) -> float:
        """What of its time on the path an even distribution over the ranks would save: path - mean, not below 0.

        Of computation only, as that of calls is full of waiting.
        Source: Boehme, de Supinski, Geimer, Schulz, Wolf, "Scalable critical-path based performance analysis", 2012.
        """
        return max(self.path_ns - self.mean_ns, 0.0) if self.function.kind == COMPUTATION else 0.0


@dataclass(frozen=True)
class Slack:
    """How much longer computation could be without making the run longer, each burst for itself."""

    computing_ns: int
    none_ns: int  # of that, without any slack
    least_ns: int  # of any burst: one delay of at most this does no harm, wherever it is
    mean_ns: float  # weighted by the length of the bursts


@dataclass(frozen=True)
class Shares:
    """The path by function, the longest first, and by rank; the slack by rank and by function."""

    functions: tuple[Share, ...]  # that are on the path
    rank_path_ns: np.ndarray  # (ranks,) int64
    rank_slack: tuple[Slack | None, ...]  # None: it did not compute
    function_slack: dict[Function, Slack]  # of those that are computation

    @property
    def imbalance_ns(self) -> float:
        """The sum over all functions."""
        return sum(share.imbalance_ns for share in self.functions)


def shares(trace: Trace, path: CriticalPath) -> Shares:
    """Add up the path's time and the slack, thread by thread."""
    nodes, functions = path.nodes, Functions(trace)
    on_path, in_all = np.zeros((2, len(functions.every)), np.int64)
    ranks, slacks = _Slacks(trace.size), _Slacks(len(functions.every))
    rank_path = np.zeros(trace.size, np.int64)
    by_thread = np.argsort(path.segments["thread"], kind="stable")
    stays = np.split(by_thread, np.cumsum(np.bincount(path.segments["thread"], minlength=nodes.threads))[:-1])
    for thread in range(nodes.threads):
        own, rank = nodes.of(thread), int(nodes.rank[thread])
        before = _Before(path.segments[stays[thread]])
        rank_path[rank] += before.total
        for first in range(own.start, own.stop, _NODES_AT_ONCE):
            chosen = slice(first, min(first + _NODES_AT_ONCE, own.stop))
            enter, exit_ = nodes.enter[chosen], nodes.exit[chosen]
            inside, ahead = functions.of_nodes(nodes, chosen), functions.before_nodes(nodes, thread, chosen)
            start = 0 if nodes.thread[thread] == 0 else enter[0]
            begin = np.append(start if first == own.start else nodes.exit[first - 1], exit_[:-1])
            at_enter, at_exit = before.until(enter), before.until(exit_)
            at_begin = np.append(before.until(begin[:1]), at_exit[:-1])
            _add(on_path, inside, at_exit - at_enter)
            _add(on_path, ahead, at_enter - at_begin)
            _add(in_all, inside, exit_ - enter)
            _add(in_all, ahead, enter - begin)
            is_burst = slice(first == own.start, None)
            burst, slack = (enter - begin)[is_burst], path.slack[chosen][is_burst]
            ranks.add(np.full(len(burst), rank), burst, slack)
            slacks.add(ahead[is_burst], burst, slack)
            path.forget()
    rows = zip(functions.every, on_path.tolist(), in_all.tolist(), strict=True)
    present = max(trace.size - len(trace.missing), 1)
    found = [Share(function, of_path, total / present) for function, of_path, total in rows if of_path]
    found.sort(key=lambda share: (-share.path_ns, share.function.kind, share.function.name))
    of_functions = {f: slack for f, slack in zip(functions.every, slacks.found(), strict=True) if slack}
    return Shares(tuple(found), rank_path, tuple(ranks.found()), of_functions)


def _add(sums: np.ndarray, number: np.ndarray, times: np.ndarray) -> None:
    """Add times that have a length to the sums of their functions."""
    some = times > 0
    np.add.at(sums, number[some], times[some])


class _Before:
    """The time on the path of one thread before any time."""

    def __init__(self, segments: np.ndarray) -> None:
        self._begin = segments["begin"]
        self._length = segments["end"] - segments["begin"]
        self._sums = np.concatenate([[0], np.cumsum(self._length)])

    @property
    def total(self) -> int:
        return int(self._sums[-1])

    def until(self, times: np.ndarray) -> np.ndarray:
        """ns of the path before each time, which no segment need contain."""
        if not len(self._begin):
            return np.zeros(len(times), np.int64)
        at = np.searchsorted(self._begin, times, "right") - 1
        last = at.clip(min=0)
        return np.where(at < 0, 0, self._sums[last] + np.minimum(times - self._begin[last], self._length[last]))


class _Slacks:
    """Sums of the slack of bursts, by number of a rank or function."""

    def __init__(self, count: int) -> None:
        self._computing, self._none = np.zeros((2, count), np.int64)
        self._least = np.full(count, np.iinfo(np.int64).max)
        self._weighted = np.zeros(count)

    def add(self, number: np.ndarray, burst: np.ndarray, slack: np.ndarray) -> None:
        """Bursts of no length do not count."""
        number, burst, slack = (x[burst > 0] for x in (number, burst, slack))
        np.add.at(self._computing, number, burst)
        np.add.at(self._none, number, np.where(slack == 0, burst, 0))
        np.minimum.at(self._least, number, slack)
        np.add.at(self._weighted, number, burst.astype(float) * slack)

    def found(self) -> list[Slack | None]:
        """What there is of each number."""
        columns = (column.tolist() for column in (self._computing, self._none, self._least, self._weighted))
        return [Slack(c, none, least, w / c) if c else None for c, none, least, w in zip(*columns, strict=True)]
