"""`analyze structure`: what a run is made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Chooses, Output, Refuses, Result, command
from analyzer.commands.explain._program_graph import check_graph, found_graph
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.options import LazyChoice, rare_option
from analyzer.commands.shared.picture import Drawing, check_picture, draw_ranks
from analyzer.commands.shared.session import Session, remarks
from analyzer.errors import TracelibError
from analyzer.parallel import Team, dealt
from analyzer.results.output_files import check_replaceable, files_read

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.structure import StructureResult, StructuresResult


@command(
    "What the run repeats: iterations, phases, loops inside.",
    ranks=Chooses(),
    place=Refuses("iterations are found in the sequence of all calls"),
    picture=True,
    output="Draw the structure into this .png file.",
    json=1,
)
@click.argument("files", type=click.Path(), nargs=-1, metavar="FILE...")
@rare_option(
    "--method",
    type=LazyChoice("analyzer.structure.levels.run_structure", "IterationMethod"),
    default="both",
    show_default=True,
    help="Look at calls, at signals over time (thesis: as Casas 2009), or at both.",
)
@rare_option(
    "--signal",
    "names",
    multiple=True,
    metavar="NAME",
    help="Look at this signal, such as bursts, p2p, ipc, flops, or a counter.",
)
@click.option("--follow", "is_live", is_flag=True, help="Follow a run that is still being written, until it ends.")
@rare_option(
    "--series", "is_csv", is_flag=True, old=("--csv",), help="Read FILE as lines of time,value (time in seconds)."
)
@click.option(
    "--graph",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Draw the program as a graph into this .svg, .png or .dot file.",
)
def structure_command(
    session: Session,
    files: tuple[str, ...],
    method: str,
    names: tuple[str, ...],
    is_live: bool,
    is_csv: bool,
    picture: str | None,
    graph: str | None,
    output: str | None,
    force: bool,
) -> Result:
    """Find the iterations of a run: how many, how long, and what each does; the loops inside them; and what comes
    before, between and after.

    The sequence of calls of each rank says which calls repeat. What more than half of the ranks say is believed.
    Signals over time, such as the number of processes that compute, are compared with it.

    Several FILEs are looked at one by one; `mpirun -n N analyze structure` then looks at N of them at once.
    """
    from analyzer.results.structure import StructureResult, check_times, compute
    from analyzer.structure.levels.run_structure import IterationMethod, structure_of_signal
    from analyzer.structure.signals import csv_signal

    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    if files[1:] and (is_live or is_csv or output or picture or graph):
        raise click.UsageError("--follow, --series, --picture, --graph and -o are for one FILE")
    file = files[0]
    if is_csv and graph:
        raise click.UsageError("--graph cannot be used with --series: a signal has no parts of a program")
    if is_csv and picture:
        raise click.UsageError("--picture cannot be used with --series: a signal is not of ranks")
    if is_live:
        from analyzer.commands.shared.following import follow

        if is_csv or output or picture or graph or names:
            raise click.UsageError("--follow goes with none of --series, --signal, --picture, --graph and -o")
        return follow(session, file, session.choice)
    if files[1:]:
        return _several(session, files, method, names)
    if is_csv:
        result = StructureResult(
            structure_of_signal(csv_signal(file), file, literal=method == IterationMethod.THESIS.value)
        )
        read = [Path(file)]
    else:
        with opened(session, file, whole=True, remarks="", matched=graph is not None) as trace:
            check_times(trace)
            session.mention_problems(trace)
            check_picture(picture, trace)
            check_graph(graph, trace, force=force)
            with session.step("Looking for iterations"):
                result = compute(trace, session.team, method=method, signals=names)
            main = result._parts.main
            draw_ranks(session, trace, picture, Drawing(iterations=main.iterations if main else None))
            result = replace(result, _graph=found_graph(session, trace, graph))
            read = files_read(trace)
    return Output.of(result, then=lambda: _draw(session, result, output, read, force=force))


def _several(session: Session, files: tuple[str, ...], method: str, names: tuple[str, ...]) -> StructuresResult:
    """Look at each run by one process. Nothing is printed where one of them cannot be read."""
    from analyzer.results.structure import StructuresResult, check_times, compute

    def of_run(file: str) -> tuple[list[str], StructureResult]:
        own = replace(session, team=Team())
        with opened(own, file, whole=True, remarks="") as trace:
            check_times(trace)
            return remarks(trace), compute(trace, own.team, method=method, signals=names)

    with session.step("Looking for iterations"):
        every = dealt(session.team, files, of_run)
    for lines, _ in every:
        session.mention(lines)
    return StructuresResult([result for _, result in every])


def _draw(session: Session, result: StructureResult, output: str | None, read: list[Path], *, force: bool) -> None:
    if output is None or not session.speaks:
        return
    from analyzer.report.pictures.structure import ENDINGS, draw

    path = Path(output)
    if path.suffix not in ENDINGS:
        raise TracelibError(f"{path}: no kind of picture that is known", "its name ends in .png")
    check_replaceable(path, read, force)
    draw(result._parts, path, result._even)
