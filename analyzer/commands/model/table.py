"""`analyze table`: one table of the measurements and settings of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Refuses, Result, command
from analyzer.commands.shared.options import LazyChoice, Option, SizeType, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.experiments.formats import check_ending, write_table
from analyzer.results.output_files import check_replaceable

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.experiments.run_factors import RunFactor
    from analyzer.experiments.table import ExperimentTable


class SettingType(click.ParamType):
    """Type of an option: a parameter of runs, and where its value stands. The command gets a `RunFactor`."""

    name = "setting"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> RunFactor:
        from analyzer.experiments.run_factors import RunFactor

        if isinstance(value, RunFactor):
            return value
        try:
            return RunFactor.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Column(click.ParamType):
    """Type of an option: NAME=EXPRESSION. The command gets both as texts."""

    name = "column"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not (name.strip() and equals and text.strip()):
            self.fail(f"{value!r} is not NAME=EXPRESSION, such as cells=n*n", param, ctx)
        return name.strip(), text.strip()


class Names(click.ParamType):
    """Type of an option: names, separated by commas. The command gets a tuple."""

    name = "names"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(name.strip() for name in str(value).split(",") if name.strip())


@command(
    "One table of many runs and their parameters.",
    ranks=Refuses("the rows of a table are of whole runs"),
    place=Refuses("experiments lie between calls from whatever places"),
    output="Write the table into this .csv, .parquet or .xml file.",
    json=1,
)
@click.argument("inputs", type=click.Path(), nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--by",
    type=LazyChoice("analyzer.experiments.groupings", "KINDS"),
    multiple=True,
    help="Make a row for each MPI procedure (call), region, place or cluster.",
)
@click.option(
    "--set",
    "settings",
    cls=Option,
    type=SettingType(),
    multiple=True,
    metavar="NAME=WHERE",
    old=("--parameter",),
    help="Parameter, and where its value stands (ARG2, ARG:-n, FILE:REGEX).",
)
@rare_option("--network", metavar="MODEL", help="Add L, o, O, g and G of this model of analyze loggp.")
@rare_option(
    "--message-size",
    type=SizeType(),
    default="1",
    show_default=True,
    help="With --network: size of the messages in bytes.",
)
@rare_option(
    "--ganglia",
    type=Names(),
    default=(),
    metavar="METRIC,...",
    help="Add these metrics of the node, which the driver Ganglia recorded.",
)
@rare_option(
    "--column",
    "computed",
    type=Column(),
    multiple=True,
    metavar="NAME=EXPR",
    help="Add a column that is computed from others.",
)
@click.option("--where", multiple=True, metavar="EXPR", help="Keep only rows for which this holds, such as 'n > 100'.")
@rare_option(
    "--per",
    type=LazyChoice("analyzer.experiments.table", "LEVELS"),
    help="Make one row for each run or execution, and setting.",
)
@rare_option(
    "--take",
    type=LazyChoice("analyzer.experiments.table", "STATISTICS"),
    default="median",
    show_default=True,
    help="With --per: value that is taken of several rows.",
)
@rare_option(
    "--outliers",
    "rule",
    type=LazyChoice("analyzer.experiments.filters", "RULES"),
    help="Remove outliers among repeated measurements by this rule.",
)
@click.option(
    "--observable",
    metavar="NAME",
    show_default="PAPI_REAL_USEC, else CLOCK, else time",
    help="Column that was measured.",
)
@click.option(
    "--parameters",
    "factors",
    cls=Option,
    type=Names(),
    default=(),
    metavar="NAME,...",
    old=("--factors",),
    show_default="all",
    help="Parameters by which settings differ.",
)
def table_command(
    session: Session,
    inputs: tuple[str, ...],
    by: tuple[str, ...],
    settings: tuple[RunFactor, ...],
    network: str | None,
    message_size: int,
    ganglia: tuple[str, ...],
    computed: tuple[tuple[str, str], ...],
    where: tuple[str, ...],
    per: str | None,
    take: str,
    rule: str | None,
    observable: str | None,
    factors: tuple[str, ...],
    output: str | None,
    force: bool,
) -> Result | None:
    """Make one table of several experiments, for models to be fitted to.

    INPUT is a run, or a table (.csv, .parquet, TIA's .xml). A run gives one row for each execution of a region that
    the program marked, with rank, times, counters and parameters. With --by, no marks are needed: each row is the
    time of a run in one MPI procedure (call) or in the calls of one place in the program (place), with the
    computation before these calls; in one region (region); or in computations that are alike (cluster).

    Columns that not all inputs have are left out.
    """
    from analyzer.experiments.table import ExperimentTableOptions, table
    from analyzer.results.table import TableResult

    if output:
        check_ending(Path(output))
        check_replaceable(Path(output), [Path(name) for name in inputs], force)
    wanted = ExperimentTableOptions(
        by, settings, network or "", message_size, ganglia, computed, where, per or "", take, rule or "",
        observable or "", factors,
    )  # fmt: skip
    with session.step("Reading"):
        found = table(inputs, wanted, session.team)
    if not session.speaks:
        return None
    _mention(session, found)
    name = "" if session.as_json or session.quiet else _observable(found, observable)
    if output:
        write_table(found.frame, Path(output))
    return TableResult(found, name, output, _why_empty(where) if where or not by else "")


def _why_empty(where: Sequence[str]) -> str:
    if where:
        return f"No row is left by --where {' --where '.join(map(repr, where))}."
    return "No region was marked: --by call, place, region or cluster makes rows of any run."


def _mention(session: Session, found: ExperimentTable) -> None:
    """Write a line on standard error for each input that has a fault."""
    first = dict(reversed(found.problems))
    for file, line in first.items() if not session.quiet else ():
        more = sum(name == file for name, _ in found.problems) - 1
        click.echo(f"{Path(file).name}: {line}" + (f" (and {more} more: analyze check)" if more else ""), err=True)


def _observable(found: ExperimentTable, observable: str | None) -> str:
    """Return the name of the column that is summarized.

    Raises:
        TracelibError: There is no such column of numbers.
    """
    from analyzer.experiments.filters import observable_of

    name = observable or observable_of(found.frame)
    if name not in found.frame.columns or found.frame[name].dtype.kind not in "iufb":
        raise TracelibError(f"there is no column {name} of numbers", "name another: --observable NAME")
    return name
