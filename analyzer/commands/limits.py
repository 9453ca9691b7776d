"""`analyze limits`: what limits a run on a machine, and how bad a network it bears."""

from __future__ import annotations

import click

from analyzer.commands.common import Session, common_options, jobs_option
from analyzer.commands.machine_option import MachineChoice, incomplete, machine_choice, replaying
from analyzer.metrics.sharing import sharing
from analyzer.parallel import Team
from analyzer.replay.machine import Machine
from analyzer.replay.program import program_of
from analyzer.report import units
from analyzer.report.eager import Eager
from analyzer.report.limits import Limited, Origin, limits_json, print_limits
from analyzer.sensitivity.limits import limits
from analyzer.sensitivity.replays import counted
from analyzer.sensitivity.tolerance import tolerance
from analyzer.sources.opening import open_trace
from analyzer.trace import Trace


@click.command("limits")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--quick", is_flag=True, help="Do not look how bad a network the run bears.")
@jobs_option
@machine_choice
@common_options(as_json=True)
@click.pass_obj
def limits_command(
    session: Session,
    files: tuple[str, ...],
    quick: bool,
    jobs: int | None,
    choice: MachineChoice,
    as_json: bool,
    quiet: bool,
) -> None:
    """Replay each FILE on the machine with none of the network's costs, with latency or bandwidth only, with both, and
    with all, contention for buses and links, too; and say in one sentence what limits it.

    Of several FILEs, the speedup is that of each relative to the first. Without a machine it is that of the first run,
    as its messages show it (analyze loggp), or an ideal one where they do not.
    """
    session.quiet = quiet
    runs: list[Limited] = []
    for file in files:
        runs.append(_of_file(file, runs[0] if runs else None, choice, quick, jobs, session))
    if as_json:
        data = limits_json(runs)
        session.print_json(data if len(data) > 1 else data[0])
    elif not quiet:
        session.print(lambda console: print_limits(runs, console))


def _of_file(
    file: str, first: Limited | None, choice: MachineChoice, quick: bool, jobs: int | None, session: Session
) -> Limited:
    trace = open_trace(file, session.team)
    session.mention_problems(trace)
    try:
        with (
            session.step(f"Replaying {file}") as tell,
            counted(lambda done: tell(units.plural(done, "replay"))),
            replaying(trace, session.team),
        ):
            machine, origin = (first.machine, first.origin) if first else _machine(trace, choice, session.team)
            program = program_of(trace, buffered=machine.eager_limit is None)
            found = limits(program, machine, session.team, jobs)
            bears = None if quick else tolerance(program, machine, session.team, jobs)
            lacking = incomplete(trace, session.team)
        measured_ns = 0 if trace.program else trace.duration_ns
        return Limited(
            file, measured_ns, machine, origin, Eager.of(machine, program), found, bears, lacking, sharing(trace)
        )
    finally:
        trace.close()


def _machine(trace: Trace, choice: MachineChoice, team: Team) -> tuple[Machine, Origin]:
    """What is the program's own can be said without a network, too."""
    known = choice.known(trace, team)
    if known is None:
        return choice.or_ideal(), Origin.UNKNOWN
    return known, Origin.RUN if choice.own else Origin.NAMED
