"""A Paraver configuration as views and histograms of the engine; what cannot be read is named."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from sys import float_info

from analyzer.errors import TracelibError
from analyzer.views import paraver_names as names
from analyzer.views.paraver.cfg_text import CfgSection, read_text
from analyzer.views.paraver.windows import Unreadable, Window, described
from analyzer.views.statistics import STATISTICS
from analyzer.views.tabulated import Columns
from analyzer.views.view import Derived, View
from analyzer.views.view_file import Table, ViewFile

_READ = (
    "ControlWindow", "DataWindow", "Statistic", "Parameters", "AnalysisLimits", "ComputeYScale", "Minimum", "Maximum",
    "Delta", "Object",
)  # fmt: skip
_WRONG = (Unreadable, TracelibError, ValueError, OverflowError)
"""What a window or a histogram is left out for: the last two where a number is none, or is none of a value."""
_PLANE = ("3D_ControlWindow", "3D_ComputeYScale", "3D_Minimum", "3D_Maximum", "3D_Delta", "3D_FixedValue")
_TRUE = "True"


@dataclass(frozen=True)
class Cfg:
    """`windows`: every window that could be read. `files`: what the configuration shows: its histograms; where it has
    none, the windows that no other is made of. `notes`: what is not read, a line for each."""

    windows: tuple[View | Derived, ...]
    files: tuple[ViewFile, ...]
    notes: tuple[str, ...]


def read_cfg(path: str | os.PathLike[str]) -> Cfg:
    """Raises TracelibError where the file is no configuration, or nothing of it can be read."""
    text = read_text(Path(path))
    notes = [f"{line!r} is not read" for line in text.others]
    views: dict[int, View | Derived] = {}
    used: set[int] = set()
    for number, section in enumerate(text.windows, 1):
        try:
            window = Window(section, number)
        except _WRONG as error:
            notes.append(f"window {section.one('window_name')!r} is left out: {error}")
            continue
        used.update(window.made_of)
        try:
            views[window.id] = window.view(views)
        except _WRONG as error:
            notes.append(described(window, error))
        notes += [f"window {window.name!r}: {note} is not read" for note in window.notes]
    files = []
    for section in text.histograms:
        try:
            files.append(_histogram(section, views, notes))
        except _WRONG as error:
            notes.append(f"histogram {section.one('Name')!r} is left out: {error} cannot be read")
    if not text.histograms:
        files = [ViewFile(view) for number, view in views.items() if number not in used]
    if not files:
        raise TracelibError(f"{path}: nothing of it can be read: {'; '.join(notes) or 'it has no windows'}")
    return Cfg(tuple(views.values()), tuple(files), tuple(notes))


def _histogram(section: CfgSection, views: dict[int, View | Derived], notes: list[str]) -> ViewFile:
    name = section.one("Name")
    known = (*_READ, *_PLANE, *names.HISTOGRAM_SHOWN_ONLY)
    unknown = [one for one in section.settings if one not in known and not one.startswith(names.ALIASES)]
    notes += [f"histogram {name!r}: {one} is not read" for one in unknown]
    if section.one("AnalysisLimits", "Alltrace") != "Alltrace":
        notes.append(f"histogram {name!r}: its part of the time is not read (give --from and --to)")
    if any(abs(float(one)) < float_info.max for one in section.one("Parameters").split()[1:]):
        notes.append(f"histogram {name!r}: Parameters are not read")
    control = _window(section, "ControlWindow", views)
    data = _window(section, "DataWindow", views) if section.one("DataWindow") else control
    statistic = section.one("Statistic", "Time")
    if statistic not in names.STATISTICS:
        raise Unreadable(f"statistic {statistic!r}")
    has_plane = bool(section.one("3D_ControlWindow"))
    has_planes = bool(section.one("3D_Delta")) and section.one("3D_ComputeYScale") != _TRUE
    table = Table(
        control=control,
        statistic=names.STATISTICS[statistic],
        columns=None if section.one("ComputeYScale", _TRUE) == _TRUE else _columns(section, ""),
        plane=_window(section, "3D_ControlWindow", views) if has_plane else None,
        planes=_columns(section, "3D_") if has_plane and has_planes else None,
        joined=False,
        partners=STATISTICS[names.STATISTICS[statistic]].messages,
    )
    return ViewFile(data, says=name, show="histogram", table=table)


def _window(section: CfgSection, name: str, views: dict[int, View | Derived]) -> View | Derived:
    number = int(section.number(name, 0))
    if number not in views:
        raise Unreadable(f"{name} {number}")
    return views[number]


def _columns(section: CfgSection, prefix: str) -> Columns:
    low, high, width = (section.number(f"{prefix}{name}", 1.0) for name in ("Minimum", "Maximum", "Delta"))
    return Columns(low, high, width)
