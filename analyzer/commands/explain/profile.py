"""`analyze profile`: how many threads compute at each instant of a run, or of its replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Chooses, Output, command
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.machine_option import machine_if_named
from analyzer.commands.shared.options import file_argument
from analyzer.commands.shared.session import Session
from analyzer.results.output_files import check_writable, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.read_cfg import MachineConfiguration
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
) -> Output:
    """Say how many threads compute at each instant, and when only few do. Write the numbers (NAME.profile.csv) and
    draw them (NAME.profile.png).

    With --machine or any other option of a machine, the profile is that of a replay on this machine. It then also
    shows the messages that wait for links and buses. With --by place, threads in calls are also counted by place, for
    the ten places with the longest time in calls. --place counts only calls at matching places.
    """
    from analyzer.report.profile import write_series
    from analyzer.results.profile import compute

    if (division or place) and configuration:
        raise click.UsageError("places cannot be shown with a machine: analyze replay --by place shows what changes")
    if session.choice and configuration:
        raise click.UsageError("--ranks cannot be used with a machine, because a replay needs all ranks")
    with opened(session, file, matched=False) as trace:
        base = output_base(Path(trace.path), output, (".profile.csv", ".profile.png", ".csv", ".png"))
        paths = tuple(base.with_name(f"{base.name}.profile.{ending}") for ending in ("csv", "png"))
        for path in paths:
            check_writable(path, trace, force)
        with session.step("Replaying" if configuration else "Counting"):
            result = compute(trace, session.team, bins=bins, by=division, place=place, configuration=configuration)
        if session.speaks:
            from analyzer.report.pictures.profile import draw

            write_series(result._profiled.found, paths[0])
            draw(result._profiled, paths[1])
        names = [str(path) for path in paths]
        return Output.of(result, numbers={"written": names}, lines=[f"\nWritten: {', '.join(names)}"])
