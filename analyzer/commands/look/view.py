"""`analyze view`: ranks over time at any zoom, in a browser; or the numbers of a saved view."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer import signals
from analyzer.commands.shared.options import all_calls_needed, common_options, file_argument, ranks_option
from analyzer.commands.shared.session import Session, remarks
from analyzer.opening import open_trace
from analyzer.temporary import place_of_temporaries

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.live.looked_at import LookedAt
    from analyzer.live.view import View
    from analyzer.trace import Trace
    from analyzer.trace.chosen import Choice


@click.command("view")
@file_argument
@click.option("--view", "saved", type=click.Path(), metavar="TOML", help="Begin with this view, as it was saved.")
@click.option("--print", "as_text", is_flag=True, help="Print the numbers of the view, and serve nothing.")
@click.option("--follow", is_flag=True, help="Read a run that is being written again and again.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Listen there [any free port].")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@ranks_option
@all_calls_needed("the view searches by place")
@common_options(as_json=True)
@click.pass_obj
def view_command(
    session: Session, file: str, saved: str | None, as_text: bool, follow: bool, port: int, no_browser: bool,
    choice: Choice | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Show what the ranks of FILE do over time, at any zoom, in a browser on this
    machine: states, messages, regions, iterations; what is at the pointer; calls
    that are searched for.

    It prints an address and answers there until Ctrl-C. Nobody else on the
    machine or the network can read it. --print and --json print the numbers of
    the view instead: how long rows compute, wait and communicate.
    """
    session.quiet = quiet
    if not session.speaks:
        return
    looked_at = _read(session, file, choice, follow=follow)
    try:
        view = _first_view(saved, looked_at)
        if as_text or as_json:
            _print(session, file, looked_at, view, as_json=as_json)
        else:
            _serve(session, file, looked_at, view if saved else None, port, browser=not no_browser)
    finally:
        looked_at.close()


def _read(session: Session, file: str, choice: Choice | None, *, follow: bool) -> LookedAt:
    from analyzer.live.looked_at import LookedAt
    from analyzer.live.run import Run
    from analyzer.report.words.left_out import arrows_left_out
    from analyzer.structure.live import is_running, place_of
    from analyzer.trace.computing_known import unknown_computing

    def again() -> Trace:
        return open_trace(place_of(Path(file)) if follow else file, choice=choice)

    trace = again()
    try:
        session.mention([*remarks(trace), *unknown_computing(trace), *arrows_left_out(trace)])
        return LookedAt(again, Run(trace, session.step), is_running if follow else None)
    except BaseException:
        trace.close()
        raise


def _first_view(saved: str | None, looked_at: LookedAt) -> View:
    from analyzer.live.view import View, read_view

    run = looked_at.now.run
    duration = run.trace.duration_ns
    view = read_view(saved, duration).within(duration) if saved else View(0, duration)
    run.rows(view.by, view.ranks)  # which may not be there: that is said now
    return view


def _print(session: Session, file: str, looked_at: LookedAt, view: View, *, as_json: bool) -> None:
    from analyzer.live.numbers import numbers
    from analyzer.report.live.numbers import numbers_json, print_numbers

    with session.step("Looking"):
        found = numbers(looked_at.now.run, view, looked_at.now.hits(view.search))
    if as_json:
        session.print_json({"file": file, **numbers_json(found)})
    elif not session.quiet:
        session.print(lambda console: print_numbers(found, console))


def _serve(session: Session, file: str, looked_at: LookedAt, view: View | None, port: int, *, browser: bool) -> None:
    """Until Ctrl-C, which is the usual end and no error."""
    from analyzer.report.live.answers import Answers
    from analyzer.report.live.server import Server

    with Server(Answers(looked_at, file, view), port) as server:
        looked_at.start()
        click.echo(f"{file}: {server.url} (Ctrl-C ends it)")
        way = _open_browser(server.url) if browser and _has_screen() else None
        try:
            server.serve_forever()
        except signals.Ended as end:
            if end.number != signal.SIGINT:
                raise
            session.say(f"{file}: the view has ended")
        finally:
            if way:
                signals.discard(way)


def _open_browser(url: str) -> Path:
    """By a file that only this user can read: the command line of a browser is seen by all users of the machine."""
    number, name = tempfile.mkstemp(".html", "analyze-view-", place_of_temporaries())
    way = signals.temporary(Path(name))
    with os.fdopen(number, "w") as file:
        file.write(f'<!doctype html><meta http-equiv=refresh content="0; url={url}"><a href="{url}">analyze view</a>')
    with suppress(webbrowser.Error):
        webbrowser.open(way.as_uri())
    return way


def _has_screen() -> bool:
    """Whether a browser would have a window: one for terminals would take this one."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
