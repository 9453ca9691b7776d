"""`analyze limits`: what limits a run on a machine, and the worst network that it tolerates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Result, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import jobs_option
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.report.limits import LimitsReport
    from analyzer.results.machine_choice import MachineChoice


@command(
    "What to improve first: network, load or computation.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--quick", is_flag=True, help="Do not search for the slowest network that the run tolerates.")
@jobs_option
@machine_choice
def limits_command(
    session: Session, files: tuple[str, ...], quick: bool, jobs: int | None, choice: MachineChoice
) -> Result:
    """Say what limits each FILE: the network, the load, or computation.

    Each FILE is replayed on a machine: without the costs of the network, with latency only, with bandwidth only, with
    both, and with contention for buses and links as well. With several FILEs, the speedup is relative to the first.

    Without a machine, latency and bandwidth are taken from the messages of the first run (see analyze loggp). If the
    messages do not show them, the machine is ideal.
    """
    from analyzer.results.limits import LimitsResult, compute_run

    runs: list[LimitsReport] = []
    for file in files:
        with opened(session, file) as trace, session.step(f"Replaying {file}") as tell:
            first = runs[0] if runs else None
            runs.append(compute_run(trace, session.team, choice=choice, quick=quick, jobs=jobs, first=first, tell=tell))
    return LimitsResult(tuple(runs))
