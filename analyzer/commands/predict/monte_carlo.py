"""`analyze monte-carlo`: how the predicted time spreads where the machine is not known exactly."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Result, command
from analyzer.commands.shared.machine_option import machine_options
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.study import output_options, study_options
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable, files_read, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.read_cfg import MachineConfiguration
    from analyzer.montecarlo.samples import MachineSamples
    from analyzer.results.monte_carlo import Draw, Traced

MOST = 10_000
"""Most machines that are drawn with --until."""
_JOURNAL = ".samples.jsonl"


@command(
    "How predictions spread if the machine is not known exactly.",
    iterations=True,
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="RUN...")
@study_options
@click.option(
    "--until",
    metavar="PERCENT",
    help="Draw machines until half the 95 % confidence interval of each RUN's mean time is at most this share of the "
    "mean, such as 1%.",
)
@machine_options
@output_options("Write a picture of each run (NAME.png), and the samples to go on from.")
def monte_carlo(
    session: Session,
    files: tuple[str, ...],
    draw: Draw,
    until: str | None,
    configuration: MachineConfiguration,
    output: str | None,
    force: bool,
) -> Result | None:
    """Replay RUNs on machines drawn at random. Print how the predicted times spread, and which parameters they depend
    on.

    Random values in the machine's file are drawn at each use within a replay, with another seed for each machine. The
    predicted time is that from the end of MPI_Init to the begin of MPI_Finalize.

    --until ends the study when half the 95 % confidence interval of each mean time is small enough. --samples is then
    the upper limit (by default 10000).

    With -o, a study that was interrupted goes on where it stopped. `mpirun -n N analyze monte-carlo` shares the work.
    """
    from analyzer.commands.shared.study import says_when_ended
    from analyzer.results.monte_carlo import check_random, check_until, compute, opened, with_files

    machine = configuration.alone
    check_random(machine, draw)
    if until is not None:
        check_until(draw)
        draw = draw if _given("samples") else replace(draw, samples=MOST)
    share = _share(until) if until is not None else None
    with opened(session, files, machine) as runs:
        base = _checked(runs, output, force) if output and session.speaks else None
        journal = base.with_name(base.name + _JOURNAL) if base else None
        guard = partial(says_when_ended, journal)
        result = compute(session, runs, machine, draw, until=share, journal=journal, anew=force, guard=guard)
        if result is None:
            return None
        written = _write(result._report.samples, files, base) if base else []
        return with_files(result, [*written, *([journal] if journal else [])])


def _share(text: str) -> float:
    """Return the value of --until as a share: 0.01 for 1%. Raises TracelibError."""
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not 0 < percent < 100:
        raise TracelibError(f"--until {text} is not a percentage above 0 and below 100", "use for example --until 1%")
    return percent / 100


def _given(option: str) -> bool:
    """Return True if the user gave this option."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


def _pictures(base: Path, runs: int) -> list[Path]:
    return [base.with_name(f"{base.name}{f'-{k + 1}' if runs > 1 else ''}.png") for k in range(runs)]


def _checked(runs: list[Traced], output: str, force: bool) -> Path:
    """Return the name of the files to be written; raises TracelibError if one would destroy something."""
    sources = [path for run in runs for path in files_read(run.trace)]
    base = output_base(sources[0], output, (".png", _JOURNAL))
    for path in _pictures(base, len(runs)):
        check_replaceable(path, sources, force)
    return base


def _write(samples: MachineSamples, files: tuple[str, ...], base: Path) -> list[Path]:
    from analyzer.report.pictures.distributions import draw_spread

    paths = _pictures(base, len(files))
    for run, path in enumerate(paths):
        draw_spread(samples, run, Path(files[run]).name, path)
    return paths
