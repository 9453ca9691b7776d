"""What `speedup` and `predict` share: options, and measuring several runs one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from analyzer.commands.shared.options import Size
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.speedup.parameters import Parameters


def scaling_options(command: Callable) -> Callable:
    """--region, --scaling and --eager-limit."""
    command = click.option(
        "--eager-limit",
        type=Size(),
        metavar="SIZE",
        help="Sends from this size on wait for their receive on the ideal network [32K, or as the run shows].",
    )(command)
    command = click.option(
        "--scaling", type=click.Choice(["strong", "weak"]), help="Kind of scaling [as the work of the runs shows]."
    )(command)
    return click.option("--region", metavar="NAME", help="Compare the visits of a region.")(command)


def measured(session: Session, files: Sequence[str], region: str | None, eager_limit: int | None) -> list[Parameters]:
    """The parameters of the speedup model of each run. Raises TracelibError."""
    from analyzer.commands.shared.iteration_option import open_wanted
    from analyzer.speedup.parameters import parameters

    found = []
    for file in files:
        trace = open_wanted(session, file, region=region)
        try:
            session.mention_problems(trace)
            with session.step(f"Adding up and replaying {file}"):
                found.append(parameters(trace, session.team, region, eager_limit))
        finally:
            trace.close()
    return found
