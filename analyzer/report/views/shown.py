"""Views as their files say: computed, as text, as data; of several runs together as one picture or one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.report.views import data, tables
from analyzer.report.words import units
from analyzer.trace import Trace
from analyzer.views import api, over_time
from analyzer.views.constant import bursts, first_bursts
from analyzer.views.lanes import Level
from analyzer.views.over_time import ViewProfile
from analyzer.views.run import ViewRun
from analyzer.views.view_file import ViewFile

BINS = 1200
"""Number of bins of a picture."""
_NS = 10**9
_PRINTED_BURSTS = 20


@dataclass(frozen=True)
class ViewRequest:
    """Request for a part of a run: its time, its bins, and the files to write."""

    begin_ns: int
    end_ns: int | None
    bins: int | None  # of the longest run
    csv: str | None
    picture: str | None
    longest_ns: int  # how long the longest of all runs is looked at: bins are as long in all of them

    @property
    def begin_s(self) -> float:
        """Seconds of the run."""
        return self.begin_ns / _NS

    @property
    def end_s(self) -> float | None:
        """Seconds of the run; None: its end."""
        return None if self.end_ns is None else self.end_ns / _NS

    def width_ns(self, usual: int) -> int:
        """Return the width of a bin; usual: their number in the longest run if the user gives none."""
        return max(-(-self.longest_ns // (self.bins or usual)), 1)


def asked_of(
    spans: Sequence[tuple[int, int | None]], traces: Sequence[Trace], bins: int | None, csv: str | None,
    picture: str | None,
) -> list[ViewRequest]:  # fmt: skip
    """Convert options to one request for each run, on one scale of time.

    spans: begin and end of the part of each run, ns. An end of None is the end of the run.
    """
    lengths = [
        max((trace.duration_ns if end is None else min(end, trace.duration_ns)) - begin, 0)
        for (begin, end), trace in zip(spans, traces, strict=True)
    ]
    return [ViewRequest(*span, bins, csv, picture, max(lengths)) for span in spans]


def shared_table(runs: Sequence[ViewRun], file: ViewFile, asked: Sequence[ViewRequest]) -> ViewFile:
    """Share a histogram's columns among several runs, unless the columns have names."""
    if len(runs) < 2 or file.show != "histogram" or file.table.columns or file.table.partners:
        return file
    columns = api.shared_columns(runs, file, [(one.begin_s, one.end_s) for one in asked])
    return replace(file, table=replace(file.table, columns=columns))


class ShownView:
    """A view of a run, computed as its file says."""

    def __init__(self, run: ViewRun, file: ViewFile, asked: ViewRequest) -> None:
        """Compute the view. Raises TracelibError if the run does not have the data for it."""
        self.run, self.file, self.asked = run, file, asked
        begin, end = asked.begin_s, asked.end_s
        self.found: Any = None
        if file.show == "rows":
            measures = file.measures or api.USUAL
            self.found = self._only(api.measures(run, file.view, measures, begin_s=begin, end_s=end))
        elif file.show == "profile":
            self.found = self._profile(file.bins)
        elif file.show == "histogram":
            self.found = self._only(api.shown(run, file, begin, end))

    def print(self, console: Console, *, first: bool) -> None:
        """Print it as tables."""
        if not first:
            console.print()
        tables.print_title(self.file.view.name, self.file.view.unit_of(), self.file.says, console)
        if self.file.show == "bursts":
            some, more = first_bursts(self._bursts(), _PRINTED_BURSTS)
            tables.print_bursts(self._names, some, more, console)
        else:
            getattr(tables, f"print_{self.file.show}")(self.found, console)

    def json(self) -> dict[str, Any]:
        """Return it as plain data."""
        view = self.file.view
        head = {"view": view.name, "unit": view.unit_of(), "show": self.file.show}
        if self.file.show == "bursts":
            return {**head, "bursts": data.bursts_json(self._names, self._bursts())}
        return {**head, **getattr(data, f"{self.file.show}_json")(self.found)}

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield the lines of a CSV, the names first."""
        if self.file.show == "bursts":
            return data.bursts_csv(self.file.view.name, self._names, self._bursts())
        found: Iterator[Sequence[Any]] = getattr(data, f"{self.file.show}_csv")(self.found)
        return found

    def drawn(self) -> ViewProfile:
        """Return it over time, for a picture."""
        return self._profile(BINS)

    def _profile(self, bins: int) -> ViewProfile:
        asked = self.asked
        found = over_time.profile(
            self.file.view, self.run, begin_ns=asked.begin_ns, end_ns=asked.end_ns, width_ns=asked.width_ns(bins)
        )
        return self._only(found)

    def _only(self, found: Any) -> Any:
        """Return the rows that the view file shows."""
        return found if self.file.objects is None else found.only(self._rows_shown(found.level))

    def _rows_shown(self, level: str) -> Any:
        """Return a mask of the rows of a level that are shown. Raises TracelibError if there are none."""
        shown = self.file.objects.shown(self.run.lanes, Level(level))
        if not shown.any():
            raise TracelibError(f"{self.file.view.name}: its window selects no {level} of this run")
        return shown

    @property
    def _names(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self.file.view.rows(self.run).names
        return names

    def _bursts(self) -> Any:
        every = bursts(self.file.view, self.run, self.asked.begin_ns, self.asked.end_ns)
        if self.file.objects is None:
            return every
        shown = self._rows_shown(self.file.view.rows(self.run).level)
        return (some.select(shown[some.row]) for some in every)


def labels_of(shown: Sequence[ShownView]) -> list[str]:
    """Name each run by its file, or by the whole path where file names are the same."""
    paths = [str(one.run.trace.path) for one in shown]
    short = [Path(path).name for path in paths]
    return short if len(set(short)) == len(short) else paths


def write_together(shown: Sequence[ShownView], path: Path) -> None:
    """Write a CSV of one view; for several runs the first column has the run. Raises TracelibError."""
    data.write_csv(_lines(shown), path)


def _lines(shown: Sequence[ShownView]) -> Iterator[Sequence[Any]]:
    if len(shown) == 1:
        yield from shown[0].lines()
        return
    for number, (label, one) in enumerate(zip(labels_of(shown), shown, strict=True)):
        for place, line in enumerate(one.lines()):
            if place or not number:
                yield (label if place else "trace", *line)


def draw_together(shown: Sequence[ShownView], path: Path) -> None:
    """Draw one view, the runs below each other on one scale of time and of values. Raises TracelibError."""
    from analyzer.report.pictures.views import draw_histograms, draw_profiles

    labels, view = labels_of(shown), shown[0].file.view
    if len(shown) == 1:
        title = f"{labels[0]}: {view.name}, {units.time(shown[0].run.trace.duration_ns)}"
        labels = [""]
    else:
        unit = view.unit_of()
        title = f"{view.name}{f' ({unit})' if unit else ''} of {len(shown)} runs"
    if shown[0].file.show == "histogram":
        draw_histograms([(label, one.found) for label, one in zip(labels, shown, strict=True)], title, path)
    else:
        draw_profiles([(label, one.drawn()) for label, one in zip(labels, shown, strict=True)], title, path)
