"""`analyze replay`: what the run would do on another machine."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.common import Session, check_writable, common_options, output_base
from analyzer.commands.machine_option import lacking_at_once, machine_options, replaying
from analyzer.ending import discard
from analyzer.errors import TracelibError
from analyzer.operations.operation import Program
from analyzer.parallel import Team
from analyzer.replay.machine_cfg import Configuration
from analyzer.replay.predicted import write_predicted
from analyzer.replay.program import program_of
from analyzer.replay.simulate import Prediction, simulate
from analyzer.report.replay import Replayed, print_replay, replay_json
from analyzer.scheduling.closed import closed
from analyzer.sources.opening import open_trace
from analyzer.trace import Trace
from analyzer.what_if.modules import with_modules
from analyzer.writers.whole import temporary_name


@click.command("replay")
@click.argument("file", type=click.Path())
@click.option("--app", "others", type=click.Path(), multiple=True, metavar="FILE", help="Another run beside it.")
@click.option(
    "--repeat", type=click.IntRange(1), metavar="N", help="Who ends begins again, until each has ended N times."
)
@machine_options
@common_options(as_json=True, output="The predicted run: NAME.h5, or NAME.prv with .pcf and .row.")
@click.pass_obj
def replay_command(
    session: Session,
    file: str,
    others: tuple[str, ...],
    repeat: int | None,
    configuration: Configuration,
    output: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Replay FILE on the machine and print the time that it would take there, and where.

    Computation lasts as long as it was traced, divided by the speed of the CPU; what ranks waited for follows from
    the machine's network. Without a machine the network is ideal: no latency, infinite bandwidth.
    """
    session.quiet = quiet
    if output and (others or repeat):
        raise TracelibError("the prediction of several runs at once is not one run", "leave out -o")
    traces = [open_trace(name, session.team) for name in (file, *others)]
    try:
        for trace in traces:
            session.mention_problems(trace)
        with session.step("Replaying"), replaying(traces[0], session.team):
            machine = configuration.machine
            shown, modules = machine.eager_limit is None, configuration.modules
            programs = [with_modules(program_of(trace, buffered=shown), modules) for trace in traces]
            prediction = simulate(programs, machine, times=bool(output), repetitions=repeat or 0)
            together = closed(programs, machine, prediction) if others and repeat else None
            written = _write(traces[0], programs[0], prediction, output, force, session) if output else None
        times = tuple(0 if trace.program else trace.duration_ns for trace in traces)
        lacking = "; ".join(filter(None, map(lacking_at_once, traces)))
        replayed = Replayed((file, *others), times, tuple(programs), prediction, machine, written, together, lacking)
        if as_json:
            session.print_json(replay_json(replayed))
        elif not quiet:
            session.print(lambda console: print_replay(replayed, console))
            if written:
                session.say(f"\nWritten: {written}; next: analyze {written}")
    finally:
        for trace in traces:
            trace.close()


def _write(
    trace: Trace, program: Program, prediction: Prediction, output: str, force: bool, session: Session
) -> Path | None:
    if not session.speaks:
        return None
    base = output_base(Path(trace.path), output, (".prv", ".h5"))
    if output.endswith(".prv"):
        return _write_prv(trace, program, prediction, base, force)
    path = base.with_name(f"{base.name}.h5")
    check_writable(path, trace, force)
    if path.exists() and not force:
        raise TracelibError(f"{path} exists", "name another output, or use --force")
    write_predicted(trace, program, prediction, path, "replay")
    return path


def _write_prv(trace: Trace, program: Program, prediction: Prediction, base: Path, force: bool) -> Path:
    """By way of a temporary run; by one process alone."""
    from analyzer.commands.write import write_paraver

    path, prv = temporary_name(base.with_name(f"{base.name}.h5"), "predicted"), base.with_name(f"{base.name}.prv")
    check_writable(prv, trace, force)
    try:
        write_predicted(trace, program, prediction, path, "replay", called=prv)
        predicted = open_trace(str(path))
        try:
            return write_paraver(predicted, base, Session(Team()), force)[0]
        finally:
            predicted.close()
    finally:
        discard(path)
