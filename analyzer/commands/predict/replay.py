"""`analyze replay`: what the run would do on another machine."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Alone, Output, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.machine_option import machine_options
from analyzer.commands.shared.options import Option
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.shares_option import Distribution, shares_options
from analyzer.commands.shared.write_prediction import write_prediction
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.read_cfg import MachineConfiguration


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
) -> Output:
    """Replay FILE on a machine. Print how long it would take there, and where the time would go.

    Computation takes as long as in the trace, divided by the speed of the CPU. How long ranks wait follows from the
    network of the machine. Without a machine the network is ideal: no latency, infinite bandwidth.

    With --shares, each rank computes as much as a plan gives it, at the speed that it had in FILE.
    """
    from analyzer.report.words.left_out import applications_joined, arrows_left_out
    from analyzer.results.machine_choice import replaying
    from analyzer.results.replay import compute

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
    with ExitStack() as stack:
        traces = [
            stack.enter_context(opened(session, name, matched=bool(output), remarks="")) for name in (file, *others)
        ]
        for trace in traces:
            session.mention_problems(trace)
            session.mention(arrows_left_out(trace) if output else [])
            session.mention(applications_joined(trace) if output and not output.endswith(".prv") else [])
        with session.step("Replaying"), replaying(traces[0], session.team):
            result = compute(
                traces,
                session.team,
                configuration=configuration,
                repeat=repeat,
                by_place=by_place is not None,
                times=bool(output),
                transfers=(output or "").endswith(".prv"),
                share=distribution.of if distribution else None,
            )
            if not output:
                return Output.of(result)
            replayed, written = result._replayed, None
            if session.speaks:
                written = write_prediction(
                    traces, replayed.programs, replayed.prediction, replayed.machine, output, force
                )
    result = replace(result, _replayed=replace(replayed, written=written))
    return Output.of(result, lines=[f"\nWritten: {written}; next: analyze {written}"])
