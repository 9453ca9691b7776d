"""`analyze export`: a run for the tools of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from analyzer.commands.command import Alone, Chooses, Refuses, command
from analyzer.commands.shared.iteration_option import iterations_in, open_wanted
from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.session import Session
from analyzer.parallel import Team

_ENDINGS = {"perfetto": ".pftrace", "chrome": ".json", "parquet": ".parquet", "otf2": ".otf2"}
_TABLES = ("calls", "messages", "regions", "iterations", "waits", "places")


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
    if session.speaks:
        from analyzer.results.export import export

        trace = open_wanted(replace(session, team=Team()), file, repair_ns=session.repair_ns, choice=session.choice)
        session.mention_choice(trace)
        is_part = bool(session.wanted and session.wanted.is_part)
        try:
            found = iterations_in(trace, session) if is_part else None
            base = output_base(Path(file), output, (_ENDINGS[form],))
            for path, content in export(
                trace, base, form, session, tables=tables, in_iterations=in_iterations, iterations=found, force=force
            ):
                session.say(f"{path}: {content}")
        finally:
            trace.close()
    session.team.barrier()
