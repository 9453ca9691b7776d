"""`analyze views`: what Paraver's windows and histograms show, as tables, pictures and data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.commands.look.what import At
from analyzer.commands.shared.iteration_option import iteration_option, wanted_windows
from analyzer.commands.shared.options import all_calls_needed, common_options, ranks_option, repair_option
from analyzer.commands.shared.outputs import check_writable
from analyzer.commands.shared.session import Session, remarks
from analyzer.errors import TracelibError
from analyzer.opening import open_trace
from analyzer.parallel import Team

if TYPE_CHECKING:  # numpy takes as long to import as click
    from analyzer.trace import Trace
    from analyzer.trace.chosen import Choice
    from analyzer.views.run import Run
    from analyzer.views.view_file import ViewFile

_SHOWS = ("rows", "profile", "histogram", "bursts")
_LEVELS = ("thread", "task", "application", "cpu", "node", "system")
_NS = 10**9
_PRINTED_BURSTS = 20


class _Rows(click.Choice):
    """A level, by our word or Paraver's."""

    def convert(self, value: str, param: click.Parameter | None, context: click.Context | None) -> str:
        from analyzer.views import paraver_names as names

        return super().convert(names.ROWS.get(value.lower(), value), param, context)


@dataclass(frozen=True)
class _Asked:
    """What of a run is looked at, and where it goes."""

    begin_ns: int
    end_ns: int | None
    bins: int | None
    csv: str | None
    picture: str | None

    @property
    def begin_s(self) -> float:
        return self.begin_ns / _NS

    @property
    def end_s(self) -> float | None:
        return None if self.end_ns is None else self.end_ns / _NS


@click.command("views")
@click.argument("file", type=click.Path(), required=False)
@click.option("--list", "listed", is_flag=True, help="Print the names of the views that there are.")
@click.option(
    "--view", "names", multiple=True, metavar="NAME|FILE", help="A view by name, or a .toml file (may be repeated)."
)
@click.option("--cfg", type=click.Path(), metavar="FILE", help="What a .cfg file of Paraver shows.")
@click.option("--show", type=click.Choice(_SHOWS), help="Show it so, and not as the view says.")
@click.option("--level", type=_Rows(_LEVELS), help="Rows are these.")
@click.option("--by", metavar="NAME|FILE", help="A histogram by the values of this view.")
@click.option("--statistic", metavar="NAME", help="Of the histogram: time, average value, sends, ...")
@click.option("--bins", type=click.IntRange(1, 10**6), metavar="N", help="Intervals of a profile [20].")
@click.option("--from", "begin", type=At(), default=0, metavar="T", help="From this moment on: 1.25 (seconds), 20ms.")
@click.option("--to", "end", type=At(), metavar="T", help="Until this one.")
@iteration_option
@click.option("--csv", type=click.Path(dir_okay=False), metavar="FILE", help="Write the numbers into a .csv file.")
@click.option("--picture", type=click.Path(dir_okay=False), metavar="FILE", help="Draw it into a .png or .svg file.")
@ranks_option
@all_calls_needed("the filter of a view has a place")
@repair_option
@common_options(as_json=True)
@click.pass_obj
def views_command(
    session: Session, file: str | None, listed: bool, names: tuple[str, ...], cfg: str | None, show: str | None,
    level: str | None, by: str | None, statistic: str | None, bins: int | None, begin: int, end: int | None,
    csv: str | None, picture: str | None, choice: Choice | None, repair_ns: int | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Show what the threads, ranks or nodes of FILE do over time, as one number
    each: a view, as Paraver's windows and histograms are.

    A view is one of the library (--list), a file of a few lines of TOML, or a
    window of a Paraver .cfg file. With --loop or --iteration, times count from when
    the first rank begins there, and end when the last one ends it.
    """
    session.quiet = quiet
    if listed:
        _print_library(session, as_json=as_json)
        return
    if file is None or not (names or cfg):
        raise click.UsageError("name a run and a view: analyze views run.h5 --view parallelism; --list has their names")
    if len(names) > 1 and (csv or picture):
        raise click.UsageError("--csv and --picture take one --view")
    if show not in (None, "histogram") and (by or statistic):
        raise click.UsageError("--by and --statistic are for --show histogram")
    if session.speaks:
        from analyzer.trace.computing_known import unknown_computing
        from analyzer.views.view_file import find_view

        found = [(name, find_view(name)) for name in names]
        found += [(file.view.name, file) for file in _of_cfg(session, cfg)] if cfg else []
        files = [_chosen(file, name, show, level, by, statistic) for name, file in found]
        if len(files) > 1 and (csv or picture):
            raise click.UsageError(f"--csv and --picture take one view: there are {len(files)}")
        trace = open_trace(file, None, repair_ns, choice=choice)
        try:
            session.mention([*remarks(trace), *unknown_computing(trace)])
            span = _between(session, trace, begin, end)
            _show(session, trace, files, _Asked(*span, bins, csv, picture), as_json=as_json)
        finally:
            trace.close()
    session.team.barrier()


def _between(session: Session, trace: Trace, begin: int, end: int | None) -> tuple[int, int | None]:
    """From when to when is shown, ns of the trace; None: its end."""
    from analyzer.structure.cut.choose import span_of

    windows = wanted_windows(replace(session, team=Team()), trace, "; times count from there")
    if windows is None:
        return begin, end
    first, last = span_of(windows)
    return first + begin, last if end is None else min(first + end, last)


def _of_cfg(session: Session, cfg: str) -> list[ViewFile]:
    """What a configuration shows; what of it is not read is said."""
    from analyzer.views.paraver.cfg import read_cfg

    found = read_cfg(cfg)
    for note in found.notes:
        if not session.quiet:
            click.echo(f"{cfg}: {note}", err=True)
    return list(found.files)


def _print_library(session: Session, *, as_json: bool) -> None:
    from analyzer.report.views.tables import print_library
    from analyzer.views.view_file import library

    known = library()
    if as_json:
        session.print_json(known)
    else:
        session.print(lambda console: print_library(known, console))


def _chosen(
    found: ViewFile, name: str, show: str | None, level: str | None, by: str | None, statistic: str | None
) -> ViewFile:
    """A view as the command line wants it."""
    from analyzer.views.tabulated import PARTNER
    from analyzer.views.view import View
    from analyzer.views.view_file import find_view

    if level and isinstance(found.view, View):
        found = replace(found, view=replace(found.view, level=level))
    elif level:
        raise TracelibError(f"{name}: --level is for a view that is not made of others", "", 2)
    table = found.table
    if by:
        partners = by == PARTNER
        table = replace(table, control=None if partners else find_view(by).view, partners=partners)
    if statistic:
        table = replace(table, statistic=statistic)
    return replace(found, table=table, show=show or ("histogram" if by or statistic else found.show))


def _show(session: Session, trace: Trace, files: list[ViewFile], asked: _Asked, *, as_json: bool) -> None:
    from analyzer.views.run import Run

    for path, endings in ((asked.csv, (".csv",)), (asked.picture, (".png", ".svg"))):
        if path is not None:
            if Path(path).suffix not in endings:
                raise TracelibError(f"{path}: its name must end in {' or '.join(endings)}", "", 2)
            check_writable(Path(path), trace, force=False)
    run = Run(trace)
    data = []
    for number, file in enumerate(files):
        with session.step(f"Looking at {file.view.name}"):
            shown = _Shown(run, file, asked)
        if as_json:
            data.append({"view": file.view.name, "unit": file.view.unit_of(), "show": file.show, **shown.json()})
        elif not session.quiet:
            session.print(partial(shown.print, first=not number))
        shown.write()
    if as_json:
        session.print_json({"file": trace.path, "views": data})
    for path in (asked.csv, asked.picture):
        if path is not None and not as_json:
            session.say(f"\nWritten: {path}")


class _Shown:
    """A view, computed as its file says."""

    def __init__(self, run: Run, file: ViewFile, asked: _Asked) -> None:
        from analyzer.views import api

        self._run, self._file, self._asked = run, file, asked
        begin, end = asked.begin_s, asked.end_s
        self._found: Any = None
        if file.show == "rows":
            self._found = api.measures(run, file.view, file.measures or api.USUAL, begin_s=begin, end_s=end)
        elif file.show == "profile":
            self._found = api.profile(run, file.view, asked.bins or file.bins, begin_s=begin, end_s=end)
        elif file.show == "histogram":
            self._found = api.shown(run, file, begin, end)
        self._found = self._only(self._found)

    def _only(self, found: Any) -> Any:
        """The rows that the view file shows."""
        if self._file.objects is None or found is None:
            return found
        return found.only(self._rows_shown(found.level))

    def _rows_shown(self, level: str) -> Any:
        """Which rows of a level are shown (bool). Raises TracelibError where none is."""
        from analyzer.views.lanes import Level

        shown = self._file.objects.shown(self._run.lanes, Level(level))
        if not shown.any():
            raise TracelibError(f"{self._file.view.name}: its window selects no {level} of this run")
        return shown

    def print(self, console: Any, *, first: bool) -> None:
        """As tables."""
        from analyzer.report.views import tables

        if not first:
            console.print()
        tables.print_title(self._file.view.name, self._file.view.unit_of(), self._file.says, console)
        if self._file.show == "bursts":
            self._print_bursts(console)
        else:
            getattr(tables, f"print_{self._file.show}")(self._found, console)

    def json(self) -> dict[str, Any]:
        """As plain data."""
        from analyzer.report.views import data

        if self._file.show == "bursts":
            return {"bursts": data.bursts_json(self._names, self._bursts())}
        found: dict[str, Any] = getattr(data, f"{self._file.show}_json")(self._found)
        return found

    def write(self) -> None:
        """The files that are asked for."""
        from analyzer.report.views import data

        if self._asked.csv is not None:
            if self._file.show == "bursts":
                lines = data.bursts_csv(self._file.view.name, self._names, self._bursts())
            else:
                lines = getattr(data, f"{self._file.show}_csv")(self._found)
            data.write_csv(lines, Path(self._asked.csv))
        if self._asked.picture is not None:
            self._draw(Path(self._asked.picture))

    def _draw(self, path: Path) -> None:
        from analyzer.report.pictures.views import BINS, draw_histogram, draw_profile
        from analyzer.report.words import units
        from analyzer.views import api

        trace, view = self._run.trace, self._file.view
        title = f"{Path(trace.path).name}: {view.name}, {units.time(trace.duration_ns)}"
        if self._file.show == "histogram":
            draw_histogram(self._found, title, path)
            return
        asked = self._asked
        found = api.profile(self._run, view, asked.bins or BINS, begin_s=asked.begin_s, end_s=asked.end_s)
        draw_profile(self._only(found), title, path)

    @property
    def _names(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self._file.view.rows(self._run).names
        return names

    def _bursts(self) -> Any:
        from analyzer.views.constant import bursts

        every = bursts(self._file.view, self._run, self._asked.begin_ns, self._asked.end_ns)
        if self._file.objects is None:
            return every
        shown = self._rows_shown(self._file.view.rows(self._run).level)
        return (type(some)(*(column[shown[some.row]] for column in some)) for some in every)

    def _print_bursts(self, console: Any) -> None:
        from analyzer.report.views.tables import print_bursts
        from analyzer.views.constant import first_bursts

        some, more = first_bursts(self._bursts(), _PRINTED_BURSTS)
        print_bursts(self._names, some, more, console)
