"""Call paths of a Paraver trace, from the events that Extrae writes for the callers at the entry of a call.

Source: Extrae's event types. 70000000 + level is the function at that level of the call stack, 80000000 + level its
line. Level 1 made the call. The labels of the values name function and line ("71 (balance.F90, epoch2d)").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from analyzer.columns.sorted_runs import RankRuns
from analyzer.places import NameCache, PathTables, Places
from analyzer.places.readable_names import readable
from analyzer.sources.paraver.body import TraceBody
from analyzer.sources.paraver.labels import Labels
from analyzer.trace import CallPaths
from analyzer.trace.paraver import FUNCTION_TYPE, LINE_TYPE, MOST_LEVELS, NOT_FOUND, UNRESOLVED, are_callers, level_of
from tracelib.schema import FUNCTION, PATH, PATH_CUT, PATH_IN_FUNCTION, PATH_LOST

AT = np.dtype([("time", "<i8"), ("thread", "<i8"), ("path", "<i8")])
"""Call path of one call: the time (ns) at which the thread entered it, the thread, and the number of the path."""

_LINE = re.compile(r"(\d{1,9}) \((.+?)(?:, [^,]*)?\)")
_SHORTENED = re.compile(r"\S*\.\.\S* \[(.+)\]")
"""Form in which Extrae shows a name that is too long for Paraver's windows."""


class ParaverCallers:
    """Call paths of all ranks, read in one pass when they are first asked for."""

    def __init__(self, body: TraceBody, labels: Labels, windows: Callable[[], np.ndarray]) -> None:
        self._body, self._windows, self._names = body, windows, _Names(labels)
        self._rows: list[tuple[int, int, int]] = [(0, 0, 0)]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._known: dict[bytes, int] = {}  # number of each path, by the values of its events

    def read(self, rank: int, begin: int, end: int) -> np.ndarray:
        """Return the call paths (AT) of a rank's calls that were entered in [begin, end) ns, in order of time."""
        return self._runs.read(rank, begin, end)

    @cached_property
    def tables(self) -> PathTables:
        """Tables of all call paths of the trace."""
        assert self._runs is not None  # this fills the rows
        return PathTables(np.array(self._rows, PATH), PathTables.empty().modules, self._names.table())

    @cached_property
    def _runs(self) -> RankRuns:
        found = RankRuns(AT, "time", self._body.header.size)
        for begin, end in pairwise(self._windows().tolist()):
            events = self._body.events.read(begin, end)
            events = events.compress(are_callers(events["type"]))
            if len(events):
                found.append(*self._paths(events))
        return found

    def _paths(self, events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Convert events of callers (EVENT) to call paths (AT). Also return the rank of each."""
        events = events.take(np.lexsort((events["thread"], events["rank"], events["time"])))
        new = np.ones(len(events), bool)
        new[1:] = np.any([np.diff(events[name]) != 0 for name in ("time", "rank", "thread")], axis=0)
        first, number = np.flatnonzero(new), np.cumsum(new) - 1
        functions, lines = (level_of(events["type"], base) for base in (FUNCTION_TYPE, LINE_TYPE))
        levels = int(max(functions.max(), lines.max())) + 1
        values = np.zeros((len(first), 2, levels), np.int64)
        for side, level in enumerate((functions, lines)):
            there = level >= 0
            values[number[there], side, level[there]] = events["value"][there]
        some, which = np.unique(values.reshape(len(first), -1), axis=0, return_inverse=True)
        paths = np.array([self._path(row.reshape(2, levels)) for row in some], np.int64)
        found = np.zeros(len(first), AT)
        for name in ("time", "thread"):
            found[name] = events[name][first]
        found["path"] = paths[which.ravel()]
        there = found["path"] > 0  # events that only end a path give none
        return found.compress(there), events["rank"][first][there]

    def _path(self, values: np.ndarray) -> int:
        """Return the number of the path with these values, int64 of shape (2, levels): functions, then lines."""
        key = values.tobytes()
        if key not in self._known:
            functions, lines = values.tolist()
            ends = [k for k, value in enumerate(functions) if value in (0, NOT_FOUND)]
            depth = ends[0] if ends else len(functions)
            path = 0 if ends else self._row(0, 0, PATH_CUT)
            for function, line in list(zip(functions, lines, strict=True))[:depth][::-1]:
                path = self._row(path, *self._names.place(function, line))
            self._known[key] = path if depth else 0
        return self._known[key]

    def _row(self, parent: int, module: int, offset: int) -> int:
        key = parent, module, offset
        number = self._numbers.setdefault(key, len(self._rows))
        if number == len(self._rows):
            self._rows.append(key)
        return number

    def close(self) -> None:
        if "_runs" in self.__dict__:
            self._runs.close()


class _Names:
    """Functions and lines by the values of events. Labels of level 1 take precedence over labels of deeper levels."""

    def __init__(self, labels: Labels) -> None:
        self._functions: dict[int, str] = {}
        self._lines: dict[int, str] = {}
        for of, base in ((self._functions, FUNCTION_TYPE), (self._lines, LINE_TYPE)):
            for level in range(MOST_LEVELS, 0, -1):
                of.update(labels.get(base + level, ("", {}))[1])
        self._numbers: dict[tuple[str, str], int] = {("", ""): 0}

    def place(self, function: int, line: int) -> tuple[int, int]:
        """Return the columns `module` and `offset` of PATH for the values of a function and of a line."""
        if function == UNRESOLVED:
            return 0, PATH_LOST
        found = _LINE.fullmatch(self._lines.get(line, "") if line > NOT_FOUND else "")
        number, file = (int(found[1]), found[2]) if found else (0, "")
        label = self._functions.get(function, f"caller {function}")
        shortened = _SHORTENED.fullmatch(label)
        name = readable(shortened[1] if shortened else label, None)
        row = self._numbers.setdefault((name, file if number else ""), len(self._numbers))
        return PATH_IN_FUNCTION | row, number

    def table(self) -> np.ndarray:
        """Return a table like FUNCTION of all names so far. Its names may be longer than in FUNCTION."""
        texts = [tuple(text.encode() for text in names) for names in self._numbers]
        sizes = {name: max(1, *(len(text[k]) for text in texts)) for k, name in enumerate(("name", "file"))}
        rows = np.zeros(
            len(texts), [(n, f"S{sizes[n]}") if n in sizes else (n, FUNCTION[n]) for n in FUNCTION.names or ()]
        )
        rows["name"], rows["file"] = [text[0] for text in texts], [text[1] for text in texts]
        return rows


@dataclass(frozen=True, kw_only=True)
class ParaverCallPaths(CallPaths):
    """Call paths from the events of callers."""

    callers: ParaverCallers
    calls: Callable[[int, int, int | None], Iterator[np.ndarray]]

    @cached_property
    def _named(self) -> Places:
        return Places(self.tables(), NameCache())

    def tables(self) -> PathTables:
        return self.callers.tables

    def named(self) -> Places:
        return self._named

    def of(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for block in self.calls(rank, begin, end) if self.known else ():
            if not len(block):
                yield np.zeros(0, np.int64)
                continue
            found = np.zeros(len(block), np.int64)
            rows = self.callers.read(rank, int(block["enter"].min()), int(block["enter"].max()) + 1)
            for thread in np.unique(rows["thread"]).tolist():
                mine, own = rows.compress(rows["thread"] == thread), np.flatnonzero(block["thread"] == thread)
                at = np.searchsorted(mine["time"], block["enter"][own]).clip(max=len(mine) - 1)
                found[own] = np.where(mine["time"][at] == block["enter"][own], mine["path"][at], 0)
            yield found
