"""`analyze profile`: how many threads compute at each instant of a run, or of its replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Chooses, command
from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.machine_option import machine_if_named
from analyzer.commands.shared.options import file_argument
from analyzer.commands.shared.outputs import check_writable, output_base
from analyzer.commands.shared.session import Session
from analyzer.parallel import Team

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.cfg import MachineConfiguration
    from analyzer.metrics.parallelism import Parallelism
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice

_BINS = 1000


@command(
    "How many threads compute at each instant.",
    iterations=True,
    ranks=Chooses(),
    place=Chooses("the threads in calls by place"),
    output="Name of the files, without ending, or a folder for them.",
    json=1,
)
@file_argument
@click.option(
    "--bins",
    type=click.IntRange(1, 10**7),
    default=_BINS,
    show_default=True,
    metavar="N",
    help="Number of intervals of time.",
)
@click.option(
    "--by", "division", type=click.Choice(("place",)), help="Count threads in calls by the places of the calls, too."
)
@machine_if_named
def profile_command(
    session: Session,
    file: str,
    bins: int,
    division: str | None,
    place: PlaceChoice | None,
    configuration: MachineConfiguration | None,
    output: str | None,
    force: bool,
) -> None:
    """Say how many threads compute at each instant, and when only few do. Write the numbers (NAME.profile.csv) and
    draw them (NAME.profile.png).

    With --machine or any other option of a machine, the profile is that of a replay on this machine. It then also
    shows the messages that wait for links and buses. With --by place, the threads in calls are counted by place, for
    the ten places that take most time; with --place for such places only.
    """
    from analyzer.metrics.parallelism import at_places
    from analyzer.operations.bursts import is_any_measured
    from analyzer.report.profile import ProfileReport, print_profile, profile_json, write_series
    from analyzer.results.machine_choice import replaying
    from analyzer.trace.at_places import PlaceChoice

    if (division or place) and configuration:
        raise click.UsageError("places cannot be shown with a machine: analyze replay --by place shows what changes")
    if session.choice and configuration:
        raise click.UsageError("--ranks cannot be used with a machine, because a replay needs all ranks")
    trace = open_wanted(session, file, choice=session.choice, matched=False)
    session.mention_problems(trace)
    try:
        base = output_base(Path(trace.path), output, (".profile.csv", ".profile.png", ".csv", ".png"))
        paths = tuple(base.with_name(f"{base.name}.profile.{ending}") for ending in ("csv", "png"))
        for path in paths:
            check_writable(path, trace, force)
        with session.step("Replaying" if configuration else "Counting"), replaying(trace, session.team):
            chosen = (place or PlaceChoice.parse("")).paths(trace) if division or place else None
            found, lacking = _found(trace, configuration, bins, session.team)
            if chosen is not None:
                found = at_places(found, trace, session.team, chosen)
        profiled = ProfileReport(
            file=file,
            found=found,
            replayed=configuration is not None or not trace.has_call_times,
            cpu_time=is_any_measured(trace) if trace.has_call_times else None,
            lacking=lacking,
        )
        if session.speaks:
            from analyzer.report.pictures.profile import draw

            write_series(found, paths[0])
            draw(profiled, paths[1])
        if session.as_json:
            session.print_json(profile_json(profiled) | {"written": [str(path) for path in paths]})
        else:
            session.print(lambda console: None if session.quiet else print_profile(profiled, console))
            session.say(f"\nWritten: {', '.join(map(str, paths))}")
    finally:
        trace.close()


def _found(trace: Trace, configuration: MachineConfiguration | None, bins: int, team: Team) -> tuple[Parallelism, str]:
    """Return the profile, and what of the run is missing in it."""
    from analyzer.metrics.parallelism import parallelism
    from analyzer.operations.program import program_of
    from analyzer.replay.parallelism import replayed_parallelism
    from analyzer.report.words.left_out import not_replayed
    from analyzer.results.machine_choice import lacking_at_once
    from analyzer.what_if.modules import with_modules

    if configuration is None:
        return parallelism(trace, team, bins), lacking_at_once(trace)
    machine = configuration.machine
    program = with_modules(program_of(trace, team, buffered=machine.eager_limit is None), configuration.modules)
    return replayed_parallelism(program, machine, bins), not_replayed(lacking_at_once(trace), [program], machine)
