"""`analyze monte-carlo`: how the predicted time spreads where the machine is not known exactly."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

import click
from click.core import ParameterSource

from analyzer.commands.common import Session, check_replaceable, common_options, files_read, output_base
from analyzer.commands.machine_option import machine_options
from analyzer.commands.study import Draw, Traced, eager_of, opened, output_options, studied, study_options
from analyzer.errors import TracelibError
from analyzer.montecarlo.design import LATIN, points
from analyzer.montecarlo.samples import Samples, replayed
from analyzer.montecarlo.stable import replayed_until
from analyzer.replay.machine import Exponential, Gaussian, Uniform
from analyzer.replay.machine_cfg import Configuration
from analyzer.report.monte_carlo import Studied, print_spread, spread_json

MOST = 10_000
"""Machines drawn where the means decide."""
_JOURNAL = ".samples.jsonl"


@click.command("monte-carlo")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="RUN...")
@study_options
@click.option(
    "--until",
    metavar="PERCENT",
    help="Stop when the mean time of each RUN is known to this, as 1%: half its 95 % confidence interval. "
    f"--samples is then the most, {MOST} if not given.",
)
@machine_options
@output_options("NAME.png (of several runs NAME-1.png, ...) and NAME.samples.jsonl, to go on from.")
@common_options(as_json=True)
@click.pass_obj
def monte_carlo(
    session: Session, files: tuple[str, ...], draw: Draw, until: str | None, configuration: Configuration,
    output: str | None, force: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Replay RUNs on machines drawn at random and print how their times spread, and with which parameters.

    What is random in the machine's file is drawn anew for each machine, too, at each use. Predicted is the time from
    the end of MPI_Init to the begin of MPI_Finalize.

    With -o, a study that was ended goes on where it was. `mpirun -n N analyze monte-carlo` shares the work.
    """
    session.quiet = quiet
    machine = configuration.alone
    if not draw.varied and not _is_random(machine):
        raise TracelibError("nothing is random", "name parameters, --vary latency=1us..100us, or a random machine")
    share = _share(until, draw) if until is not None else None
    most = MOST if share is not None and not _given("samples") else draw.samples
    with opened(session, files, machine) as runs:
        base = _checked(runs, output, force) if output and session.speaks else None
        journal = base.with_name(base.name + _JOURNAL) if base else None
        with studied(session, runs, machine, draw, journal, force) as staff:
            if staff is None:
                return
            cube = points(draw.design, most, len(draw.varied), machine.seed & (2**64 - 1))
            asked = (staff, draw.varied, cube, range(machine.seed, machine.seed + most))
            samples = replayed(*asked) if share is None else replayed_until(*asked, share)
        measured = [run.measured_ns for run in runs]
        written = _write(samples, files, base) if base else []
        written += [journal] if journal else []
        eager = eager_of(runs, machine, draw)
        found = Studied(files, measured, samples, draw.design, machine.seed, written, eager, share)
    if as_json:
        session.print_json(spread_json(found))
    elif not quiet:
        session.print(lambda console: print_spread(found, console))


def _share(text: str, draw: Draw) -> float:
    """Of --until, 0.01 for 1%. Raises TracelibError."""
    if draw.design == LATIN:
        raise TracelibError(
            "a Latin hypercube is made for one number of machines", "leave out --until, or use --design random or sobol"
        )
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not 0 < percent < 100:
        raise TracelibError(f"--until {text}", "give a percentage above 0: --until 1%")
    return percent / 100


def _given(option: str) -> bool:
    """Whether the user said it."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


def _is_random(part: object) -> bool:
    """Whether a machine or a part of it has a distribution."""
    if isinstance(part, Uniform | Gaussian | Exponential):
        return True
    if isinstance(part, tuple):
        return any(map(_is_random, part))
    return is_dataclass(part) and any(_is_random(getattr(part, field.name)) for field in fields(part))


def _pictures(base: Path, runs: int) -> list[Path]:
    return [base.with_name(f"{base.name}{f'-{k + 1}' if runs > 1 else ''}.png") for k in range(runs)]


def _checked(runs: list[Traced], output: str, force: bool) -> Path:
    """The name of the files to be written; raises TracelibError if one would destroy something."""
    sources = [path for run in runs for path in files_read(run.trace)]
    base = output_base(sources[0], output, (".png", _JOURNAL))
    for path in _pictures(base, len(runs)):
        check_replaceable(path, sources, force)
    return base


def _write(samples: Samples, files: tuple[str, ...], base: Path) -> list[Path]:
    from analyzer.report.samples_picture import draw_spread

    paths = _pictures(base, len(files))
    for run, path in enumerate(paths):
        draw_spread(samples, run, Path(files[run]).name, path)
    return paths
