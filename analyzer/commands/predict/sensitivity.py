"""`analyze sensitivity`: which parameters of the machine the run's time depends on, and from which value on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, command
from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.machine_option import machine_choice
from analyzer.commands.shared.options import (
    FiniteRange,
    file_argument,
    jobs_option,
)
from analyzer.commands.shared.outputs import check_writable, output_base
from analyzer.commands.shared.session import Session
from analyzer.report.words import units

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.commands.shared.machine_option import MachineChoice
    from analyzer.machine.description import Machine
    from analyzer.sensitivity.levels import Factor, Sweep
    from analyzer.trace import Trace

MOST_FACTORS = 12
_ALL = "all"


@command(
    "Which parameters of the machine matter, and how much.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    output="Name of the picture of the sweeps, without ending, or a folder for it.",
    json=1,
)
@file_argument
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="NAME[=LOW..HIGH]",
    help="A parameter at two levels: latency=1us..5us.",
)
@click.option(
    "--within",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="Without a range, the levels are this share below and above the machine's value.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="NAME[=LOW..HIGH[:N]]",
    help="A parameter at many values: latency=1us..1ms:13; all: latency, bandwidth, buses, speed.",
)
@jobs_option
@machine_choice
def sensitivity_command(
    session: Session,
    file: str,
    factors: tuple[str, ...],
    within: float,
    sweeps: tuple[str, ...],
    jobs: int | None,
    choice: MachineChoice,
    output: str | None,
    force: bool,
) -> None:
    """Replay FILE with each --factor low and high, in all combinations. Print the influence of each factor on the
    time; the influences add up to 100 %. Without --factor and --sweep, the factors are latency, bandwidth, buses and
    speed.

    With each --sweep, draw the time over one parameter (NAME.sensitivity.png). Print the knee, the value from which
    on the run is 5 % longer than at the better end.

    Parameters are latency, bandwidth, buses, links, speed, cpus, eager and others, keys of the machine's TOML such as
    node.0.speed, and region:NAME, a factor on the time of the computation in a region. All other parameters stay as
    they are. Without a machine, that of the run is used, as its messages show it (analyze loggp).
    """
    from analyzer.commands.shared.machine_option import cpu_time_of, incomplete, replaying
    from analyzer.operations.program import program_of
    from analyzer.replay.replays import counted
    from analyzer.report.sensitivity import Studied, print_sensitivity, sensitivity_json
    from analyzer.report.words.eager import Eager
    from analyzer.report.words.left_out import not_replayed
    from analyzer.sensitivity.levels import check_number, check_regions
    from analyzer.sensitivity.study import sensitivity
    from analyzer.trace import Regions
    from analyzer.what_if.blocks import blocks_of_regions

    trace = open_wanted(session, file)
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
            divided = check_regions(varied, trace.extra(Regions).names, file)
            program = program_of(trace, session.team, buffered=machine.eager_limit is None)
            replayed = blocks_of_regions(trace, program) if divided else program
            found = sensitivity(replayed, machine, chosen, wanted, session.team, jobs)
        lacking = not_replayed(incomplete(trace, session.team), [program], machine)
        studied = Studied(
            file=file,
            measured_ns=trace.duration_ns if trace.has_call_times else 0,
            eager=Eager.of(machine, program),
            found=found,
            left_out=tuple(left_out),
            incomplete=lacking,
            cpu_time=cpu_time_of(trace, program),
        )
        if picture and session.speaks:
            from analyzer.report.pictures.sensitivity import draw_sweeps

            draw_sweeps(studied, picture)
            studied = replace(studied, picture=picture)
        if session.as_json:
            session.print_json(sensitivity_json(studied))
        elif not session.quiet:
            session.print(lambda console: print_sensitivity(studied, console))
    finally:
        trace.close()


def _chosen(
    factors: tuple[str, ...], sweeps: tuple[str, ...], within: float, machine: Machine, ranks: int
) -> tuple[list[Factor], list[Sweep], list[str]]:
    """The factors and sweeps of the options, or the defaults, and why some of the defaults are left out."""
    from analyzer.sensitivity.levels import default_factors, default_sweeps, factor_of, sweep_of

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
    """The path of the picture. Raises TracelibError if it would replace another file."""
    base = output_base(Path(trace.path), output, (".png",))
    path = base.with_name(f"{base.name}.sensitivity.png")
    check_writable(path, trace, force)
    return path
