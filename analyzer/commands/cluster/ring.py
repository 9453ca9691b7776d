"""`analyze ring`: the synthetic application of the scheduling studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Refuses, Result, command
from analyzer.commands.shared.options import LatencyType, LazyChoice, Option, SizeType, rare_option
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_replaceable, output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.scheduling.ring import RingProgram


@command(
    "Make a synthetic application, to try schedulers.",
    place=Refuses("a ring that is made up has no places"),
    output="Trace to write (.dim), or its run on an ideal machine (.h5).  [default: ring.dim]",
    json=1,
)
@click.option(
    "--tasks", type=click.IntRange(1), default=8, metavar="N", show_default=True, help="Number of tasks in the ring."
)
@click.option(
    "--compute",
    type=LatencyType(),
    default="4200us",
    metavar="TIME",
    show_default=True,
    help="Computation between receiving and sending.",
)
@click.option(
    "--demand",
    type=float,
    default=60,
    metavar="PERCENT",
    show_default=True,
    help="Share of its processor that a task uses when it runs alone.",
)
@click.option(
    "--iterations",
    type=click.IntRange(1),
    default=1000,
    metavar="N",
    show_default=True,
    help="Number of rounds of the message through the ring.",
)
@click.option(
    "--message-size",
    "size",
    cls=Option,
    type=SizeType(),
    default="0",
    metavar="SIZE",
    old=("--size",),
    show_default=True,
    help="Size of the message in bytes.",
)
@rare_option(
    "--priorities",
    type=LazyChoice("analyzer.scheduling.ring", "PriorityRecords"),
    default="path",
    show_default=True,
    help="Content of the priority records.",
)
def ring(
    session: Session,
    tasks: int,
    compute: int,
    demand: float,
    iterations: int,
    size: int,
    priorities: str,
    output: str | None,
    force: bool,
) -> Result:
    """Write the synthetic application of the scheduling studies. It can be replayed with others on the same processors.

    In each iteration a task receives, computes, sends to the next task, and computes again. This second computation
    is so long that its processor is busy for the given share of the time when the application runs alone. The first
    task sends first. Priority records say which task is in the critical path.
    """
    from analyzer.results.ring import RingResult
    from analyzer.scheduling.ring import PriorityRecords, RingProgram

    made = RingProgram(compute / 1000, demand, tasks, iterations, size, PriorityRecords(priorities))
    base = output_base(Path("ring.dim"), output, (".dim", ".h5"))
    path = base.with_name(base.name + (".h5" if output and output.endswith(".h5") else ".dim"))
    check_replaceable(path, [], force)
    if session.speaks:
        _write(made, path, force)
    session.team.barrier()
    return RingResult(made, path)


def _write(made: RingProgram, path: Path, force: bool) -> None:
    from analyzer.machine.description import Machine
    from analyzer.replay.predicted import write_predicted
    from analyzer.replay.simulate import simulate
    from analyzer.writers.dim import write_dim

    trace = made.trace(path.name)
    if path.suffix == ".dim":
        write_dim(trace, path)
        return
    if path.exists() and not force:
        raise TracelibError(f"{path} exists", "name another output, or use --force")
    assert trace.program is not None
    write_predicted(trace, trace.program, simulate(trace.program, Machine.ideal(), times=True), path, "ideal")
