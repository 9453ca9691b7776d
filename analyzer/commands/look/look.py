"""`analyze FILE`: the first look, and the files that other tools read."""

from __future__ import annotations

from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Opens, Output, command
from analyzer.commands.shared.conditions import Conditions, condition_options
from analyzer.commands.shared.picture import Drawing
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import files_read, is_imported, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.report.look.summary import Summary
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice


@command(
    "First look: where time went. Writes files for other tools.",
    opens=Opens(remarks=""),
    iterations="region",
    ranks=Chooses(),
    place=Chooses("the tables of calls, places, collectives, windows and messages; no files are written"),
    repair=True,
    picture=True,
    output="Name of the files, without ending, or a folder for them.",
    json=1,
    alone=Alone("one process joins the parts of the .prv", 8),
)
@click.option("--no-files", is_flag=True, help="Write no files.")
@condition_options
def look(
    session: Session,
    trace: Trace,
    no_files: bool,
    place: PlaceChoice | None,
    conditions: Conditions,
    output: str | None,
    force: bool,
) -> Output:
    """Print a first look at FILE, and write NAME.prv, .pcf, .row and .dim beside it.

    FILE is {formats}. For a Paraver trace only the .dim is written, for a Dimemas trace nothing. With -o the other
    files are written, too. With --ranks or --cluster no .dim is written, because a replay needs all ranks and all their
    bursts. With --no-files, --place, --iteration or --region no file at all is written.
    """
    from analyzer.report.look.first_look import print_files
    from analyzer.results.summary import compute

    if no_files and output:
        raise click.UsageError("--no-files cannot be used with -o")
    conditions.check_files(files_read(trace))
    result = compute(trace, session.team, place=place, step=session.step)
    summary = result._summary
    if not (session.quiet or session.as_json):
        session.print(result.print)
    writes = not (no_files or place or session.wanted)
    failure, written, notes = _write_all(trace, session.file, output, force, session) if writes else (None, [], [])

    def finish() -> None:
        if failure:
            raise failure
        _judge(session, summary, conditions)

    main = summary.structure.main if summary.structure else None
    return Output(
        lambda: result.to_dict() | ({} if no_files else {"files": [str(path) for path in written]}),
        lambda console: None if no_files else print_files(written, _next(written), notes, console),
        Drawing(
            calls=summary.profile,
            computed=summary.useful,
            waited=summary.waits,
            iterations=main.iterations if main else None,
        ),
        then=finish,
    )


def _judge(session: Session, summary: Summary, conditions: Conditions) -> None:
    from analyzer.report.badge import of_efficiency
    from analyzer.report.look.as_json import summary_json

    if not conditions.asked:
        return
    data, parallel = summary_json(summary), summary.efficiency.parallel_efficiency
    conditions.judge(session, data, data["efficiency"] | {"efficiency": parallel}, lambda: of_efficiency(parallel))


def _write_all(
    trace: Trace, file: str, output: str | None, force: bool, session: Session
) -> tuple[TracelibError | None, list[Path], list[str]]:
    """Write the derived files. An error is returned, not raised: the look is printed all the same."""
    from analyzer.results.write_traces import dimemas_notes, write_dimemas, write_paraver
    from analyzer.trace.trace import NOT_KNOWN

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
    from analyzer.trace import Chosen

    chosen = trace.extra(Chosen)
    return chosen.ranks is not None or bool(chosen.cluster)


def _next(written: list[Path]) -> str:
    if not written:
        return ""
    prv = [path for path in written if path.suffix == ".prv"]
    line = f"wxparaver {prv[0]}" if prv else f"Dimemas -S 32K {written[0]} MACHINE.cfg"
    return line if which(line.split()[0]) else ""
