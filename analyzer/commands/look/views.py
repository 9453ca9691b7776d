"""`analyze views`: Paraver's windows and histograms as tables, pictures and data."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Output, Refuses, Result, command
from analyzer.commands.look.what import At
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.open_part import chosen_windows
from analyzer.results.output_files import check_writable

if TYPE_CHECKING:  # numpy takes as long to import as click
    from analyzer.report.views.shown import ViewRequest
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
    alone=Alone("one process looks", all_work=True),
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
) -> Result:
    """Show what the threads, ranks or nodes of FILE do over time, as one number
    each: a view, as Paraver's windows and histograms are.

    A view is one of the library (--list), a file of a few lines of TOML, or a
    window of a Paraver .cfg file. With --loop or --iteration, times count from when
    the first rank begins there, and end when the last one ends it. Several files are
    shown one after the other; a picture has them below each other, on one scale.
    """
    from analyzer.report.views.shown import asked_of
    from analyzer.results.run_views import LibraryResult
    from analyzer.results.views import chosen_view
    from analyzer.trace.trace import unknown_computing
    from analyzer.views.view_file import find_view, library

    if listed:
        return LibraryResult(library())
    if not files or not (names or cfg):
        raise click.UsageError("name a run and a view: analyze views run.h5 --view parallelism; --list has their names")
    if len(names) > 1 and (csv or picture):
        raise click.UsageError("--csv and --picture take one --view")
    if show not in (None, "histogram") and (by or statistic):
        raise click.UsageError("--by and --statistic are for --show histogram")
    found = [(name, find_view(name)) for name in names]
    found += [(view.view.name, view) for view in _of_cfg(session, cfg)] if cfg else []
    views = [chosen_view(view, name, show, level, by, statistic) for name, view in found]
    if len(views) > 1 and (csv or picture):
        raise click.UsageError(f"--csv and --picture take one view: there are {len(views)}")
    stack = ExitStack()
    session.call_on_close(stack.close)
    traces: list[Trace] = []
    for file in files:
        traces.append(stack.enter_context(opened(session, file, whole=True)))
        session.mention(unknown_computing(traces[-1]))
    spans = [_between(session, trace, begin, end) for trace in traces]
    return _shown(session, traces, views, asked_of(spans, traces, bins, csv, picture))


def _between(session: Session, trace: Trace, begin: int, end: int | None) -> tuple[int, int | None]:
    """Return the interval that is shown, ns of the trace; None: its end."""
    from analyzer.structure.cut.chosen_iterations import span_of

    windows = chosen_windows(session, trace, "; times count from there")
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


def _shown(session: Session, traces: list[Trace], views: list[ViewFile], asked: list[ViewRequest]) -> Output:
    """Compute the views, and write the files that the command line asks for, of one view of all traces.

    asked: of each trace; the files are the same.
    """
    from analyzer.report.views.shown import ShownView, draw_together, shared_table, write_together
    from analyzer.results.run_views import RunViewsResult
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
    computed = []
    for run, wanted in zip(runs, asked, strict=True):
        own = []
        for view in views:
            with session.step(f"Looking at {view.view.name}"):
                own.append(ShownView(run, view, wanted))
        computed.append((run.trace.path, own))
    every = [view for _, own in computed for view in own]
    written = [(path, write) for path, write in ((csv, write_together), (picture, draw_together)) if path is not None]
    for path, write in written:
        write(every, Path(path))
    return Output.of(RunViewsResult(computed), lines=[f"\nWritten: {path}" for path, _ in written])
