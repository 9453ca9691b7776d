"""The text of a Paraver configuration (.cfg): windows and histograms with their settings as text.

Source: the tags of version 3.4 of these files, which Paraver's kernel reads and writes. Also the objects (rows) that
are selected in a window.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.views.lanes import Level, ViewLanes

_MAGIC, _HEADER = "#ParaverCFG", ("ConfigFile.", "version ", "number_of_windows ")
"""First line of the format, and the lines with which files of earlier versions may begin instead."""
_DESCRIPTION = ("ConfigFile.BeginDescription", "begin_description"), ("ConfigFile.EndDescription", "end_description")
_WINDOW = "< NEW DISPLAYING WINDOW"
_HISTOGRAM = "< NEW ANALYZER2D >"
_PREFIXES = {"Analyzer2D.": "", "Analyzer3D.": "3D_"}
_ENABLES_ALIASES = "CFG4D_ENABLED"
_MOST_BYTES = 16 << 20
_PAIR = re.compile(r"\{([^{},]+),\s*([^{}]*?)\s*\}")
_INNERMOST = re.compile(r"\{([^{}]*)\}")


@dataclass
class CfgSection:
    """Settings of a window or a histogram, by name, in the order of the file. A setting may have several values."""

    settings: dict[str, list[str]] = field(default_factory=dict)

    def setting(self, name: str, default: str = "") -> str:
        """Return the last value of a setting as text, or `default` if the section does not have the setting."""
        return self.settings.get(name, [default])[-1]

    def pairs(self, name: str) -> dict[str, str]:
        """Parse a setting of pairs, such as `{ 2, { {task, Adding}, {thread, Useful} } }`, to a dictionary.

        A value may itself be `[x,y]`.
        """
        return {key.strip(): value for key, value in _PAIR.findall(self.setting(name))}

    def number(self, name: str, default: float) -> float:
        """Return the last value of a setting as a number.

        Raises:
            TracelibError: The value is not a number.
        """
        text = self.setting(name)
        try:
            return float(text) if text else default
        except ValueError as error:
            raise TracelibError(f"{name} {text!r} is no number") from error


@dataclass(frozen=True)
class CfgText:
    """Contents of a configuration file. `others`: lines that belong to no known section."""

    windows: tuple[CfgSection, ...]
    histograms: tuple[CfgSection, ...]
    others: tuple[str, ...]


def parameters(text: str) -> list[list[float]]:
    """Parse the parameters of a semantic function. Each parameter is a list of values behind their number.

    "{ 2, { 1 5.0, 2 1.0 3.0 } }" gives [5.0] and [1.0, 3.0].

    Raises:
        ValueError: A value is not a number.
    """
    several = (one.split() for inner in _INNERMOST.findall(text) for one in inner.split(","))
    return [[float(value) for value in values[1:]] for values in several if values]


def read_text(path: Path) -> CfgText:
    """Read the sections of a configuration file.

    Raises:
        TracelibError: The file cannot be read, or is not a Paraver configuration.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}") from error
    lines = [line.strip() for line in text.splitlines()]
    if not lines or not lines[0].startswith((_MAGIC, *_HEADER)):
        raise TracelibError(f"{path} is no Paraver configuration: its first line is not {_MAGIC}")
    return _sections(lines)


def _sections(lines: list[str]) -> CfgText:
    windows: list[CfgSection] = []
    histograms: list[CfgSection] = []
    others: list[str] = []
    now: CfgSection | None = None
    described = False
    for line in lines:
        begin, end = _DESCRIPTION
        described = (described or line in begin) and line not in end
        if described or not line or line.startswith(("#", *_HEADER)) or line in (*end, _ENABLES_ALIASES):
            continue
        if line.startswith(_WINDOW):
            windows.append(now := CfgSection())
        elif line.startswith(_HISTOGRAM):
            histograms.append(now := CfgSection())
        elif line.startswith("<"):
            now = None
            others.append(line)
        elif now is not None:
            name, _, value = line.partition(" ")
            now.settings.setdefault(_short(name), []).append(value.strip())
        else:
            others.append(line)
    return CfgText(tuple(windows), tuple(histograms), tuple(others))


def _short(name: str) -> str:
    for prefix, instead in _PREFIXES.items():
        if name.startswith(prefix):
            name = instead + name.removeprefix(prefix)
    return name.removesuffix(":")


_LINE = re.compile(r"(\w+) \{ ?((?:\d{1,9}, ?)*)(\d{1,9}), ?\{([^{}]*)\} ?\}")
_PARENTS = {"appl": 0, "task": 1, "thread": 2, "node": 0}
"""Number of containing objects that a line names first, e.g. 2 for a thread: its application and its task."""
_ABOVE = {
    Level.THREAD: ("appl", "task", "thread"), Level.TASK: ("appl", "task"), Level.APPLICATION: ("appl",),
    Level.NODE: ("node",),
}  # fmt: skip
"""Selections that determine whether a row of a level is shown: of its own level and of the levels that contain it."""


@dataclass(frozen=True)
class ObjectSelection:
    """A line `window_object`: which objects of a level are selected in one object of the level above."""

    level: str
    parents: tuple[int, ...]  # numbers from 0
    chosen: tuple[bool, ...]


@dataclass(frozen=True)
class SelectedObjects:
    """Objects that are selected in a window.

    A line that names more objects than the trace has is ignored, as in Paraver.
    """

    selections: tuple[ObjectSelection, ...]

    def shown(self, lanes: ViewLanes, level: Level) -> np.ndarray:
        """Return a mask of the rows of a level that the window shows, bool of shape (rows,)."""
        of_lane = np.ones(len(lanes), bool)
        for selection in self.selections:
            if selection.level in _ABOVE.get(level, ()):
                of_lane &= self._of_lanes(selection, lanes)
        rows = lanes.rows(level)
        found = np.zeros(len(rows), bool)
        np.logical_or.at(found, rows.of_lane, of_lane)
        return found

    def _of_lanes(self, selection: ObjectSelection, lanes: ViewLanes) -> np.ndarray:
        """Return a mask of lanes that is False for the threads which a selection excludes."""
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


def objects_of(lines: Sequence[str]) -> tuple[SelectedObjects | None, list[str]]:
    """Parse the lines `window_object` of a window.

    Returns:
        The selected objects (None: all objects), and the lines that could not be read.
    """
    found, others = [], []
    for line in lines:
        matched = _LINE.fullmatch(line)
        parents = tuple(map(int, re.findall(r"\d+", matched[2]))) if matched else ()
        if not matched or len(parents) != _PARENTS.get(matched[1], -1):
            others.append(line)
            continue
        chosen = tuple(one.strip() not in ("0", "None") for one in matched[4].split(","))
        if not all(chosen):
            found.append(ObjectSelection(matched[1], parents, chosen[: int(matched[3])]))
    return (SelectedObjects(tuple(found)) if found else None), others
