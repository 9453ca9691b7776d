"""A Paraver configuration as views and histograms of this package, with notes on what could not be read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.views import function as names
from analyzer.views.paraver.cfg_text import CfgSection, SelectedObjects, read_text
from analyzer.views.paraver.windows import ParaverWindow, UnreadableWindow, described
from analyzer.views.statistics import STATISTICS
from analyzer.views.tabulated import Columns
from analyzer.views.view import Derived, View
from analyzer.views.view_file import ViewFile, ViewTable

_READ = (
    "ControlWindow", "DataWindow", "Statistic", "Parameters", "AnalysisLimits", "ComputeYScale", "Minimum", "Maximum",
    "Delta", "Object",
)  # fmt: skip
_WRONG = (UnreadableWindow, TracelibError, ValueError, OverflowError)
"""Errors for which a window or a histogram is left out. The last two mean a wrong number."""
_PLANE = ("3D_ControlWindow", "3D_ComputeYScale", "3D_Minimum", "3D_Maximum", "3D_Delta", "3D_FixedValue")
_TRUE = "True"
_UNLIMITED = 1e300
"""Limits beyond this number stand for "no limit". Files have several roundings of the largest double."""


@dataclass(frozen=True)
class Cfg:
    """Views and histograms of a Paraver configuration.

    Attributes:
        windows: Every window that could be read.
        files: The histograms of the configuration; without histograms, the windows that are not a part of another
            window.
        notes: One line for each part that was not read.
    """

    windows: tuple[View | Derived, ...]
    files: tuple[ViewFile, ...]
    notes: tuple[str, ...]


def read_cfg(path: str | os.PathLike[str]) -> Cfg:
    """Read a Paraver configuration.

    Raises:
        TracelibError: The file is not a Paraver configuration, or nothing in it can be read.
    """
    text = read_text(Path(path))
    notes = [f"{line!r} is not read" for line in text.others]
    views: dict[int, View | Derived] = {}
    objects: dict[int, SelectedObjects | None] = {}
    used: set[int] = set()
    for number, section in enumerate(text.windows, 1):
        try:
            window = ParaverWindow(section, number)
        except _WRONG as error:
            notes.append(f"window {section.setting('window_name')!r} is left out: {error}")
            continue
        used.update(window.made_of)
        try:
            views[window.id], objects[window.id] = window.view(views), window.objects
        except _WRONG as error:
            notes.append(described(window, error))
        notes += [f"window {window.name!r}: {note} is not read" for note in window.notes]
    files = []
    for section in text.histograms:
        try:
            shown = objects.get(int(section.number("ControlWindow", 0)))
            files.append(replace(_histogram(section, views, notes), objects=shown))
        except _WRONG as error:
            notes.append(f"histogram {section.setting('Name')!r} is left out: {error} cannot be read")
    if not text.histograms:
        files = [ViewFile(view, objects=objects[n]) for n, view in views.items() if n not in used]
    if not files:
        raise TracelibError(f"{path}: nothing of it can be read: {_reason(notes)}")
    return Cfg(tuple(views.values()), tuple(files), _once(notes))


_OF_ONE = re.compile(r"(window|histogram) '(.*)': (.*)")


def _once(notes: list[str]) -> tuple[str, ...]:
    """Join equal notes on different windows into one note that has the number of windows."""
    about: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        found = _OF_ONE.fullmatch(note)
        kind, name, says = found.groups() if found else ("", "", note)
        about.setdefault((kind, says), []).append(name)
    return tuple(_said(kind, names_, says) for (kind, says), names_ in about.items())


def _said(kind: str, of: list[str], says: str) -> str:
    if not kind:
        return says
    return f"{kind} {of[0]!r}: {says}" if len(of) == 1 else f"{len(of)} {kind}s: {says}"


def _reason(notes: list[str]) -> str:
    """Return the first note on a window that is left out, which is often the reason for the later notes."""
    out = [note for note in notes if "is left out" in note] or notes
    more = f", and {len(out) - 1} more" if len(out) > 1 else ""
    return f"{out[0]}{more}" if out else "it has no windows"


def _histogram(section: CfgSection, views: dict[int, View | Derived], notes: list[str]) -> ViewFile:
    name = section.setting("Name")
    known = (*_READ, *_PLANE, *names.HISTOGRAM_SHOWN_ONLY)
    unknown = [one for one in section.settings if one not in known and not one.startswith(names.ALIASES)]
    notes += [f"histogram {name!r}: {one} is not read" for one in unknown]
    if section.setting("AnalysisLimits", "Alltrace") != "Alltrace":
        notes.append(f"histogram {name!r}: its part of the time is not read (give --from and --to)")
    if _limits(section):
        notes.append(f"histogram {name!r}: limits of values and of bursts (Parameters) are not read")
    control = _window(section, "ControlWindow", views)
    data = _window(section, "DataWindow", views) if section.setting("DataWindow") else control
    statistic = section.setting("Statistic", "Time")
    if statistic not in names.STATISTICS:
        raise UnreadableWindow(f"statistic {statistic!r}")
    has_plane = bool(section.setting("3D_ControlWindow"))
    has_planes = bool(section.setting("3D_Delta")) and section.setting("3D_ComputeYScale") != _TRUE
    table = ViewTable(
        control=control,
        statistic=names.STATISTICS[statistic],
        columns=None if section.setting("ComputeYScale", _TRUE) == _TRUE else _columns(section, ""),
        plane=_window(section, "3D_ControlWindow", views) if has_plane else None,
        planes=_columns(section, "3D_") if has_plane and has_planes else None,
        joined=False,
        partners=STATISTICS[names.STATISTICS[statistic]].messages,
    )
    return ViewFile(data, says=name, show="histogram", table=table)


def _limits(section: CfgSection) -> bool:
    """Return True if the histogram limits values, or lengths of bursts to more than 0."""
    given = [float(one) for one in section.setting("Parameters").split()[1:]]
    lengths = [max(one, -_UNLIMITED) if one > 0 else -_UNLIMITED for one in given[2:3]]
    return any(abs(one) < _UNLIMITED for one in (*given[:2], *lengths, *given[3:]))


def _window(section: CfgSection, name: str, views: dict[int, View | Derived]) -> View | Derived:
    number = int(section.number(name, 0))
    if number not in views:
        raise UnreadableWindow(f"{name} {number}")
    return views[number]


def _columns(section: CfgSection, prefix: str) -> Columns:
    low, high, width = (section.number(f"{prefix}{name}", 1.0) for name in ("Minimum", "Maximum", "Delta"))
    return Columns(low, high, width)
