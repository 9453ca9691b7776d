"""A trace with the callers of its MPI calls as events, for Paraver.

Types, values and labels are Extrae's (analyzer.trace.paraver).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from analyzer.places import Places
from analyzer.trace import CALL, EVENT, CallPaths, Trace
from analyzer.trace.annotated import Annotated, Labels
from analyzer.trace.paraver import FUNCTION_TYPE, LINE_TYPE, NOT_FOUND, UNRESOLVED

_FIRST = NOT_FOUND + 1
"""Number that the first function, and the first line, gets as an event value."""


class WithCallers(Annotated):
    """Trace with `levels` levels of callers of each call as events. A trace without callers stays as it is."""

    def __init__(self, trace: Trace, levels: int) -> None:
        self._paths = trace.extra(CallPaths)
        places = self._paths.named() if self._paths.known else CallPaths().named()
        used = np.zeros(len(places.paths), bool)
        self._cpu, names = _cpus(trace), _Names(places)
        for rank in range(trace.size):
            for paths in self._paths.of(rank):
                used[paths] = True
        self._values = np.full((len(used), 2 * levels), NOT_FOUND, np.int64)
        for path in np.flatnonzero(used).tolist():
            found = names.levels(path)[:levels]
            self._values[path, : len(found)] = [function for function, _ in found]
            self._values[path, levels : levels + len(found)] = [line for _, line in found]
        self._types = np.array([base + k for base in (FUNCTION_TYPE, LINE_TYPE) for k in range(1, levels + 1)])
        super().__init__(trace, names.labels(levels) if self._paths.known else {}, self._between)

    def _between(self, begin: int, end: int) -> np.ndarray:
        parts = [np.zeros(0, EVENT)]
        for rank in range(self.size) if self._paths.known else ():
            calls = [np.zeros(0, CALL), *self._trace.calls(rank, begin, end)]
            paths = [np.zeros(0, np.int64), *self._paths.of(rank, begin, end)]
            parts.append(self._events(rank, np.concatenate(calls), np.concatenate(paths)))
        return np.concatenate(parts)

    def _events(self, rank: int, calls: np.ndarray, paths: np.ndarray) -> np.ndarray:
        found = np.zeros((len(calls), len(self._types)), EVENT)
        found["time"], found["thread"] = calls["enter"][:, None], calls["thread"][:, None]
        found["rank"], found["type"], found["value"] = rank, self._types, self._values[paths]
        found["cpu"] = self._cpu[rank, calls["thread"]][:, None]
        return found[paths > 0].ravel()


class _Names:
    """Numbers of functions and lines in the order in which they first occur, with their labels."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._functions: dict[str, int] = {}
        self._lines: dict[str, int] = {}

    def levels(self, path: int) -> list[tuple[int, int]]:
        """Return the numbers of function and line of each level of callers of a path, the innermost first."""
        return [self._numbers(*frame) for frame in self._places.named_frames(path)]

    def _numbers(self, function: str, where: str) -> tuple[int, int]:
        number = self._functions.setdefault(function, _FIRST + len(self._functions)) if function else UNRESOLVED
        if not where:
            return number, UNRESOLVED
        file, _, line = where.rpartition(":")
        return number, self._lines.setdefault(f"{line} ({file})", _FIRST + len(self._lines))

    def labels(self, levels: int) -> Labels:
        """Return the labels of all caller events, for the .pcf file."""
        functions = {0: "End", UNRESOLVED: "Unresolved", NOT_FOUND: "_NOT_Found"}
        lines = {0: "End", UNRESOLVED: "0 (Unresolved)", NOT_FOUND: "0 (_NOT_Found)"}
        functions |= {number: name for name, number in self._functions.items()}
        lines |= {number: name for name, number in self._lines.items()}
        found: Labels = {}
        for k in range(1, levels + 1):
            found[FUNCTION_TYPE + k] = (f"Caller at level {k}", functions)
            found[LINE_TYPE + k] = (f"Caller line at level {k}", lines)
        return found


def _cpus(trace: Trace) -> np.ndarray:
    """Return the CPU on which each thread is first seen, of shape (ranks, threads); 0: unknown."""
    found = np.zeros((trace.size, int(trace.threads.max(initial=1))), np.int32)
    for begin, end in list(pairwise(trace.windows().tolist()))[:1]:
        states = trace.states(begin, end)[::-1]
        found[states["rank"], states["thread"]] = states["cpu"]
    return found
