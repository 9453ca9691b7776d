"""`analyze FILE`: the first look, and the files that other tools read."""

from __future__ import annotations

from pathlib import Path
from shutil import which

import click

from analyzer.commands.shared.iteration_option import iteration_option, open_wanted
from analyzer.commands.shared.options import common_options, file_argument, place_option, ranks_option, repair_option
from analyzer.commands.shared.outputs import is_imported, output_base
from analyzer.commands.shared.picture import check_picture, draw_look, picture_option
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.write import dimemas_notes, write_dimemas, write_paraver
from analyzer.errors import TracelibError
from analyzer.report.look.as_json import summary_json
from analyzer.report.look.look import print_files, print_look
from analyzer.report.look.summary import summarize
from analyzer.trace import Chosen, Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.chosen import Choice
from analyzer.trace.trace import NOT_KNOWN


@click.command("look")
@file_argument
@iteration_option
@ranks_option
@place_option
@repair_option
@picture_option
@common_options(as_json=True, output="Name of the files written, without ending, or a folder for them.")
@click.pass_obj
def look(
    session: Session, file: str, choice: Choice | None, place: PlaceChoice | None, repair_ns: int | None,
    picture: str | None, as_json: bool, output: str | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Print a first look at FILE, and write NAME.prv, .pcf, .row and .dim beside it.

    FILE is run.h5, a folder run.ranks, a Paraver trace (.prv, .prv.gz) or a Dimemas trace (.dim). For a Paraver
    trace only the .dim is written, for a Dimemas trace nothing; with -o the other files are written, too. With --ranks
    or --cluster no .dim is written, because a replay needs all ranks and all their bursts, and with --place or
    --iteration no file at all: files have all calls.
    """
    session.quiet = quiet
    trace = open_wanted(session, file, repair_ns=repair_ns, choice=choice)
    try:
        check_picture(picture, trace)
        summary = summarize(trace, session.team, session.step, place)
        if not (quiet or as_json):
            session.print(lambda console: print_look(summary, console))
        is_whole = not place and not session.wanted
        failure, written, notes = _write_all(trace, file, output, force, session) if is_whole else (None, [], [])
        if as_json:
            session.print_json(summary_json(summary) | {"files": [str(path) for path in written]})
        elif not quiet:
            session.print(lambda console: print_files(written, _next(written), notes, console))
        draw_look(session, summary, picture)
        if failure:
            raise failure
    finally:
        trace.close()


def _write_all(
    trace: Trace, file: str, output: str | None, force: bool, session: Session
) -> tuple[TracelibError | None, list[Path], list[str]]:
    """Write the derived files. An error is returned, not raised: the look is printed all the same."""
    base = output_base(Path(file), output, (".prv", ".dim"))
    written: list[Path] = []
    try:
        if output or not is_imported(trace):
            written += write_paraver(trace, base, session, force)
        if not trace.has_call_times or _is_part(trace):
            return None, written, []
        if not trace.origin.has_states:
            return None, written, [f"The .dim: {NOT_KNOWN}."]
        report = write_dimemas(trace, base, session, force)
    except TracelibError as error:
        return error, written, []
    return None, [*written, report.path], dimemas_notes(trace, report)


def _is_part(trace: Trace) -> bool:
    chosen = trace.extra(Chosen)
    return chosen.ranks is not None or bool(chosen.cluster)


def _next(written: list[Path]) -> str:
    if not written:
        return ""
    prv = [path for path in written if path.suffix == ".prv"]
    line = f"wxparaver {prv[0]}" if prv else f"Dimemas -S 32K {written[0]} MACHINE.cfg"
    return line if which(line.split()[0]) else ""
