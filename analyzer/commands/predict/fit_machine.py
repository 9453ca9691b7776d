"""`analyze fit-machine`: the machine on which replays take as long as runs did."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.atomic_file import whole_file
from analyzer.commands.command import REPLAYS_ALL_CALLS, REPLAYS_ALL_RANKS, Result, command
from analyzer.commands.shared.machine_option import machine_options
from analyzer.commands.shared.options import FiniteRange, rare_option
from analyzer.commands.shared.session import Session
from analyzer.commands.shared.study import output_options, study_options
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable, files_read, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.machine.description import Machine
    from analyzer.machine.read_cfg import MachineConfiguration
    from analyzer.montecarlo.fit import FoundMachine
    from analyzer.results.monte_carlo import Draw, Traced

ENDINGS = (".toml", ".png", ".samples.jsonl")


@command(
    "Which machine makes replays take as long as the runs did.",
    ranks=REPLAYS_ALL_RANKS,
    place=REPLAYS_ALL_CALLS,
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="RUN...")
@study_options
@rare_option("--weights", metavar="X,...", show_default="all equal", help="Weight of each run.")
@rare_option(
    "--untraced-seconds", "untraced", metavar="SECONDS,...", help="Time of each run without the tracer, in seconds."
)
@rare_option(
    "--tolerance",
    type=FiniteRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="Largest error of a prediction.",
)
@machine_options
@output_options("Write the machine (NAME.toml), a picture, and the samples to go on from.")
def fit_machine(
    session: Session,
    files: tuple[str, ...],
    draw: Draw,
    weights: str | None,
    untraced: str | None,
    tolerance: float,
    configuration: MachineConfiguration,
    output: str | None,
    force: bool,
) -> Result | None:
    """Find the machine on which replays of the RUNs take as long as the RUNs did, and the range of each parameter in
    which they nearly do.

    Machines are drawn at random, then more are drawn around the best ones, until enough of them predict each RUN
    within the tolerance. The ranges of their parameters are the answer. A search from the best machine on finds the
    best fit. Parameters that are not varied are as --machine says. The time that is compared is that from the end of
    MPI_Init to the begin of MPI_Finalize.

    With -o, a study that was interrupted goes on where it stopped. `mpirun -n N analyze fit-machine` shares the work.
    """
    from analyzer.commands.shared.study import numbers, says_when_ended
    from analyzer.montecarlo.fit import FitTarget, fit
    from analyzer.report.fit_machine import MachineFit
    from analyzer.results.fit_machine import FitMachineResult
    from analyzer.results.monte_carlo import eager_of, opened, studied

    if not draw.varied:
        raise TracelibError("nothing is varied", "name parameters: --vary latency=1us..100us")
    shares = numbers(weights, len(files), "--weights") or [1.0] * len(files)
    told = numbers(untraced, len(files), "--untraced-seconds")
    machine = configuration.alone
    with opened(session, files, machine) as runs:
        base = _checked(runs, output, force) if output and session.speaks else None
        journal = base.with_name(f"{base.name}.samples.jsonl") if base else None
        guard = partial(says_when_ended, journal)
        with studied(session, runs, machine, draw, journal, force, guard) as staff:
            if staff is None:
                return None
            measured = [x * 1e9 for x in told] if told else [_measured(run) for run in runs]
            wanted = FitTarget.of(measured, shares, tolerance)
            found = fit(staff, draw.varied, wanted, draw.design, draw.samples, machine.seed)
        written = _write(found, machine, files, base) if base else []
        written += [journal] if journal else []
        eager = eager_of(runs, machine, draw)
        bases, incomplete = [run.cpu_time for run in runs], [run.incomplete for run in runs]
    return FitMachineResult(MachineFit(files, bases, incomplete, found, draw.design, machine.seed, written, eager))


def _measured(run: Traced) -> float:
    if not run.measured_ns:
        raise TracelibError(f"{run.file} holds no measured times", "say how long it took: --untraced-seconds")
    return run.measured_ns


def _checked(runs: list[Traced], output: str, force: bool) -> Path:
    """Return the name of the files to be written; raises TracelibError if one would destroy something."""
    sources = [path for run in runs for path in files_read(run.trace)]
    base = output_base(sources[0], output, ENDINGS)
    for ending in ENDINGS[:2]:
        check_replaceable(base.with_name(base.name + ending), sources, force)
    return base


def _write(found: FoundMachine, machine: Machine, files: tuple[str, ...], base: Path) -> list[Path]:
    from analyzer.machine.parameters import vary
    from analyzer.machine.write_toml import machine_text
    from analyzer.report.pictures.distributions import draw_fit

    names = [of.name for of in found.samples.varied]
    best = vary(machine, dict(zip(names, found.best.values, strict=True)))
    paths = [base.with_name(base.name + ending) for ending in ENDINGS[:2]]
    with whole_file(paths[0]) as file:
        about = ", ".join(Path(name).name for name in files)
        file.write(f"# Fitted by analyze fit-machine: {' '.join(names)} to {about}\n".encode())
        file.write(machine_text(best).encode())
    draw_fit(found, paths[1])
    return paths
