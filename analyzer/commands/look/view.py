"""`analyze view`: ranks over time at any zoom, in a browser; or the numbers of a saved view."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer import signal_handling
from analyzer.commands.command import Alone, Chooses, Refuses, Result, command
from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.session import Session, remarks

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.live.drawn_views import ViewChoice
    from analyzer.live.selection import DrawRequest, Viewport
    from analyzer.live.session import RunSession
    from analyzer.results.run_views import IntervalResult
    from analyzer.trace import Trace
    from analyzer.trace.chosen import Choice
    from analyzer.views.view_file import ViewFile


@command(
    "See ranks over time in a browser, and zoom in.",
    ranks=Chooses(),
    place=Refuses("the view searches by place"),
    json=1,
    alone=Alone("one process serves"),
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--view", "saved", type=click.Path(), metavar="FILE", help="Begin with this view that was saved (.toml).")
@click.option(
    "--draw",
    "names",
    multiple=True,
    metavar="NAME|FILE",
    help="Draw this: states, the name of a view of analyze views, or its .toml file.",
)
@rare_option("--cfg", type=click.Path(), metavar="FILE", help="Draw the windows of this Paraver .cfg file, too.")
@click.option("--print", "as_text", is_flag=True, help="Print the numbers of the view, and open no browser.")
@click.option("--follow", is_flag=True, help="Follow a run that is still being written.")
@rare_option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    show_default="any free port",
    help="Port to listen at.",
)
@rare_option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
def view_command(
    session: Session,
    files: tuple[str, ...],
    saved: str | None,
    names: tuple[str, ...],
    cfg: str | None,
    as_text: bool,
    follow: bool,
    port: int,
    no_browser: bool,
) -> Result | None:
    """Show what the ranks of FILE do over time, at any zoom, in a browser on this
    machine: states, views, messages, regions, iterations; what is at the pointer;
    calls and values that are searched for. Several files are drawn under each
    other, on one scale.

    It prints an address and answers there until Ctrl-C. Nobody else on the
    machine or the network can read it. --print and --json print the numbers of
    the view instead: how long rows compute, wait and communicate.
    """
    if not session.speaks:
        return None
    given, draws = _draws(session, names, cfg)
    every: list[RunSession] = []
    try:
        for file in files:
            every.append(_read(session, file, session.choice, follow=follow))
        view, views = _first_view(saved, every, draws, given)
        if as_text or session.as_json:
            return _numbers(session, files, every, view, views)
        first = view if saved else _of_the_whole_run(view) if draws else None
        _serve(session, files, every, first, views, port, browser=not no_browser)
        return None
    finally:
        for one in every:
            one.close()


def _draws(session: Session, names: tuple[str, ...], cfg: str | None) -> tuple[dict[str, ViewFile], list[DrawRequest]]:
    """Return the views of files, by name, and what is drawn."""
    from analyzer.live.drawn_views import listed_name
    from analyzer.live.selection import STATES, DrawRequest
    from analyzer.views.paraver.cfg import read_cfg
    from analyzer.views.view_file import ViewFile, find_view

    draws = [DrawRequest(listed_name(name)) for name in names or ((STATES,) if cfg else ())]
    given: dict[str, ViewFile] = {one.view: find_view(one.view) for one in draws if one.view != STATES}
    if cfg:
        found = read_cfg(cfg)
        for note in found.notes:
            if not session.quiet:
                click.echo(f"{cfg}: {note}", err=True)
        given |= {view.name: ViewFile(view) for view in found.windows} | {file.view.name: file for file in found.files}
        draws += [DrawRequest(name) for name in dict.fromkeys(file.view.name for file in found.files)]
    return given, draws


def _read(session: Session, file: str, choice: Choice | None, *, follow: bool) -> RunSession:
    from analyzer.live.run import LiveRun
    from analyzer.live.session import RunSession
    from analyzer.opening import open_trace
    from analyzer.report.words.left_out import arrows_left_out
    from analyzer.structure.live import is_running, place_of
    from analyzer.trace.trace import unknown_computing

    def again() -> Trace:
        return open_trace(place_of(Path(file)) if follow else file, choice=choice)

    trace = again()
    try:
        session.mention([*remarks(trace), *unknown_computing(trace), *arrows_left_out(trace)])
        return RunSession(again, LiveRun(trace, session.step), is_running if follow else None)
    except BaseException:
        trace.close()
        raise


def _first_view(
    saved: str | None, every: list[RunSession], draws: list[DrawRequest], given: dict[str, ViewFile]
) -> tuple[Viewport, ViewChoice]:
    """Return the viewport that is shown first, and the views to choose from, including those that a saved one names."""
    from analyzer.live.drawn_views import ViewChoice, listed_name
    from analyzer.live.selection import STATES, Viewport, read_view
    from analyzer.views.view_file import find_view

    duration = max(one.now.run.trace.duration_ns for one in every)
    view = read_view(saved, duration).within(duration) if saved else Viewport(0, duration)
    if draws:
        view = replace(view, draws=tuple(draws))
    listed = [draw if draw.view in given else replace(draw, view=listed_name(draw.view)) for draw in view.draws]
    view = replace(view, draws=tuple(listed))
    shown = [draw for draw in listed if draw.view != STATES]
    given |= {draw.view: find_view(draw.view) for draw in shown if draw.view not in given}
    views = ViewChoice(given)
    for draw in shown:
        views.find(draw.view, draw.level)  # whose level may be none
    for one in every:
        one.now.run.rows(view.by, view.ranks)  # which may not be there: that is said now
    return view, views


def _of_the_whole_run(view: Viewport) -> Viewport:
    """Return the viewport of the whole run, however long it is when the page is opened."""
    from analyzer.live.selection import FOREVER_NS

    return replace(view, end_ns=FOREVER_NS)


def _numbers(
    session: Session, files: tuple[str, ...], every: list[RunSession], view: Viewport, views: ViewChoice
) -> IntervalResult:
    from analyzer.live.interval_numbers import drawn_numbers, numbers
    from analyzer.results.run_views import IntervalResult

    runs = []
    for file, looked_at in zip(files, every, strict=True):
        now = looked_at.now
        own = view.within(now.run.trace.duration_ns)
        with session.step("Looking"):
            runs.append((file, numbers(now.run, own, now.hits(view.search)), drawn_numbers(now, own, views)))
    return IntervalResult(runs)


def _serve(
    session: Session,
    files: tuple[str, ...],
    every: list[RunSession],
    view: Viewport | None,
    views: ViewChoice,
    port: int,
    *,
    browser: bool,
) -> None:
    """Serve until Ctrl-C, which is the usual end and no error."""
    from analyzer.report.live.answers import LiveAnswers
    from analyzer.report.live.server import LiveRuns, LiveServer

    short = [Path(file).name for file in files]
    labels = short if len(set(short)) == len(short) else files
    runs = LiveRuns([
        LiveAnswers(looked_at, file, view, views, label=label)
        for looked_at, file, label in zip(every, files, labels, strict=True)
    ])  # fmt: skip
    names = ", ".join(files)
    with LiveServer(runs, port) as server:
        for looked_at in every:
            looked_at.start()
        click.echo(f"{names}: {server.url} (Ctrl-C ends it)")
        way = _open_browser(server.url) if browser and _has_screen() else None
        try:
            server.serve_forever()
        except signal_handling.EndRequested as end:
            if end.number != signal.SIGINT:
                raise
            session.say(f"{names}: the view has ended")
        finally:
            if way:
                signal_handling.discard(way)


def _open_browser(url: str) -> Path:
    """Open the browser by a file that only this user can read: all users of the machine see its command line."""
    import tempfile
    import webbrowser

    from analyzer.temporary_files import place_of_temporaries

    number, name = tempfile.mkstemp(".html", "analyze-view-", place_of_temporaries())
    way = signal_handling.temporary(Path(name))
    with os.fdopen(number, "w") as file:
        file.write(f'<!doctype html><meta http-equiv=refresh content="0; url={url}"><a href="{url}">analyze view</a>')
    with suppress(webbrowser.Error):
        webbrowser.open(way.as_uri())
    return way


def _has_screen() -> bool:
    """Return True if a browser would have a window: one for terminals would take this one."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
