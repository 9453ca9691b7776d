"""`analyze limits`: what limits a run on a machine, and the worst network that it tolerates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, command
from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import jobs_option
from analyzer.commands.shared.session import Session
from analyzer.parallel import Team
from analyzer.report.words import units

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.commands.shared.machine_option import MachineChoice
    from analyzer.machine.description import Machine
    from analyzer.report.limits import Limited, Origin
    from analyzer.trace import Trace


@command(
    "What limits the run: network, load, or computation.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--quick", is_flag=True, help="Do not search for the worst network that the run tolerates.")
@jobs_option
@machine_choice
def limits_command(
    session: Session, files: tuple[str, ...], quick: bool, jobs: int | None, choice: MachineChoice
) -> None:
    """Say what limits each FILE: the network, the load, or computation.

    Each FILE is replayed on a machine: without the costs of the network, with latency only, with bandwidth only, with
    both, and with contention for buses and links as well. With several FILEs, the speedup is relative to the first.

    Without a machine, that of the first run is used, as its messages show it (analyze loggp), or an ideal one if they
    do not show it.
    """
    from analyzer.report.limits import limits_json, print_limits

    runs: list[Limited] = []
    for file in files:
        runs.append(_of_file(file, runs[0] if runs else None, choice, quick, jobs, session))
    if session.as_json:
        data = limits_json(runs)
        session.print_json(data if len(data) > 1 else data[0])
    elif not session.quiet:
        session.print(lambda console: print_limits(runs, console))


def _of_file(
    file: str, first: Limited | None, choice: MachineChoice, quick: bool, jobs: int | None, session: Session
) -> Limited:
    from analyzer.commands.shared.machine_option import cpu_time_of, incomplete, replaying
    from analyzer.efficiency.cpu_use import cpus
    from analyzer.metrics.lost_at import lost_at
    from analyzer.operations.program import program_of
    from analyzer.replay.replays import counted
    from analyzer.report.limits import Limited
    from analyzer.report.words.eager import Eager
    from analyzer.report.words.left_out import not_replayed
    from analyzer.sensitivity.limits import limits
    from analyzer.sensitivity.tolerance import tolerance
    from tracelib.schema.procedures import FINALIZE, INIT

    trace = open_wanted(session, file)
    session.mention_problems(trace)
    try:
        with (
            session.step(f"Replaying {file}") as tell,
            counted(lambda done: tell(units.plural(done, "replay"))),
            replaying(trace, session.team),
        ):
            machine, origin = (first.machine, first.origin) if first else _machine(trace, choice, session.team)
            program = program_of(trace, session.team, buffered=machine.eager_limit is None)
            found = limits(program, machine, session.team, jobs)
            bears = None if quick else tolerance(program, machine, session.team, jobs)
            lacking = not_replayed(incomplete(trace, session.team), [program], machine)
            lost = lost_at(trace, session.team, INIT | FINALIZE)
            had, starting_ns = cpus(trace, session.team), _starting_ns(trace, session.team)
        return Limited(
            file=file,
            measured_ns=trace.duration_ns if trace.has_call_times else 0,
            machine=machine,
            origin=origin,
            eager=Eager.of(machine, program),
            found=found,
            tolerance=bears,
            cpu_time=cpu_time_of(trace, program),
            incomplete=lacking,
            cpus=had,
            starting_ns=starting_ns,
            lost_at=lost,
        )
    finally:
        trace.close()


def _starting_ns(trace: Trace, team: Team) -> float:
    """Time in MPI_Init and MPI_Finalize in ns: of the rank, among those that could be read, that is there for the
    shortest time. The others also wait there for ranks that come later, which a replay has."""
    import numpy as np

    from analyzer.efficiency.cpu_use import starts_mpi
    from analyzer.metrics.profile import profile
    from analyzer.trace import Losses
    from tracelib.schema.procedures import FINALIZE

    calls = profile(trace, team)
    chosen = starts_mpi(calls.procedures) | np.array([name in FINALIZE for name in calls.procedures], bool)
    present = np.setdiff1d(np.arange(trace.size), trace.extra(Losses).missing)
    return float(min(calls.inside_ns[present][:, chosen].sum(axis=1), default=0))


def _machine(trace: Trace, choice: MachineChoice, team: Team) -> tuple[Machine, Origin]:
    """The machine and where it is from. Without a known network, an ideal one still shows the program's own limits."""
    from analyzer.report.limits import Origin

    known = choice.known(trace, team)
    if known is None:
        return choice.or_ideal(), Origin.UNKNOWN
    return known, Origin.RUN if choice.own else Origin.NAMED
