"""`analyze sensitivity`: which parameters of the machine the run's time depends on, and from where on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from analyzer.commands.common import (
    FiniteRange,
    Session,
    check_writable,
    common_options,
    file_argument,
    jobs_option,
    output_base,
)
from analyzer.commands.machine_option import MachineChoice, incomplete, machine_choice, replaying
from analyzer.replay.machine import Machine
from analyzer.replay.program import program_of
from analyzer.report import units
from analyzer.report.eager import Eager
from analyzer.report.sensitivity import Studied, print_sensitivity, sensitivity_json
from analyzer.sensitivity.levels import (
    WITHIN,
    Factor,
    Sweep,
    check_number,
    default_factors,
    default_sweeps,
    factor_of,
    sweep_of,
)
from analyzer.sensitivity.regions import check_regions
from analyzer.sensitivity.replays import counted
from analyzer.sensitivity.study import sensitivity
from analyzer.sources.opening import open_trace
from analyzer.trace import Trace
from analyzer.what_if.blocks import blocks_of_regions

MOST_FACTORS = 12
_ALL = "all"


@click.command("sensitivity")
@file_argument
@click.option(
    "--factor", "factors", multiple=True, metavar="NAME[=LOW..HIGH]", help="One that is varied: latency=1us..5us."
)
@click.option(
    "--within",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=WITHIN,
    show_default=True,
    metavar="SHARE",
    help="Levels of factors without a range, around the machine's value.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="NAME[=LOW..HIGH[:N]]",
    help="One at many values: latency=1us..1ms:13; all: the four.",
)
@jobs_option
@machine_choice
@common_options(as_json=True, output="Name of the picture of the sweeps, without ending, or a folder for it.")
@click.pass_obj
def sensitivity_command(
    session: Session, file: str, factors: tuple[str, ...], within: float, sweeps: tuple[str, ...], jobs: int | None,
    choice: MachineChoice, output: str | None, force: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Replay FILE with each --factor low and high, in all combinations, and say which of them the time depends on:
    influences, which sum to 100 %. Without factors and sweeps: latency, bandwidth, buses, speed.

    With each --sweep, draw the time over one parameter (NAME.sensitivity.png) and name the knee, from which the run is
    5 % longer than at the better end.

    Parameters are latency, bandwidth, buses, links, speed, cpus, eager and others, keys of the machine's TOML such as
    node.0.speed, and region:NAME, how many times as long the computation in a region lasts. All others stay as they
    are. Without a machine it is that of the run, as its messages
    show it (analyze loggp).
    """
    session.quiet = quiet
    trace = open_trace(file, session.team)
    session.mention_problems(trace)
    try:
        with session.step("Finding the run's own network"):
            machine = choice.of(trace, session.team)
        chosen, wanted, left_out = _chosen(factors, sweeps, within, machine, trace.size)
        check_number(chosen, MOST_FACTORS)
        picture = _picture(trace, output, force) if wanted else None
        with (
            session.step("Replaying") as tell,
            counted(lambda done: tell(units.plural(done, "replay"))),
            replaying(trace, session.team),
        ):
            varied = [*(factor.parameter for factor in chosen), *(sweep.parameter for sweep in wanted)]
            divided = check_regions(varied, trace.region_names, file)
            program = program_of(trace, buffered=machine.eager_limit is None)
            replayed = blocks_of_regions(trace, program) if divided else program
            found = sensitivity(replayed, machine, chosen, wanted, session.team, jobs)
        lacking = incomplete(trace, session.team)
        studied = Studied(
            file, 0 if trace.program else trace.duration_ns, Eager.of(machine, program), found, tuple(left_out), lacking
        )
        if picture and session.speaks:
            from analyzer.report.sensitivity_picture import draw_sweeps

            draw_sweeps(studied, picture)
            studied = replace(studied, picture=picture)
        if as_json:
            session.print_json(sensitivity_json(studied))
        elif not quiet:
            session.print(lambda console: print_sensitivity(studied, console))
    finally:
        trace.close()


def _chosen(
    factors: tuple[str, ...], sweeps: tuple[str, ...], within: float, machine: Machine, ranks: int
) -> tuple[list[Factor], list[Sweep], list[str]]:
    """What the options name, the defaults where they name none, and why some of these are left out."""
    chosen = [factor_of(text, machine, within) for text in factors]
    wanted = [sweep_of(text, machine, ranks) for text in sweeps if text != _ALL]
    left_out: list[str] = []
    if not factors and not sweeps:
        chosen, left_out = default_factors(machine, within)
    if _ALL in sweeps:
        defaults, left_out = default_sweeps(machine, ranks)
        wanted += defaults
    return chosen, wanted, left_out


def _picture(trace: Trace, output: str | None, force: bool) -> Path:
    """Where the picture goes. Raises TracelibError where something else is."""
    base = output_base(Path(trace.path), output, (".png",))
    path = base.with_name(f"{base.name}.sensitivity.png")
    check_writable(path, trace, force)
    return path
