"""`analyze views`: Paraver's windows and histograms as tables, pictures and data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Refuses, command
from analyzer.commands.look.what import At
from analyzer.commands.shared.iteration_option import wanted_windows
from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.outputs import check_writable
from analyzer.commands.shared.session import Session, remarks
from analyzer.errors import TracelibError
from analyzer.parallel import Team

if TYPE_CHECKING:  # numpy takes as long to import as click
    from analyzer.report.views.shown import ShownView, ViewRequest
    from analyzer.trace import Trace
    from analyzer.views.view_file import ViewFile

_SHOWS = ("rows", "profile", "histogram", "bursts")
_LEVELS = ("thread", "task", "application", "cpu", "node", "system")


class _Rows(click.Choice):
    """A level, by our word or Paraver's."""

    def convert(self, value: str, param: click.Parameter | None, context: click.Context | None) -> str:
        from analyzer.views import function as names

        return super().convert(names.ROWS.get(value.lower(), value), param, context)


@command(
    "Numbers over time, as Paraver's windows and histograms.",
    iterations=True,
    ranks=Chooses(),
    place=Refuses("the filter of a view has a place"),
    repair=True,
    json=1,
    alone=Alone("one process looks"),
)
@click.argument("files", type=click.Path(), nargs=-1, metavar="[FILE]...")
@click.option("--list", "listed", is_flag=True, help="Print the names of all views.")
@click.option(
    "--view", "names", multiple=True, metavar="NAME|FILE", help="Show this view, by its name or its .toml file."
)
@click.option("--cfg", type=click.Path(), metavar="FILE", help="Show the windows of this Paraver .cfg file.")
@click.option(
    "--show", type=click.Choice(_SHOWS), show_default="as the view says", help="Form in which the view is shown."
)
@rare_option("--level", type=_Rows(_LEVELS), show_default="as the view says", help="Objects that are rows.")
@click.option("--by", metavar="NAME|FILE", help="Show a histogram by the values of this view.")
@rare_option("--statistic", metavar="NAME", help="Statistic of the histogram, such as time, average value, sends.")
@rare_option(
    "--bins", type=click.IntRange(1, 10**6), metavar="N", show_default="20", help="Number of intervals of a profile."
)
@click.option(
    "--from", "begin", type=At(), default=0, metavar="TIME", help="Begin at this time, such as 1.25 (seconds) or 20ms."
)
@click.option("--to", "end", type=At(), metavar="TIME", help="End at this time.")
@click.option("--csv", type=click.Path(dir_okay=False), metavar="FILE", help="Write the numbers into this .csv file.")
@click.option(
    "--picture", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the view into this .png or .svg file."
)
def views_command(
    session: Session,
    files: tuple[str, ...],
    listed: bool,
    names: tuple[str, ...],
    cfg: str | None,
    show: str | None,
    level: str | None,
    by: str | None,
    statistic: str | None,
    bins: int | None,
    begin: int,
    end: int | None,
    csv: str | None,
    picture: str | None,
) -> None:
    """Show what the threads, ranks or nodes of FILE do over time, as one number
    each: a view, as Paraver's windows and histograms are.

    A view is one of the library (--list), a file of a few lines of TOML, or a
    window of a Paraver .cfg file. With --loop or --iteration, times count from when
    the first rank begins there, and end when the last one ends it. Several files are
    shown one after the other; a picture has them below each other, on one scale.
    """
    from analyzer.opening import open_trace

    if listed:
        _print_library(session, as_json=session.as_json)
        return
    if not files or not (names or cfg):
        raise click.UsageError("name a run and a view: analyze views run.h5 --view parallelism; --list has their names")
    if len(names) > 1 and (csv or picture):
        raise click.UsageError("--csv and --picture take one --view")
    if show not in (None, "histogram") and (by or statistic):
        raise click.UsageError("--by and --statistic are for --show histogram")
    if session.speaks:
        from analyzer.report.views.shown import asked_of
        from analyzer.results.views import chosen_view
        from analyzer.trace.trace import unknown_computing
        from analyzer.views.view_file import find_view

        found = [(name, find_view(name)) for name in names]
        found += [(view.view.name, view) for view in _of_cfg(session, cfg)] if cfg else []
        views = [chosen_view(view, name, show, level, by, statistic) for name, view in found]
        if len(views) > 1 and (csv or picture):
            raise click.UsageError(f"--csv and --picture take one view: there are {len(views)}")
        traces: list[Trace] = []
        try:
            for file in files:
                traces.append(open_trace(file, None, session.repair_ns, choice=session.choice))
                session.mention([*remarks(traces[-1]), *unknown_computing(traces[-1])])
            spans = [_between(session, trace, begin, end) for trace in traces]
            _show(session, traces, views, asked_of(spans, traces, bins, csv, picture), as_json=session.as_json)
        finally:
            for trace in traces:
                trace.close()
    session.team.barrier()


def _between(session: Session, trace: Trace, begin: int, end: int | None) -> tuple[int, int | None]:
    """Return the interval that is shown, ns of the trace; None: its end."""
    from analyzer.structure.cut.chosen_iterations import span_of

    windows = wanted_windows(replace(session, team=Team()), trace, "; times count from there")
    if windows is None:
        return begin, end
    first, last = span_of(windows)
    return first + begin, last if end is None else min(first + end, last)


def _of_cfg(session: Session, cfg: str) -> list[ViewFile]:
    """Read the views of a Paraver configuration. Print a note on stderr for each part that is not read."""
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


def _show(
    session: Session, traces: list[Trace], views: list[ViewFile], asked: list[ViewRequest], *, as_json: bool
) -> None:
    """Show the views. asked: options of each trace; the files are the same."""
    from analyzer.report.views.shown import ShownView, shared_table
    from analyzer.views.run import ViewRun

    csv, picture = asked[0].csv, asked[0].picture
    for path, endings in ((csv, (".csv",)), (picture, (".png", ".svg"))):
        if path is not None:
            if Path(path).suffix not in endings:
                raise TracelibError(f"{path}: its name must end in {' or '.join(endings)}", "", 2)
            for trace in traces:
                check_writable(Path(path), trace, force=False)
    runs = [ViewRun(trace) for trace in traces]
    views = [shared_table(runs, view, asked) for view in views]
    shown, data = [], []
    for place, (run, wanted) in enumerate(zip(runs, asked, strict=True)):
        if len(runs) > 1 and not as_json and not session.quiet:
            session.say(f"{chr(10) if place else ''}{run.trace.path}")
        own = []
        for number, view in enumerate(views):
            with session.step(f"Looking at {view.view.name}"):
                shown.append(ShownView(run, view, wanted))
            if as_json:
                own.append(shown[-1].json())
            elif not session.quiet:
                session.print(partial(shown[-1].print, first=not number))
        data.append({"file": run.trace.path, "views": own})
    _write(session, shown, csv, picture, said=not as_json)
    if as_json:
        session.print_json(data[0] if len(data) == 1 else {"runs": data})


def _write(session: Session, shown: list[ShownView], csv: str | None, picture: str | None, *, said: bool) -> None:
    """Write the files that the command line asks for, of one view of all traces."""
    from analyzer.report.views.shown import draw_together, write_together

    for path, write in ((csv, write_together), (picture, draw_together)):
        if path is not None:
            write(shown, Path(path))
            if said:
                session.say(f"\nWritten: {path}")
