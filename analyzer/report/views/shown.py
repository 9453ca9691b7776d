"""Views as their files describe them: computed, printed, and written. Several runs share one picture or one table."""

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
"""Largest number of bins of a picture."""
_NS = 10**9
_PRINTED_BURSTS = 20


@dataclass(frozen=True)
class ViewRequest:
    """Request for a view of one run: the window of time, the bins, and the files to write."""

    begin_ns: int
    end_ns: int | None
    bins: int | None  # number of bins of the longest run; None: by default
    csv: str | None
    picture: str | None
    longest_ns: int  # the longest window of all runs, as bins are equal in all runs

    @property
    def begin_s(self) -> float:
        """Begin of the window in s."""
        return self.begin_ns / _NS

    @property
    def end_s(self) -> float | None:
        """End of the window in s. None: end of the run."""
        return None if self.end_ns is None else self.end_ns / _NS

    def width_ns(self, usual: int) -> int:
        """Return the width of a bin in ns. `usual` is the number of bins of the longest run if the user gave none."""
        return max(-(-self.longest_ns // (self.bins or usual)), 1)


def asked_of(
    spans: Sequence[tuple[int, int | None]], traces: Sequence[Trace], bins: int | None, csv: str | None,
    picture: str | None,
) -> list[ViewRequest]:  # fmt: skip
    """Convert options to a request for each run. All runs have bins of the same width.

    Args:
        spans: Begin and end of each run's window in ns. An end of None is the end of the run.
        traces: The runs.
        bins: Number of bins of the longest run. None: a default.
        csv: CSV file to write. None: none.
        picture: Picture to write. None: none.
    """
    lengths = [
        max((trace.duration_ns if end is None else min(end, trace.duration_ns)) - begin, 0)
        for (begin, end), trace in zip(spans, traces, strict=True)
    ]
    return [ViewRequest(*span, bins, csv, picture, max(lengths)) for span in spans]


def shared_table(runs: Sequence[ViewRun], file: ViewFile, asked: Sequence[ViewRequest]) -> ViewFile:
    """Give several runs common columns of a histogram. The file is returned unchanged if its columns have names."""
    if len(runs) < 2 or file.show != "histogram" or file.table.columns or file.table.partners:
        return file
    columns = api.shared_columns(runs, file, [(one.begin_s, one.end_s) for one in asked])
    return replace(file, table=replace(file.table, columns=columns))


class ShownView:
    """A view of one run, computed as its file describes."""

    def __init__(self, run: ViewRun, file: ViewFile, asked: ViewRequest) -> None:
        """Compute the view.

        Raises:
            TracelibError: The run does not have the data for the view.
        """
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
        """Print the view as tables, after a blank line unless it is the first one."""
        if not first:
            console.print()
        tables.print_title(self.file.view.name, self.file.view.unit_of(), self.file.says, console)
        if self.file.show == "bursts":
            some, more = first_bursts(self._bursts(), _PRINTED_BURSTS)
            tables.print_bursts(self._names, some, more, console)
        else:
            getattr(tables, f"print_{self.file.show}")(self.found, console)

    def json(self) -> dict[str, Any]:
        """Return the view for JSON."""
        view = self.file.view
        head = {"view": view.name, "unit": view.unit_of(), "show": self.file.show}
        if self.file.show == "bursts":
            return {**head, "bursts": data.bursts_json(self._names, self._bursts())}
        return {**head, **getattr(data, f"{self.file.show}_json")(self.found)}

    def lines(self) -> Iterator[Sequence[Any]]:
        """Yield the lines of a CSV file, the header first."""
        if self.file.show == "bursts":
            return data.bursts_csv(self.file.view.name, self._names, self._bursts())
        found: Iterator[Sequence[Any]] = getattr(data, f"{self.file.show}_csv")(self.found)
        return found

    def drawn(self) -> ViewProfile:
        """Return the view over time in BINS bins, for a picture."""
        return self._profile(BINS)

    def _profile(self, bins: int) -> ViewProfile:
        asked = self.asked
        found = over_time.profile(
            self.file.view, self.run, begin_ns=asked.begin_ns, end_ns=asked.end_ns, width_ns=asked.width_ns(bins)
        )
        return self._only(found)

    def _only(self, found: Any) -> Any:
        """Return a result with only the rows that the view file selects."""
        return found if self.file.objects is None else found.only(self._rows_shown(found.level))

    def _rows_shown(self, level: str) -> Any:
        """Return a mask of the rows of a level that the view file selects.

        Raises:
            TracelibError: No row is selected.
        """
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
    """Return a label for each run: its file name, or its whole path if file names are not unique."""
    paths = [str(one.run.trace.path) for one in shown]
    short = [Path(path).name for path in paths]
    return short if len(set(short)) == len(short) else paths


def write_together(shown: Sequence[ShownView], path: Path) -> None:
    """Write a view of all runs to one CSV file. With several runs, the first column names the run.

    Raises:
        TracelibError: The file cannot be written.
    """
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
    """Draw a view of all runs below each other, on one scale of time and of values.

    Raises:
        TracelibError: The picture cannot be written.
    """
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
