"""Several predicted runs that shared a machine, as one trace of several applications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from analyzer.operations.operation import Program
from analyzer.replay.counts import with_counts
from analyzer.replay.machine import Machine
from analyzer.replay.simulate import most_threads
from analyzer.sources.paraver_runs import sort_rows
from analyzer.trace import EVENT, MESSAGE, STATE, Communicator, Trace, Unmatched


class Together(Trace):
    """Runs as the applications of one trace, for Paraver: their ranks one after the other, on the machine's nodes.

    Which CPU a thread has is not known. `calls` and what else names procedures or communicators is that of each run.
    """

    flush_mode = "subtract"
    predicted = True

    def __init__(self, runs: Sequence[Trace], programs: Sequence[Program], machine: Machine) -> None:
        self._runs = list(runs)
        self.path, self.command = runs[0].path, ""
        self.applications = tuple(run.size for run in runs)
        self.size = sum(self.applications)
        self._first = [0, *np.cumsum(self.applications).tolist()]
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
        most = max(program.ranks for program in programs)
        made = with_counts(machine, most)
        places = [made.place(p.ranks, most, self._first[k], k) for k, p in enumerate(programs)]
        self.node_of = np.array([node for place in places for node in place], np.int32)
        self.nodes = tuple(f"node{k + 1}" for k in range(len(made.nodes)))
        self.cpus = tuple(int(node.cpus) or most_threads(programs) for node in made.nodes)  # type: ignore[arg-type]

    def _of(self, rank: int) -> tuple[Trace, int]:
        """The run of a rank, and its rank there."""
        k = int(np.searchsorted(self._first, rank, side="right")) - 1
        return self._runs[k], rank - self._first[k]

    def _merged(self, parts: list[np.ndarray], ranks: Sequence[str], cpus: Sequence[str]) -> np.ndarray:
        """Rows of all runs, their ranks as they are here, their CPUs unknown."""
        parts = [part.copy() for part in parts]
        for part, first in zip(parts, self._first, strict=False):
            for name in ranks:
                part[name] += first
            for name in cpus:
                part[name] = 0
        return np.concatenate(parts)

    def span(self, rank: int) -> tuple[int, int]:
        run, own = self._of(rank)
        return run.span(own)

    def windows(self, records: int = 262144) -> np.ndarray:
        share = max(records // len(self._runs), 1)
        return np.unique(np.concatenate([run.windows(share) for run in self._runs]))

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        run, own = self._of(rank)
        return run.calls(own, begin, end)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        run, own = self._of(rank)
        return run.requests(own, begin, end)

    def flushes(self, rank: int) -> np.ndarray:
        run, own = self._of(rank)
        return run.flushes(own)

    def cpu_waits(self, rank: int) -> np.ndarray:
        run, own = self._of(rank)
        return run.cpu_waits(own)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        rows = self._merged([run.states(begin, end) for run in self._runs], ["rank"], ["cpu"])
        return sort_rows(_those_of(rows, ranks).astype(STATE, copy=False), "begin", "rank", "thread")

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        rows = self._merged([run.events(begin, end) for run in self._runs], ["rank"], ["cpu"])
        return sort_rows(_those_of(rows, ranks).astype(EVENT, copy=False), "time", "rank", "thread")

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        parts = [run.messages(begin, end) for run in self._runs]
        rows = self._merged(parts, ["source", "destination"], ["source_cpu", "destination_cpu"])
        return sort_rows(rows.astype(MESSAGE, copy=False), "logical_send", "source")

    def unmatched(self) -> list[Unmatched]:
        return [
            replace(found, rank=found.rank + first, peer=found.peer + first if found.peer >= 0 else found.peer)
            for run, first in zip(self._runs, self._first, strict=False)
            for found in run.unmatched()
        ]

    def close(self) -> None:
        for run in self._runs:
            run.close()


def _those_of(rows: np.ndarray, ranks: range | None) -> np.ndarray:
    return rows if ranks is None else rows[(rows["rank"] >= ranks.start) & (rows["rank"] < ranks.stop)]


def _labels(runs: Sequence[Trace]) -> dict[int, tuple[str, dict[int, str]]]:
    """Those of all runs; a value to which they give several names has all of them."""
    found: dict[int, tuple[str, dict[int, str]]] = {}
    for run in runs:
        for type_, (label, values) in run.event_labels.items():
            known = found.setdefault(type_, (label, {}))[1]
            for value, name in values.items():
                names = known[value].split(" / ") if value in known else []
                known[value] = " / ".join(dict.fromkeys([*names, name]))
    return found
