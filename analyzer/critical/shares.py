"""What the critical path consists of, by function and by rank, and how much slack computation has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.critical.functions import COMPUTATION, Function, Functions
from analyzer.critical.path import CriticalPath
from analyzer.in_notebook import InNotebook
from analyzer.trace import Losses, Trace

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
class Shares(InNotebook):
    """The path by function, the longest first, and by rank; the slack by rank and by function."""

    functions: tuple[Share, ...]  # that are on the path
    rank_path_ns: np.ndarray  # (ranks,) int64
    rank_slack: tuple[Slack | None, ...]  # None: it did not compute
    function_slack: dict[Function, Slack]  # of those that are computation
    total_ns: dict[Function, int]  # of all threads, on the path or not

    @property
    def imbalance_ns(self) -> float:
        """The sum over all functions."""
        return sum(share.imbalance_ns for share in self.functions)


def shares(trace: Trace, path: CriticalPath) -> Shares:
    """Add up the path's time and the slack, thread by thread. What is computed between polls has the slack of their
    wait."""
    nodes, functions = path.nodes, Functions(trace)
    sums = _Times(functions)
    ranks, slacks = _Slacks(trace.size), _Slacks(len(functions.every))
    rank_path = np.zeros(trace.size, np.int64)
    by_thread = np.argsort(path.segments["thread"], kind="stable")
    stays = np.split(by_thread, np.cumsum(np.bincount(path.segments["thread"], minlength=nodes.threads))[:-1])
    for thread in range(nodes.threads):
        whole, rank = nodes.whole(thread), int(nodes.rank[thread])
        before, slack = Before(path.segments[stays[thread]]), _SlackOf(path, thread)
        rank_path[rank] += before.total
        begin = 0 if nodes.thread[thread] == 0 else int(whole["enter"][0])
        for first, did in pieces_of(functions, whole, begin):
            sums.add(did, before)
            bursts = slice(first == 0, None)
            burst = (did.enter - did.held)[bursts]
            of_bursts = slack.of(first, did.enter)[bursts]
            ranks.add(np.full(len(burst), rank), burst, of_bursts)
            slacks.add(did.ahead[bursts], burst, of_bursts)
            path.forget()
    rows = zip(functions.every, sums.on_path.tolist(), sums.in_all.tolist(), strict=True)
    present = max(trace.size - len(trace.extra(Losses).missing), 1)
    found = [Share(function, of_path, total / present) for function, of_path, total in rows if of_path]
    found.sort(key=lambda share: (-share.path_ns, share.function.kind, share.function.name))
    of_functions = {f: slack for f, slack in zip(functions.every, slacks.found(), strict=True) if slack}
    totals = {function: total for function, total in zip(functions.every, sums.in_all.tolist(), strict=True) if total}
    return Shares(tuple(found), rank_path, tuple(ranks.found()), of_functions, totals)


@dataclass(frozen=True)
class Did:
    """What a thread did: in [begin, held) the tracer had it, in [held, enter) it did `ahead`, in [enter, exit)
    `inside` (numbers of Functions). Arrays of one length."""

    begin: np.ndarray
    held: np.ndarray
    enter: np.ndarray
    exit: np.ndarray
    ahead: np.ndarray
    inside: np.ndarray


def did_in(functions: Functions, rows: np.ndarray, begin: int, held: int) -> Did:
    """From `begin` on, with the nodes (NODE) of a thread that the tracer holds until `held`."""
    enter, exit_ = rows["enter"], rows["exit"]
    begins = np.append(begin, exit_[:-1])
    until = np.maximum.accumulate(np.append(held, (exit_ + rows["tracer"])[:-1]))
    return Did(
        begins, np.clip(until, begins, np.maximum(enter, begins)), enter, exit_,
        functions.before_nodes(rows), functions.of_nodes(rows),
    )  # fmt: skip


def pieces_of(functions: Functions, whole: np.ndarray, begin: int) -> Iterator[tuple[int, Did]]:
    """What a thread with these nodes (NODE) did from `begin` on, piece by piece, each with the number of its first."""
    held = begin
    for first in range(0, len(whole), _NODES_AT_ONCE):
        rows = whole[first : first + _NODES_AT_ONCE]
        did = did_in(functions, rows, begin, held)
        if first == 0:
            did.ahead[:1] = functions.launch
        yield first, did
        begin, held = int(rows["exit"][-1]), max(held, int((rows["exit"] + rows["tracer"]).max()))


class _Times:
    """Sums by function, on the path and in all."""

    def __init__(self, functions: Functions) -> None:
        self._tracer = functions.tracer
        self.on_path, self.in_all = np.zeros((2, len(functions.every)), np.int64)

    def add(self, did: Did, before: Before) -> None:
        """What a thread did, whose time on the path `before` knows."""
        held, enter, exit_ = (before.until(times) for times in (did.held, did.enter, did.exit))
        begin = np.concatenate([before.until(did.begin[:1]), exit_[:-1]])
        self.on_path[self._tracer] += (held - begin).sum()
        self.in_all[self._tracer] += (did.held - did.begin).sum()
        _add(self.on_path, did.ahead, enter - held)
        _add(self.in_all, did.ahead, did.enter - did.held)
        _add(self.on_path, did.inside, exit_ - enter)
        _add(self.in_all, did.inside, did.exit - did.enter)


class _SlackOf:
    """The slack of what a thread does before each node of `Timeline.whole`."""

    def __init__(self, path: CriticalPath, thread: int) -> None:
        self._path, self._own = path, path.nodes.of(thread)
        whole = path.nodes.whole(thread)
        same = len(whole) == self._own.stop - self._own.start
        self._exits = None if same else np.ascontiguousarray(path.nodes.exit[self._own])

    def of(self, first: int, enter: np.ndarray) -> np.ndarray:
        """Of those from number `first` on, which are entered then: of a poll that of its wait."""
        slack = self._path.slack[self._own]
        if self._exits is None:
            return slack[first : first + len(enter)]
        at = np.searchsorted(self._exits, enter)
        return slack[at.clip(max=len(self._exits) - 1)]


def _add(sums: np.ndarray, number: np.ndarray, times: np.ndarray) -> None:
    """Add times that have a length to the sums of their functions."""
    some = times > 0
    np.add.at(sums, number[some], times[some])


class Before:
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
