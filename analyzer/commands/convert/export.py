"""`analyze export`: a run for the tools of others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Alone, Chooses, Opens, Refuses, Result, command
from analyzer.commands.shared.options import rare_option
from analyzer.commands.shared.session import Session
from analyzer.results.open_part import iterations_in
from analyzer.results.output_files import output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace import Trace

_ENDINGS = {"perfetto": ".pftrace", "chrome": ".json", "parquet": ".parquet", "otf2": ".otf2"}
_TABLES = ("calls", "messages", "regions", "iterations", "waits", "places")


def _check(session: Session, form: str, tables: tuple[str, ...], in_iterations: bool, **_: object) -> None:
    if (tables or in_iterations) and form != "parquet":
        raise click.UsageError("--table and --iterations are for --to parquet")


@command(
    "Write a run for Perfetto, Chrome, pandas, R or Vampir.",
    opens=Opens(remarks="ranks", check=_check),
    iterations=True,
    ranks=Chooses(),
    place=Refuses("an export has all calls"),
    repair=True,
    output="Name of the files, without ending, or a folder for them.",
    alone=Alone("one process writes the file", all_work=True),
)
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
    help="Parquet: add a table of iterations, and to the other tables a column with the number of the iteration.",
)
def export_command(
    session: Session,
    trace: Trace,
    form: str,
    tables: tuple[str, ...],
    in_iterations: bool,
    output: str | None,
    force: bool,
) -> Result:
    """Write FILE as a file that other tools read.

    perfetto: NAME.pftrace, for ui.perfetto.dev and its SQL. chrome: NAME.json, for chrome://tracing. parquet:
    NAME.calls.parquet and a file for each other table, for pandas, Polars, DuckDB, R. otf2: the folder NAME-otf2 with
    traces.otf2, for Vampir, Scalasca and Cube.
    """
    from analyzer.results.export import export
    from analyzer.results.written_files import FilesResult

    is_part = bool(session.wanted and session.wanted.is_part)
    found = iterations_in(trace, session) if is_part else None
    base = output_base(Path(session.file), output, (_ENDINGS[form],))
    written = list(
        export(trace, base, form, session, tables=tables, in_iterations=in_iterations, iterations=found, force=force)
    )
    return FilesResult([path for path, _ in written], [f"{path}: {content}" for path, content in written])
