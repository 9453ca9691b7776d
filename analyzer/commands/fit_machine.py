"""`analyze fit-machine`: the machine on which replays take as long as runs did."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.common import FiniteRange, Session, check_replaceable, common_options, files_read, output_base
from analyzer.commands.machine_option import machine_options
from analyzer.commands.study import Draw, Traced, eager_of, numbers, opened, output_options, studied, study_options
from analyzer.errors import TracelibError
from analyzer.montecarlo.fit import TOLERANCE, Fit, Wanted, fit
from analyzer.replay.machine import Machine
from analyzer.replay.machine_cfg import Configuration
from analyzer.replay.machine_text import machine_text
from analyzer.replay.parameters import vary
from analyzer.report.fit_machine import Fitted, fit_json, print_fit
from analyzer.writers.whole import whole_file

ENDINGS = (".toml", ".png", ".samples.jsonl")


@click.command("fit-machine")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="RUN...")
@study_options
@click.option("--weights", metavar="X,...", help="Of the runs; all alike if not given.")
@click.option("--untraced-seconds", "untraced", metavar="X,...", help="What the runs took without the tracer.")
@click.option(
    "--tolerance",
    type=FiniteRange(0, 1, min_open=True),
    default=TOLERANCE,
    show_default=True,
    help="Share by which a prediction may be wrong.",
)
@machine_options
@output_options("NAME.toml, the fitted machine; NAME.png; NAME.samples.jsonl, to go on from.")
@common_options(as_json=True)
@click.pass_obj
def fit_machine(
    session: Session, files: tuple[str, ...], draw: Draw, weights: str | None, untraced: str | None, tolerance: float,
    configuration: Configuration, output: str | None, force: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Find the parameters of a machine with which replays of RUNs take as long as the runs did, and all with which
    they nearly do.

    Machines are drawn at random, then more around the best of them, until enough predict each RUN within the
    tolerance: the ranges of their parameters are what the runs say. From the best on, a search finds the best fit.
    What is not varied is as --machine says. Compared is the time from the end of MPI_Init to the begin of
    MPI_Finalize.

    With -o, a study that was ended goes on where it was. `mpirun -n N analyze fit-machine` shares the work.
    """
    session.quiet = quiet
    if not draw.varied:
        raise TracelibError("nothing is varied", "name parameters: --vary latency=1us..100us")
    shares = numbers(weights, len(files), "--weights") or [1.0] * len(files)
    told = numbers(untraced, len(files), "--untraced-seconds")
    machine = configuration.alone
    with opened(session, files, machine) as runs:
        base = _checked(runs, output, force) if output and session.speaks else None
        journal = base.with_name(f"{base.name}.samples.jsonl") if base else None
        with studied(session, runs, machine, draw, journal, force) as staff:
            if staff is None:
                return
            measured = [x * 1e9 for x in told] if told else [_measured(run) for run in runs]
            wanted = Wanted.of(measured, shares, tolerance)
            found = fit(staff, draw.varied, wanted, draw.design, draw.samples, machine.seed)
        written = _write(found, machine, files, base) if base else []
        written += [journal] if journal else []
        eager = eager_of(runs, machine, draw)
        fitted = Fitted(files, found, draw.design, machine.seed, written, eager)
    if as_json:
        session.print_json(fit_json(fitted))
    elif not quiet:
        session.print(lambda console: print_fit(fitted, console))


def _measured(run: Traced) -> float:
    if not run.measured_ns:
        raise TracelibError(f"{run.file} holds no measured times", "say how long it took: --untraced-seconds")
    return run.measured_ns


def _checked(runs: list[Traced], output: str, force: bool) -> Path:
    """The name of the files to be written; raises TracelibError if one would destroy something."""
    sources = [path for run in runs for path in files_read(run.trace)]
    base = output_base(sources[0], output, ENDINGS)
    for ending in ENDINGS[:2]:
        check_replaceable(base.with_name(base.name + ending), sources, force)
    return base


def _write(found: Fit, machine: Machine, files: tuple[str, ...], base: Path) -> list[Path]:
    from analyzer.report.samples_picture import draw_fit

    names = [of.name for of in found.samples.varied]
    best = vary(machine, dict(zip(names, found.best.values, strict=True)))
    paths = [base.with_name(base.name + ending) for ending in ENDINGS[:2]]
    with whole_file(paths[0]) as file:
        about = ", ".join(Path(name).name for name in files)
        file.write(f"# Fitted by analyze fit-machine: {' '.join(names)} to {about}\n".encode())
        file.write(machine_text(best).encode())
    draw_fit(found, paths[1])
    return paths
