"""Which rows a window of a Paraver configuration shows: the objects that are selected in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.views.lanes import Lanes, Level

_LINE = re.compile(r"(\w+) \{ ?((?:\d{1,9}, ?)*)(\d{1,9}), ?\{([^{}]*)\} ?\}")
_PARENTS = {"appl": 0, "task": 1, "thread": 2, "node": 0}
"""How many objects above are named before the number of objects: an application, and its task."""
_ABOVE = {
    Level.THREAD: ("appl", "task", "thread"), Level.TASK: ("appl", "task"), Level.APPLICATION: ("appl",),
    Level.NODE: ("node",),
}  # fmt: skip
"""The selections that a row of a level needs: its own, and those of what it is in."""


@dataclass(frozen=True)
class Selection:
    """A line `window_object`: of the objects of a level in one above, which are selected."""

    level: str
    parents: tuple[int, ...]  # numbers from 0
    chosen: tuple[bool, ...]


@dataclass(frozen=True)
class Objects:
    """What is selected in a window. A line for more objects than the trace has counts for nothing, as in Paraver."""

    selections: tuple[Selection, ...]

    def shown(self, lanes: Lanes, level: Level) -> np.ndarray:
        """Which rows of a level are shown; bool (rows,)."""
        of_lane = np.ones(len(lanes), bool)
        for selection in self.selections:
            if selection.level in _ABOVE.get(level, ()):
                of_lane &= self._of_lanes(selection, lanes)
        rows = lanes.rows(level)
        found = np.zeros(len(rows), bool)
        np.logical_or.at(found, rows.of_lane, of_lane)
        return found

    def _of_lanes(self, selection: Selection, lanes: Lanes) -> np.ndarray:
        """False for the threads that the line takes out."""
        trace = lanes.trace
        begins = np.concatenate([[0], np.cumsum(trace.origin.applications or (trace.size,))])
        application = np.searchsorted(begins, lanes.rank, side="right") - 1
        task = lanes.rank - begins[application]
        if selection.level == "node":
            inside, number = np.ones(len(lanes), bool), np.asarray(trace.nodes.of_rank)[lanes.rank]
            count = len(trace.nodes.names)
        elif selection.level == "appl":
            inside, number, count = np.ones(len(lanes), bool), application, len(begins) - 1
        elif selection.level == "task":
            inside, number = application == selection.parents[0], task
            count = int(number[inside].max(initial=-1)) + 1
        else:
            inside = (application == selection.parents[0]) & (task == selection.parents[1])
            number, count = lanes.thread, int(lanes.thread[inside].max(initial=-1)) + 1
        if len(selection.chosen) > count:
            return np.ones(len(lanes), bool)
        out = [at for at, chosen in enumerate(selection.chosen) if not chosen]
        return ~(inside & np.isin(number, out))


def objects_of(lines: Sequence[str]) -> tuple[Objects | None, list[str]]:
    """What lines `window_object` select, None: everything; and the lines that are not read."""
    found, others = [], []
    for line in lines:
        matched = _LINE.fullmatch(line)
        parents = tuple(map(int, re.findall(r"\d+", matched[2]))) if matched else ()
        if not matched or len(parents) != _PARENTS.get(matched[1], -1):
            others.append(line)
            continue
        chosen = tuple(one.strip() not in ("0", "None") for one in matched[4].split(","))
        if not all(chosen):
            found.append(Selection(matched[1], parents, chosen[: int(matched[3])]))
    return (Objects(tuple(found)) if found else None), others
