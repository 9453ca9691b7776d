"""Several predicted runs that shared a machine, as one trace of several applications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analyzer.columns.sorted_runs import sort_rows
from analyzer.trace import (
    EVENT,
    MESSAGE,
    STATE,
    Communicator,
    CpuWaits,
    Leftovers,
    Nodes,
    Origin,
    Trace,
    TracerTime,
    Unmatched,
    Unpaired,
)


@dataclass(frozen=True)
class _Apart:
    """Runs that are joined to one trace, and the joined rank numbers.

    first: the joined number of each run's first rank; the last element is the number of all ranks.
    """

    runs: Sequence[Trace]
    first: Sequence[int]

    def of(self, rank: int) -> tuple[Trace, int]:
        """Return the run of a joined rank, and the rank's number in that run."""
        k = int(np.searchsorted(self.first, rank, side="right")) - 1
        return self.runs[k], rank - self.first[k]

    def renumbered(self, of_runs: Iterable[list[Unmatched]]) -> list[Unmatched]:
        """Change the ranks of unmatched messages from numbers within their runs to joined numbers."""
        return [
            replace(found, rank=found.rank + first, peer=found.peer + first if found.peer >= 0 else found.peer)
            for of_run, first in zip(of_runs, self.first, strict=False)
            for found in of_run
        ]


@dataclass(frozen=True, kw_only=True)
class _TracerTimes(TracerTime):
    runs: _Apart

    def flushes(self, rank: int) -> np.ndarray:
        run, own = self.runs.of(rank)
        return run.extra(TracerTime).flushes(own)


@dataclass(frozen=True, kw_only=True)
class _CpuWaits(CpuWaits):
    runs: _Apart

    def of(self, rank: int) -> np.ndarray:
        run, own = self.runs.of(rank)
        return run.extra(CpuWaits).of(own)


@dataclass(frozen=True, kw_only=True)
class _Leftovers(Leftovers):
    runs: _Apart

    def unmatched(self) -> list[Unmatched]:
        return self.runs.renumbered(run.extra(Leftovers).unmatched() for run in self.runs.runs)

    def unpaired(self) -> Unpaired:
        of_runs = [run.extra(Leftovers).unpaired() for run in self.runs.runs]
        return Unpaired(
            *(sum(counts) for counts in zip(*((u.sends, u.receives, u.messages) for u in of_runs), strict=True))
        )

    def elsewhere(self) -> list[Unmatched]:
        return self.runs.renumbered(run.extra(Leftovers).elsewhere() for run in self.runs.runs)


class JoinedRuns(Trace):
    """Trace of several runs, each as one application, for Paraver.

    Their ranks follow each other on the machine's nodes.
    The runs' CPU numbers are already the machine's (`Carried`). Records that name procedures or communicators, as
    `calls` does, keep the indices of their own run.
    """

    def __init__(self, runs: Sequence[Trace], nodes: Nodes) -> None:
        self._runs = list(runs)
        sizes = [run.size for run in runs]
        applications = tuple(ranks for run in runs for ranks in run.origin.applications or (run.size,))
        self.path, self.origin = runs[0].path, Origin(applications=applications, predicted=True)
        self.size = sum(sizes)
        self._first = [0, *np.cumsum(sizes).tolist()]
        self.threads = np.concatenate([run.threads for run in runs])
        self.duration_ns = max(run.duration_ns for run in runs)
        self.procedures = tuple(dict.fromkeys(name for run in runs for name in run.procedures))
        self.event_labels = _labels(runs)
        self.problems = [
            replace(problem, rank=problem.rank + first if problem.rank >= 0 else -1)
            for run, first in zip(runs, self._first, strict=False)
            for problem in run.problems
        ]
        self.communicators = tuple(
            Communicator(c.id, tuple(m + first for m in c.members), tuple(m + first for m in c.remote), c.name)
            for run, first in zip(runs, self._first, strict=False)
            for c in run.communicators
        )
        self.nodes = nodes
        self._apart = apart = _Apart(self._runs, self._first)
        self.put(_TracerTimes(runs=apart), _CpuWaits(runs=apart), _Leftovers(runs=apart))

    def _merged(self, parts: list[np.ndarray], ranks: Sequence[str]) -> np.ndarray:
        """Concatenate rows of all runs, one array for each run, with joined numbers in the columns `ranks`."""
        parts = [part.copy() for part in parts]
        for part, first in zip(parts, self._first, strict=False):
            for name in ranks:
                part[name] += first
        return np.concatenate(parts)

    def span(self, rank: int) -> tuple[int, int]:
        run, own = self._apart.of(rank)
        return run.span(own)

    def windows(self, records: int = 262144) -> np.ndarray:
        share = max(records // len(self._runs), 1)
        return np.unique(np.concatenate([run.windows(share) for run in self._runs]))

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        run, own = self._apart.of(rank)
        return run.calls(own, begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        run, own = self._apart.of(rank)
        return run.requests(own, begin, end)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        rows = self._merged([run.states(begin, end) for run in self._runs], ["rank"])
        return sort_rows(_those_of(rows, ranks).astype(STATE, copy=False), "begin", "rank", "thread")

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        rows = self._merged([run.events(begin, end) for run in self._runs], ["rank"])
        return sort_rows(_those_of(rows, ranks).astype(EVENT, copy=False), "time", "rank", "thread")

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        parts = [run.messages(begin, end) for run in self._runs]
        rows = self._merged(parts, ["source", "destination"])
        return sort_rows(rows.astype(MESSAGE, copy=False), "logical_send", "source")

    def close(self) -> None:
        for run in self._runs:
            run.close()


def _those_of(rows: np.ndarray, ranks: range | None) -> np.ndarray:
    return rows if ranks is None else rows[(rows["rank"] >= ranks.start) & (rows["rank"] < ranks.stop)]


def _labels(runs: Sequence[Trace]) -> dict[int, tuple[str, dict[int, str]]]:
    """Merge the labels of all runs. If the runs name a value differently, the label has all the names."""
    found: dict[int, tuple[str, dict[int, str]]] = {}
    for run in runs:
        for type_, (label, values) in run.event_labels.items():
            known = found.setdefault(type_, (label, {}))[1]
            for value, name in values.items():
                names = known[value].split(" / ") if value in known else []
                known[value] = " / ".join(dict.fromkeys([*names, name]))
    return found
