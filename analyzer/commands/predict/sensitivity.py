"""`analyze sensitivity`: which parameters of the machine the run's time depends on, and from which value on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Opens, Result, command
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import FiniteRange, jobs_option
from analyzer.commands.shared.session import Session
from analyzer.results.output_files import check_writable, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.machine_choice import MachineChoice
    from analyzer.trace import Trace

MOST_FACTORS = 12
_ALL = "all"


@command(
    "Which parameters of the machine matter, and how much.",
    opens=Opens(),
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    output="Name of the picture, without ending, or a folder for it.",
    json=1,
)
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="NAME[=LOW..HIGH]",
    help="Parameter to set low and high, such as latency=1us..5us.",
)
@click.option(
    "--within",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="Distance of the two levels from the machine's value, where no range is given.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="NAME[=LOW..HIGH[:N]]",
    help="Parameter to set to many values, such as latency=1us..1ms:13 (all: the usual four).",
)
@jobs_option
@machine_choice
def sensitivity_command(
    session: Session,
    trace: Trace,
    factors: tuple[str, ...],
    within: float,
    sweeps: tuple[str, ...],
    jobs: int | None,
    choice: MachineChoice,
    output: str | None,
    force: bool,
) -> Result:
    """Replay FILE with each --factor low and high, in all combinations. Print the influence of each factor on the
    time; the influences add up to 100 %. Without --factor and --sweep, the factors are latency, bandwidth, buses and
    speed.

    With each --sweep, draw the time over one parameter (NAME.sensitivity.png). Print the knee, the value from which
    on the run is 5 % longer than at the better end.

    Parameters are latency, bandwidth, buses, links, speed, cpus, eager and others, keys of the machine's TOML such as
    node.0.speed, and region:NAME, a factor on the time of the computation in a region. All other parameters stay as
    they are. Without a machine, that of the run is used, as its messages show it (analyze loggp).
    """
    from analyzer.results.sensitivity import compute

    with session.step("Finding the run's own network"):
        machine = choice.of(trace, session.team)
    picture = _picture(trace, output, force) if sweeps else None
    with session.step("Replaying") as tell:
        result = compute(
            trace, session.team, machine=machine, factors=factors, within=within, sweeps=sweeps, jobs=jobs, tell=tell
        )
    if picture and session.speaks:
        from analyzer.report.pictures.sensitivity import draw_sweeps

        draw_sweeps(result._studied, picture)
        result = replace(result, _studied=replace(result._studied, picture=picture))
    return result


def _picture(trace: Trace, output: str | None, force: bool) -> Path:
    """Return the path of the picture. Raises TracelibError if it would replace another file."""
    base = output_base(Path(trace.path), output, (".png",))
    path = base.with_name(f"{base.name}.sensitivity.png")
    check_writable(path, trace, force)
    return path
