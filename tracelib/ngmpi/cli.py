"""The command `python -m tracelib.ngmpi`."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import click

from tracelib.collectives.options import collective_options, design_of
from tracelib.command_line import Option, TracelibCommand
from tracelib.errors import TracelibError
from tracelib.ngmpi import config, options
from tracelib.ngmpi.plan import MOST_BYTES
from tracelib.settings import size_bytes, time_ns

PROGRAM = "python -m tracelib.ngmpi"
INTERRUPTED = 130
"""Exit code after SIGINT, as shells count."""


class _Size(click.ParamType):
    name = "size"

    def convert(self, value: object, param: object, context: object) -> int:
        return size_bytes(str(value), 1, MOST_BYTES)


class _Step(click.ParamType):
    name = "step:end"

    def convert(self, value: object, param: object, context: object) -> tuple[int, int]:
        step, _, end = str(value).partition(":")
        return size_bytes(step, 1, MOST_BYTES), size_bytes(end, 1, MOST_BYTES)


class _Time(click.ParamType):
    name = "time"

    def convert(self, value: object, param: object, context: object) -> float:
        return time_ns(str(value)) / 1e9


class _Ranks(click.ParamType):
    name = "ranks"

    def convert(self, value: object, param: object, context: object) -> tuple[int, ...]:
        words = str(value).split(",")
        if not all(word.isdecimal() for word in words):
            raise TracelibError(f"--ranks {value}: expected numbers of ranks", "write them as 1,3,5")
        return tuple(map(int, words))


@click.command(cls=TracelibCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-o",
    "--output",
    default="ngmpi.h5",
    show_default=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Name of the result.",
)
@click.option("-f", "--force", is_flag=True, help="Replace an existing result.")
@click.option(
    "-m",
    "--min-size",
    type=_Size(),
    default="1",
    metavar="SIZE",
    show_default=True,
    help="Size of the smallest message.",
)
@click.option(
    "-n",
    "--max-size",
    type=_Size(),
    metavar="SIZE",
    show_default="4M",
    help="Size of the largest message, such as 200K.",
)
@click.option(
    "--step", "steps", type=_Step(), multiple=True, metavar="STEP:END", help="Measure sizes every STEP bytes up to END."
)
@click.option(
    "--train",
    type=click.IntRange(2),
    cls=Option,
    rare=True,
    show_default="32, fewer where they are slow",
    help="Number of messages of a train.",
)
@click.option(
    "-l",
    "--rows",
    "loop",
    type=click.IntRange(1),
    cls=Option,
    old=("--loop",),
    show_default="until they are precise",
    help="Number of measurements (rows) of each size.",
)
@click.option(
    "-s",
    "--skip",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    cls=Option,
    rare=True,
    help="Number of first measurements of each size that do not count.",
)
@click.option(
    "--precision",
    type=click.FloatRange(0, 1, min_open=True),
    default=options.PRECISION,
    show_default=True,
    metavar="SHARE",
    cls=Option,
    rare=True,
    help="Half width of the confidence interval of each time, relative to the time.",
)
@click.option(
    "-t",
    "--time",
    "time_s",
    type=_Time(),
    metavar="TIME",
    show_default="57s, or 27s for sizes up to 200K",
    help="Time limit of each group of pairs.",
)
@click.option("--mode", type=click.Choice(list(options.MODES)), show_default="sampling", help="Ranks that measure.")
@click.option("--ranks", type=_Ranks(), default=None, metavar="RANKS", help="Ranks of the subgroup, such as 1,3,5.")
@click.option(
    "--seed", type=int, default=0, show_default=True, cls=Option, rare=True, help="Seed of the random numbers."
)
@click.option("--receiver", is_flag=True, help="Measure overhead and gap of the receiver, too.")
@click.option("--one-buffer", is_flag=True, cls=Option, rare=True, help="Receive into the buffer that is sent from.")
@click.option(
    "--bind/--no-bind",
    default=True,
    cls=Option,
    rare=True,
    show_default="bind",
    help="Bind each rank to a core of its own, or leave it where it is.",
)
@click.option(
    "-c",
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read options from this file (CLL_NGMPI_...).",
)
@collective_options
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
def command(
    config_path: Path | None, output: Path, force: bool, ranks: tuple[int, ...] | None, **said
) -> options.MeasurementOptions:
    """Measure the network between MPI ranks.

    \b
    mpirun -n 2 python -m tracelib.ngmpi
    """
    if output.exists() and not force:
        raise TracelibError(f"{output} exists", "replace it with -f, or choose another -o")
    if not output.absolute().parent.is_dir():
        raise TracelibError(f"{output}: there is no folder {output.parent}")
    from mpi4py import MPI

    file, world = config.read(config_path) if config_path else config.MeasurementConfig(), MPI.COMM_WORLD.Get_size()
    collectives, said = design_of(world, said)
    return options.decide(file, world, output=output, ranks=ranks or (), collectives=collectives, **said)


def _decide() -> options.MeasurementOptions | int:
    """Decide at rank 0: the options; or, with a line on stderr, the exit code."""
    try:
        return command.main(prog_name=PROGRAM, standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"tracelib: {error.format_message().rstrip('.')}; see `{PROGRAM} --help`", err=True)
        return error.exit_code
    except TracelibError as error:
        click.echo(f"tracelib: {error.line}", err=True)
        return error.exit_code


def main() -> None:
    """Run every rank: rank 0 reads the options for all, and all end with its exit code."""
    try:
        _measure()
    except KeyboardInterrupt:
        click.echo("tracelib: interrupted before anything was measured", err=True)
        if "mpi4py.MPI" in sys.modules:
            sys.modules["mpi4py.MPI"].COMM_WORLD.Abort(INTERRUPTED)  # the other ranks would wait for ever
        sys.exit(INTERRUPTED)


def _measure() -> NoReturn:
    try:
        import mpi4py

        if "MPI4PY_RC_THREAD_LEVEL" not in os.environ:
            mpi4py.rc.thread_level = "single"  # an MPI that expects threads locks in every call
        from mpi4py import MPI
    except ImportError as error:
        click.echo(f"tracelib: {error}; pip install mpi4py, and start it with mpirun", err=True)
        sys.exit(1)
    from tracelib.ngmpi import run

    world = MPI.COMM_WORLD
    decided = world.bcast(_decide() if world.rank == 0 else None)
    if not isinstance(decided, options.MeasurementOptions):
        sys.exit(decided or 0)
    if world.size == 1:
        click.echo(f"tracelib: one rank alone has no network; start it with mpirun -n 2 {PROGRAM}", err=True)
        sys.exit(1)
    try:
        code = run.lead(world, decided) if world.rank == 0 else run.follow(world)
    except TracelibError as error:
        click.echo(f"tracelib: {error.line}", err=True)
        world.Abort(error.exit_code)
    except KeyboardInterrupt:
        raise
    except BaseException:  # the other ranks would wait for ever
        traceback.print_exc()
        world.Abort(1)
    sys.exit(code)
