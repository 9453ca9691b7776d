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
        help="Sends from this size on wait for their receive on the ideal network [32K, or as the run shows].",
    )(command)
    command = click.option(
        "--scaling", type=click.Choice(["strong", "weak"]), help="Kind of scaling [as the work of the runs shows]."
    )(command)
    command = click.option(
        "--whole", is_flag=True, help="Compare from MPI_Init to MPI_Finalize, even if iterations are found."
    )(command)
    command = loop_option(command)
    return click.option("--region", metavar="NAME", help="Compare the visits of a region.")(command)
