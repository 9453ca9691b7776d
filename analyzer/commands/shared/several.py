"""Options of `speedup` and `predict`, which measure several runs."""

from __future__ import annotations

from collections.abc import Callable

import click

from analyzer.commands.shared.iteration_option import loop_option
from analyzer.commands.shared.options import SizeType, rare_option


def scaling_options(command: Callable) -> Callable:
    """Add --region, --loop, --whole, --scaling and --eager-limit."""
    command = rare_option(
        "--eager-limit",
        type=SizeType(),
        metavar="SIZE",
        show_default="32k, or as the run shows",
        help="Size from which sends wait for their receive, such as 32k.",
    )(command)
    command = click.option(
        "--scaling",
        type=click.Choice(["strong", "weak"]),
        show_default="as the work of the runs shows",
        help="Kind of scaling.",
    )(command)
    command = click.option(
        "--whole", is_flag=True, help="Compare the time from MPI_Init to MPI_Finalize, even if there are iterations."
    )(command)
    command = loop_option(command)
    return click.option("--region", metavar="NAME", help="Compare the visits of this region.")(command)
