"""`analyze validate`: what was predicted from one run against what another one took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Result, command
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import FiniteRange
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.machine_choice import MachineChoice


@command(
    "How good predictions are: compare them with another run.",
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="RUN...")
@click.option("--against", type=click.Path(), required=True, metavar="RUN2", help="Run that is predicted.")
@click.option(
    "--untraced-seconds",
    "untraced",
    type=FiniteRange(0, min_open=True),
    metavar="SECONDS",
    help="Time of RUN2 without the tracer, in seconds.",
)
@machine_choice
def validate_command(
    session: Session, files: tuple[str, ...], against: str, untraced: float | None, choice: MachineChoice
) -> Result:
    """Replay each RUN on the machine of RUN2. Print how much this prediction differs from RUN2, in total and by rank,
    procedure and region, and where the error comes from.

    \b
    error = predicted from RUN - RUN2
    = bursts   predicted from RUN - predicted from RUN2 itself
    + model    predicted from RUN2 itself - RUN2 as traced
    + tracing  RUN2 as traced - without the tracer

    RUN and RUN2 are runs of the same program with the same number of ranks. The time that is compared is that from
    the end of MPI_Init to the begin of MPI_Finalize.
    """
    from analyzer.results.validate import compute

    return compute(session, files, against, choice=choice, untraced_s=untraced)
