"""`analyze validate`: what was predicted from one run against what another one took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, command
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import FiniteRange
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.parallel import Team

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.description import Machine
    from analyzer.replay.section import ReplaySection
    from analyzer.report.validate import ValidatedRun
    from analyzer.report.words.eager import Eager
    from analyzer.results.machine_choice import MachineChoice
    from analyzer.trace import Trace
    from analyzer.validation import PredictedParts


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
) -> None:
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
    from analyzer.report.validate import ValidationReport, print_validation, validation_json

    team = session.team
    other = _open(against, team)
    try:
        session.mention_problems(other)
        machine = choice.of(other, team)
        found, counts, eager = _compare(session, files, other, machine, None if untraced is None else untraced * 1e9)
    finally:
        other.close()
    if not session.speaks:
        return
    validated = ValidationReport(against, untraced is not None, counts, eager, found)
    if session.as_json:
        session.print_json(validation_json(validated))
    elif not session.quiet:
        session.print(lambda console: print_validation(validated, console))


def _compare(
    session: Session, files: tuple[str, ...], other: Trace, machine: Machine, untraced_ns: float | None
) -> tuple[list[ValidatedRun], dict[str, int], Eager]:
    """Compare each run with the other one; also the calls of the other by procedure, and which of its sends wait."""
    from analyzer.replay.section import section_of
    from analyzer.report.validate import ValidatedRun
    from analyzer.report.words.eager import Eager
    from analyzer.report.words.left_out import left_out_lines, left_out_text
    from analyzer.validation import measured_parts, validate

    shown, team = machine.eager_limit is None, session.team
    section = section_of(other, team, buffered=shown)
    measured, counts = measured_parts(other, section, session.team)
    session.mention(left_out_lines([section.program], machine))
    own = _predicted(session, other, section, machine)
    found = []
    for file in files:
        trace = _open(file, session.team)
        try:
            session.mention_problems(trace)
            if trace.size != other.size:
                raise TracelibError(
                    f"the runs have different numbers of ranks: {file} {trace.size}, {other.path} {other.size}",
                    "compare runs with the same number of ranks",
                )
            mine = section_of(trace, team, buffered=shown)
            session.mention(left_out_lines([mine.program], machine))
            as_traced, calls = measured_parts(trace, mine, session.team)
            predicted = _predicted(session, trace, mine, machine)
            found.append(
                ValidatedRun(
                    file,
                    as_traced.total,
                    calls,
                    mine.program.cpu_time,
                    left_out_text(mine.program, machine),
                    validate(predicted, own, measured, untraced_ns),
                )
            )
        finally:
            trace.close()
    return found, counts, Eager.from_replay(machine, section.program)


def _predicted(session: Session, trace: Trace, section: ReplaySection, machine: Machine) -> PredictedParts:
    from analyzer.replay.simulate import simulate
    from analyzer.validation import predicted_parts

    with session.step(f"Replaying {trace.path}"):
        return predicted_parts(trace, section, simulate(section.program, machine, times=True), session.team)


def _open(file: str, team: Team) -> Trace:
    """Open a run that can be replayed and has times. Raises TracelibError."""
    from analyzer.efficiency.ideal import not_whole, obstacle
    from analyzer.metrics.unrecorded import unrecorded
    from analyzer.opening import open_trace

    trace = open_trace(file, team)
    if not trace.has_call_times:
        reason, hint = "it holds no times", "compare with a traced run"
    else:
        missed = unrecorded(trace, team)
        hint = "trace the whole run" if not_whole(trace, missed) else "only one thread of each rank may call MPI"
        reason = obstacle(trace, missed)
    if reason:
        trace.close()
        raise TracelibError(f"{file} cannot be compared: {reason}", hint)
    return trace
