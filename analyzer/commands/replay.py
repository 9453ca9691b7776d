"""`analyze replay`: what the run would do on another machine."""

from __future__ import annotations

import click

from analyzer.commands.common import Session, common_options
from analyzer.commands.machine_option import lacking_at_once, machine_options, replaying
from analyzer.commands.write_prediction import write_prediction
from analyzer.errors import TracelibError
from analyzer.operations.streams import has_ports
from analyzer.replay.machine_cfg import Configuration
from analyzer.replay.program import program_of
from analyzer.replay.simulate import simulate
from analyzer.report.replay import Replayed, print_replay, replay_json
from analyzer.scheduling.closed import closed
from analyzer.sources.opening import open_trace
from analyzer.what_if.modules import with_modules


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
    if output and repeat:
        raise TracelibError("runs that begin again are not one run", "leave out -o, or --repeat")
    if output and others and not output.endswith(".prv"):
        raise TracelibError("several runs at once are one trace in Paraver only", "name it NAME.prv")
    if output and output.endswith((".dim", ".gz")):
        raise TracelibError(f"a prediction is a .h5 or a .prv, not {output}", "a .dim holds no times: analyze dim FILE")
    traces = [open_trace(name, session.team) for name in (file, *others)]
    try:
        for trace in traces:
            session.mention_problems(trace)
        with session.step("Replaying"), replaying(traces[0], session.team):
            machine = configuration.machine
            shown, modules = machine.eager_limit is None, configuration.modules
            programs = [with_modules(program_of(trace, buffered=shown), modules) for trace in traces]
            prediction = simulate(
                programs,
                machine,
                times=bool(output),
                transfers=(output or "").endswith(".prv"),
                cpu_waits=bool(output),
                repetitions=repeat or 0,
            )
            apart = not any(map(has_ports, programs))  # each could run without the others
            together = closed(programs, machine, prediction) if others and repeat and apart else None
            written = (
                write_prediction(traces, programs, prediction, machine, output, force)
                if output and session.speaks
                else None
            )
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
