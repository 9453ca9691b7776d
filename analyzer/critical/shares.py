"""Time of the critical path by activity and by rank, and the slack of computing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.columns.rows import PIECE
from analyzer.critical.activities import COMPUTATION, ThreadActivities, ThreadActivity
from analyzer.critical.path import CriticalPath
from analyzer.critical.thread_nodes import NOT_RECORDED
from analyzer.in_notebook import InNotebook
from analyzer.trace import Losses, Trace

_SLACK = np.dtype([("computing", "<i8"), ("none", "<i8"), ("least", "<i8"), ("weighted", "<f8")])
"""Sums from which a Slack is computed (`struct slack_sum` of the kernel), ns; `weighted` is slack x length of burst."""


@dataclass(frozen=True)
class PathShare:
    """Time of one activity on the critical path, and its mean time on all ranks."""

    function: ThreadActivity
    path_ns: int
    mean_ns: float  # mean of the ranks that could be read, on the path or not

    @property
    def imbalance_ns(self) -> float:
        """Return the ns on the path that an even distribution over the ranks would save: path - mean, at least 0.

        It is 0 for calls, because calls contain waiting.

        Source: Boehme, de Supinski, Geimer, Schulz, Wolf, "Scalable critical-path based performance analysis", 2012.
        """
        return max(self.path_ns - self.mean_ns, 0.0) if self.function.kind == COMPUTATION else 0.0


@dataclass(frozen=True)
class Slack:
    """Time by which a burst could be longer without making the run longer; statistics over many bursts."""

    computing_ns: int
    none_ns: int  # ns of computing in bursts without slack
    least_ns: int  # smallest slack of any burst: one delay of at most this does not lengthen the run
    mean_ns: float  # mean slack, weighted by the length of the bursts


@dataclass(frozen=True)
class PathShares(InNotebook):
    """Critical path by activity (the longest first) and by rank, and slack by rank and by activity."""

    functions: tuple[PathShare, ...]  # only activities on the path
    rank_path_ns: np.ndarray  # (ranks,) int64, ns of the path on each rank
    rank_slack: tuple[Slack | None, ...]  # None: the rank did not compute
    function_slack: dict[ThreadActivity, Slack]  # only for computing
    total_ns: dict[ThreadActivity, int]  # ns of each activity on all threads, on the path or not

    @property
    def imbalance_ns(self) -> float:
        """Return the sum of `PathShare.imbalance_ns` over all activities."""
        return sum(share.imbalance_ns for share in self.functions)


def path_shares(trace: Trace, path: CriticalPath) -> PathShares:
    """Sum the time of the path and the slack, by activity and by rank.

    Computing between failing polls has the slack of the wait to which the polls belong.
    """
    functions = ThreadActivities(trace)
    sums = _Sums(functions, path, trace.size)
    for thread in range(path.nodes.threads):
        sums.add(thread)
    rows = zip(functions.every, sums.on_path.tolist(), sums.in_all.tolist(), strict=True)
    present = max(trace.size - len(trace.extra(Losses).missing), 1)
    found = [PathShare(function, of_path, total / present) for function, of_path, total in rows if of_path]
    found.sort(key=lambda share: (-share.path_ns, share.function.kind, share.function.name))
    of_functions = {f: slack for f, slack in zip(functions.every, _slacks(sums.of_functions), strict=True) if slack}
    totals = {function: total for function, total in zip(functions.every, sums.in_all.tolist(), strict=True) if total}
    return PathShares(tuple(found), _of_ranks(path, trace.size), tuple(_slacks(sums.of_ranks)), of_functions, totals)


def _of_ranks(path: CriticalPath, ranks: int) -> np.ndarray:
    """Sum the ns of the path on each rank."""
    found = np.zeros(ranks, np.int64)
    np.add.at(found, path.nodes.rank[path.segments["thread"]], path.segments["end"] - path.segments["begin"])
    return found


class _Sums:
    """Sums of ns by activity, on the path and in all, and of slack by activity and by rank (_SLACK)."""

    def __init__(self, functions: ThreadActivities, path: CriticalPath, ranks: int) -> None:
        self._path, self._looked = path, 0
        self.on_path, self.in_all = np.zeros((2, len(functions.every)), np.int64)
        self.of_functions, self.of_ranks = _no_slack(len(functions.every)), _no_slack(ranks)
        self._nowhere = path.segments[:0]
        self._of_call = functions.of_calls(range(NOT_RECORDED, functions.calls))
        self._sums = ffi.new(
            "struct share_sums *",
            {
                "of_call": pointer(self._of_call, "int32_t *") - NOT_RECORDED,
                "tracer": functions.tracer,
                "launch": functions.launch,
                "on_path": pointer(self.on_path, "int64_t *"),
                "in_all": pointer(self.in_all, "int64_t *"),
                "slack": pointer(self.of_functions, "struct slack_sum *"),
            },
        )

    def add(self, thread: int) -> None:
        """Add the nodes of one thread."""
        nodes, own = self._path.nodes, self._path.nodes.thread_slice(thread)
        whole, stays = nodes.whole(thread), self._path.stays.get(thread, self._nowhere)
        begin = 0 if nodes.thread[thread] == 0 else int(whole["enter"][0])
        walk = ffi.new(
            "struct share_thread *",
            {
                "stays": pointer(stays, "struct path_segment *"),
                "n_stays": len(stays),
                "begin": begin,
                "held": begin,
                "own": pointer(nodes.rows[own], "struct node *"),
                "slack": pointer(self._path.slack[own], "int64_t *"),
                "n_own": own.stop - own.start,
                "polls": len(whole) != own.stop - own.start,
                "rank": pointer(self.of_ranks, "struct slack_sum *") + int(nodes.rank[thread]),
            },
        )
        for at in range(0, len(whole), PIECE):
            rows = whole[at : at + PIECE]
            lib.shares_add(self._sums, walk, pointer(rows, "struct node *"), len(rows))
            self._looked += len(rows)
            if self._looked >= PIECE:
                self._path.forget()
                self._looked = 0


def _no_slack(count: int) -> np.ndarray:
    found = np.zeros(count, _SLACK)
    found["least"] = np.iinfo(np.int64).max
    return found


def _slacks(sums: np.ndarray) -> list[Slack | None]:
    """Translate sums (_SLACK) into Slack; None: no computing."""
    return [Slack(c, none, least, w / c) if c else None for c, none, least, w in sums.tolist()]
