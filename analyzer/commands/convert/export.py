"""`analyze export`: a run for the tools of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Refuses, command
from analyzer.commands.shared.iteration_option import iterations_in, open_wanted
from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.outputs import check_writable, output_base
from analyzer.commands.shared.session import Session
from analyzer.parallel import Team
from analyzer.report.words.units import plural

if TYPE_CHECKING:
    from analyzer.frames.tables import Tables
    from analyzer.trace import Trace

_ENDINGS = {"perfetto": ".pftrace", "chrome": ".json", "parquet": ".parquet", "otf2": ".otf2"}
_TABLES = ("calls", "messages", "regions", "iterations", "waits", "places")
_ITERATIONS = "iterations"


@command(
    "Write a run for Perfetto, Chrome, pandas, R or Vampir.",
    iterations=True,
    ranks=Chooses(),
    place=Refuses("an export has all calls"),
    repair=True,
    output="Name of the files, without ending, or a folder for them.",
    alone=Alone("one process writes the file"),
)
@click.argument("file", type=click.Path())
@click.option(
    "--to",
    "form",
    type=click.Choice(list(_ENDINGS)),
    default="perfetto",
    show_default=True,
    help="Format of the files.",
)
@click.option("--table", "tables", type=click.Choice(_TABLES), multiple=True, help="Parquet: write only this table.")
@rare_option(
    "--iterations",
    "in_iterations",
    is_flag=True,
    help="Parquet: add a table of iterations, and a column of their numbers to the others.",
)
def export_command(
    session: Session,
    file: str,
    form: str,
    tables: tuple[str, ...],
    in_iterations: bool,
    output: str | None,
    force: bool,
) -> None:
    """Write FILE as a file that other tools read.

    perfetto: NAME.pftrace, for ui.perfetto.dev and its SQL. chrome: NAME.json, for chrome://tracing. parquet:
    NAME.calls.parquet and a file for each other table, for pandas, Polars, DuckDB, R. otf2: the folder NAME-otf2 with
    traces.otf2, for Vampir, Scalasca and Cube.
    """
    if (tables or in_iterations) and form != "parquet":
        raise click.UsageError("--table and --iterations are for --to parquet")
    if not tables:
        tables = tuple(name for name in _TABLES if in_iterations or name != _ITERATIONS)
    if session.speaks:
        trace = open_wanted(replace(session, team=Team()), file, repair_ns=session.repair_ns, choice=session.choice)
        session.mention_choice(trace)
        is_part = bool(session.wanted and session.wanted.is_part)
        found = iterations_in(trace, session) if is_part else None
        trace = _shown(trace, session)
        try:
            base = output_base(Path(file), output, (_ENDINGS[form],))
            if form == "parquet":
                from analyzer.frames.tables import Tables

                columns = Tables(trace, in_iterations=in_iterations, iterations=found)
                _write_tables(trace, columns, base, tables, session, force)
            elif form == "otf2":
                _write_archive(trace, base.with_name(f"{base.name}-otf2"), session)
            else:
                _write_timeline(trace, base.with_name(base.name + _ENDINGS[form]), form, session, force)
        finally:
            trace.close()
    session.team.barrier()


def _shown(trace: Trace, session: Session) -> Trace:
    """Choose the trace that is exported; report what stands for something else, and what is left out."""
    from analyzer.report.words.left_out import arrows_left_out
    from analyzer.writers.state_slices import with_slices

    name, shown = Path(trace.path).name, with_slices(trace)
    if shown is not trace:
        session.mention([f"{name}: no MPI calls, so its states and events are written as regions"])
    session.mention(arrows_left_out(trace))
    return shown


def _write_timeline(trace: Trace, path: Path, form: str, session: Session, force: bool) -> None:
    from analyzer.writers.timeline import TimelineFormat, write_timeline

    check_writable(path, trace, force)
    with session.step(f"Writing {path}"):
        written = write_timeline(trace, path, TimelineFormat[form.upper()])
    counts = [plural(written.calls, "call"), plural(written.messages, "message")]
    counts += [plural(written.regions, "visit of a region", "visits of regions")] if written.regions else []
    counts += [plural(written.events, "event of the program", "events of the program")] if written.events else []
    counts += [plural(written.values, "reading of a counter", "readings of counters")] if written.values else []
    counts += [plural(written.samples, "sample of a node", "samples of nodes")] if written.samples else []
    session.say(f"{path}: {', '.join(counts)}")


def _write_tables(
    trace: Trace, tables: Tables, base: Path, names: tuple[str, ...], session: Session, force: bool
) -> None:
    paths = {name: base.with_name(f"{base.name}.{name}.parquet") for name in names}
    for path in paths.values():
        check_writable(path, trace, force)
    for name, path in paths.items():
        with session.step(f"Writing {path}"):
            rows = getattr(tables, name).to_parquet(path)
        session.say(f"{path}: {rows} rows")


def _write_archive(trace: Trace, folder: Path, session: Session) -> None:
    from analyzer.report.words.left_out import tracer_left_out
    from analyzer.writers.otf2 import ANCHOR, write_otf2

    with session.step(f"Writing {folder}"):
        events = write_otf2(trace, folder)
    session.say(f"{folder / ANCHOR}.otf2: {events} events")
    session.mention(tracer_left_out(trace))
