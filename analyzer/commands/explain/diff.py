"""`analyze diff`: what changed between two runs, and whether it is more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Command, Output, Refuses, command
from analyzer.commands.shared.conditions import Conditions, condition_options
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.session import Session
from analyzer.results.output_files import check_replaceable

if TYPE_CHECKING:
    from analyzer.differences.figures import RunFigures


class _DiffCommand(Command):
    """A command whose option --against takes all names that follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put --against before each name of the other side, then parse as click does."""
        words, against = [], False
        for word in args:
            if against and not word.startswith("-"):
                words += ["--against", word]
            elif word == "--against":
                against = True
            else:
                words.append(word)
                against = False
        return super().parse_args(ctx, words)


@command(
    "Two runs: what changed, and whether it is more than noise.",
    ranks=Refuses("runs are compared as a whole"),
    place=Refuses("a comparison is of all calls; its tables show the places that changed"),
    json=1,
    kind=_DiffCommand,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="A B | A...")
@click.option(
    "--against",
    type=click.Path(),
    multiple=True,
    metavar="B...",
    help="Runs of the other side: all names up to the next option.",
)
@click.option("--csv", "table", type=click.Path(), metavar="FILE", help="Write the numbers into this .csv file.")
@click.option("-f", "--force", is_flag=True, help="Replace existing files that analyze did not write.")
@condition_options
def diff_command(
    session: Session,
    files: tuple[str, ...],
    against: tuple[str, ...],
    table: str | None,
    force: bool,
    conditions: Conditions,
) -> Output:
    """Say what changed from run A to run B, where, and whether it is more than
    noise.

    \b
    analyze diff A B
    analyze diff A1 A2 A3 --against B1 B2 B3
    """
    from analyzer.atomic_file import whole_file
    from analyzer.differences.noise import DifferenceVerdict
    from analyzer.report.badge import of_change
    from analyzer.report.differences.as_json import condition_names, difference_csv
    from analyzer.results.diff import compare_runs

    first, second = _sides(files, against)
    if table:
        check_replaceable(Path(table), [Path(file) for file in (*first, *second)], force)
    conditions.check_files([Path(file) for file in (*first, *second)], force)
    result = compare_runs(*(_measured(session, side) for side in (first, second)))
    found = result._difference
    if table and session.speaks:
        with whole_file(table) as file:
            file.write(difference_csv(found).encode())
    row = found.run_time

    def judge() -> None:
        more, within = DifferenceVerdict.MORE, DifferenceVerdict.WITHIN
        badge = partial(of_change, row.relative, sure=row.verdict is more, noise=row.verdict is within)
        conditions.judge(session, result.to_dict(), condition_names(found), badge)

    return Output.of(result, then=judge)


def _sides(files: Sequence[str], against: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    if against:
        return files, against
    if len(files) != 2:
        raise click.UsageError("name two runs, or several and the others with --against")
    return files[:1], files[1:]


def _measured(session: Session, files: Sequence[str]) -> list[RunFigures]:
    from analyzer.results.diff import measure_run

    found = []
    for file in files:
        with opened(session, file, whole=True) as trace, session.step(f"Adding up {file}"):
            found.append(measure_run(trace, session.team))
    return found
