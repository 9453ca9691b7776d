"""`analyze replay`: what the run would do on another machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Alone, command
from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.machine_option import machine_options
from analyzer.commands.shared.options import Option
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.shares_option import Distribution, shares_options
from analyzer.commands.shared.write_prediction import write_prediction
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.cfg import MachineConfiguration


@command(
    "How long the run would take on another machine.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    output="Write the predicted run into this .h5 or .prv file.",
    json=1,
    alone=Alone("one process replays"),
)
@click.argument("file", type=click.Path())
@click.option(
    "--app", "others", type=click.Path(), multiple=True, metavar="RUN", help="Replay this run at the same time."
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    metavar="N",
    help="Number of times that each run must end; runs begin again until then.",
)
@click.option(
    "--by",
    "by_place",
    cls=Option,
    old=("--by-place place",),
    type=click.Choice(["place"]),
    help="Show how the time in calls changes by the places of the calls.",
)
@shares_options
@machine_options
def replay_command(
    session: Session,
    file: str,
    others: tuple[str, ...],
    repeat: int | None,
    by_place: str | None,
    distribution: Distribution | None,
    configuration: MachineConfiguration,
    output: str | None,
    force: bool,
) -> None:
    """Replay FILE on a machine. Print how long it would take there, and where the time would go.

    Computation takes as long as in the trace, divided by the speed of the CPU. How long ranks wait follows from the
    network of the machine. Without a machine the network is ideal: no latency, infinite bandwidth.

    With --shares, each rank computes as much as a plan gives it, at the speed that it had in FILE.
    """
    from analyzer.operations.program import program_of
    from analyzer.program.model import has_ports
    from analyzer.replay.by_place import changes_by_place
    from analyzer.replay.simulate import simulate
    from analyzer.report.replay import ReplayReport, print_replay, replay_json
    from analyzer.report.words.left_out import applications_joined, arrows_left_out, not_replayed
    from analyzer.results.machine_choice import lacking_at_once, replaying
    from analyzer.scheduling.sharing import closed
    from analyzer.trace import CallPaths
    from analyzer.what_if.modules import with_modules

    if output and repeat:
        raise TracelibError("one file cannot hold runs that begin again", "leave out -o, or --repeat")
    if output and others and not output.endswith(".prv"):
        raise TracelibError("only a Paraver trace can hold several runs at once", "name the output NAME.prv")
    if output and output.endswith((".dim", ".gz")):
        raise TracelibError(
            f"a prediction is written as .h5 or .prv, not as {output}", "a .dim holds no times: analyze dim FILE"
        )
    if by_place and (others or repeat):
        raise click.UsageError("--by place cannot be used here: it compares one replay with its run")
    traces = [open_wanted(session, name, matched=bool(output)) for name in (file, *others)]
    try:
        for trace in traces:
            session.mention_problems(trace)
            session.mention(arrows_left_out(trace) if output else [])
            session.mention(applications_joined(trace) if output and not output.endswith(".prv") else [])
        if by_place and not traces[0].extra(CallPaths).known:
            raise TracelibError(f"{file} does not say where its calls come from", "record it without TRACELIB_STACK=0")
        with session.step("Replaying"), replaying(traces[0], session.team):
            machine = configuration.machine
            shown, modules = machine.eager_limit is None, configuration.modules
            programs = [with_modules(program_of(trace, session.team, buffered=shown), modules) for trace in traces]
            if distribution:
                if modules:
                    raise TracelibError("the machine's modules and --shares cannot both change the computation")
                programs[0] = distribution.of(traces[0], programs[0])
            prediction = simulate(
                programs,
                machine,
                times=bool(output or by_place),
                transfers=(output or "").endswith(".prv"),
                cpu_waits=bool(output),
                repetitions=repeat or 0,
            )
            apart = not any(map(has_ports, programs))  # each could run without the others
            together = closed(programs, machine, prediction) if others and repeat and apart else None
            changes = changes_by_place(traces[0], programs[0], prediction) if by_place and session.speaks else []
            written = (
                write_prediction(traces, programs, prediction, machine, output, force)
                if output and session.speaks
                else None
            )
        times = tuple(trace.duration_ns if trace.has_call_times else 0 for trace in traces)
        lacking = not_replayed("; ".join(filter(None, map(lacking_at_once, traces))), programs, machine)
        replayed = ReplayReport(
            (file, *others), times, tuple(programs), prediction, machine, written, together, lacking
        )
        if changes:
            replayed = replace(replayed, changes=changes, places=traces[0].extra(CallPaths).named())
        if session.as_json:
            session.print_json(replay_json(replayed))
        elif not session.quiet:
            session.print(lambda console: print_replay(replayed, console))
            if written:
                session.say(f"\nWritten: {written}; next: analyze {written}")
    finally:
        for trace in traces:
            trace.close()
