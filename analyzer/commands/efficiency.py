"""`analyze efficiency`: the POP factors of one run or several."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table

from analyzer.commands.common import Session, common_options, repair_option
from analyzer.metrics.efficiency import Efficiency, efficiency
from analyzer.metrics.flushes import flushes
from analyzer.metrics.unrecorded import unrecorded
from analyzer.metrics.useful import useful
from analyzer.report import units
from analyzer.report.as_json import efficiency_json
from analyzer.sources.opening import open_trace


@click.command("efficiency", short_help="Parallel efficiency and its factors.")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@repair_option
@common_options(as_json=True)
@click.pass_obj
def efficiency_command(
    session: Session, files: tuple[str, ...], repair_ns: int | None, as_json: bool, quiet: bool
) -> None:
    """Print the efficiencies of each FILE.

    \b
    parallel efficiency       mean useful time / runtime
    load balance              mean useful time / largest useful time
    communication efficiency  largest useful time / runtime
    """
    session.quiet = quiet
    results = [(file, *_of_file(file, repair_ns, session)) for file in files]
    if as_json:
        data = [
            {"file": file, "ranks": ranks, "missing": list(missing), **efficiency_json(e)}
            for file, ranks, missing, e in results
        ]
        session.print_json(data if len(data) > 1 else data[0])
    elif not quiet:
        session.print(lambda console: console.print(_table(results)))


def _of_file(file: str, repair_ns: int | None, session: Session) -> tuple[int, tuple[int, ...], Efficiency]:
    trace = open_trace(file, session.team, repair_ns)
    try:
        with session.step(f"Adding up {file}"):
            team = session.team
            factors = efficiency(trace, useful(trace, team), flushes(trace, team), unrecorded(trace, team))
            return trace.size, trace.missing, factors
    finally:
        trace.close()


def _table(results: list[tuple[str, int, tuple[int, ...], Efficiency]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("file", overflow="fold")
    for column in ("ranks", "runtime", "parallel", "load balance", "communication"):
        table.add_column(column, justify="right", no_wrap=True)
    for file, ranks, missing, e in results:
        factors = (e.parallel_efficiency, e.load_balance, e.communication_efficiency)
        texts = ["-" if f is None else units.percent(f) for f in factors]
        number = f"{ranks - len(missing)} of {ranks}" if missing else str(ranks)
        table.add_row(Path(file).name, number, units.time(e.runtime_ns), *texts)
    return table
