"""`analyze structure`: what a run is made of."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analyzer.commands.command import Chooses, Refuses, command
from analyzer.commands.explain._program_graph import check_graph, found_graph
from analyzer.commands.shared.options import LazyChoice, rare_option
from analyzer.commands.shared.outputs import check_replaceable, files_read
from analyzer.commands.shared.picture import Drawing, check_picture, draw_ranks
from analyzer.commands.shared.session import Session, remarks
from analyzer.errors import TracelibError
from analyzer.parallel import Team, dealt

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.results.structure import StructureResult
    from analyzer.trace import Trace
    from analyzer.trace.chosen import Choice


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
) -> None:
    """Find the iterations of a run: how many, how long, and what each does; the loops inside them; and what comes
    before, between and after.

    The sequence of calls of each rank says which calls repeat. What more than half of the ranks say is believed.
    Signals over time, such as the number of processes that compute, are compared with it.

    Several FILEs are looked at one by one; `mpirun -n N analyze structure` then looks at N of them at once.
    """
    from analyzer.results.structure import StructureResult, compute
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
        follow(session, file, session.choice, as_json=session.as_json)
        return
    if is_csv:
        found = structure_of_signal(csv_signal(file), file, literal=method == IterationMethod.THESIS.value)
        _say(session, StructureResult(found))
        _draw(session, StructureResult(found), output, [Path(file)], force=force)
        return
    if files[1:]:
        _several(session, files, partial(_of_run, choice=session.choice, method=method, names=names))
        return
    trace = _opened(file, session.team, session.choice, matched=graph is not None)
    session.mention_problems(trace)
    try:
        check_picture(picture, trace)
        check_graph(graph, trace, force=force)
        with session.step("Looking for iterations"):
            result = compute(trace, session.team, method=method, signals=names)
        main = result._parts.main
        draw_ranks(session, trace, picture, Drawing(iterations=main.iterations if main else None))
        result = replace(result, _graph=found_graph(session, trace, graph))
        read = files_read(trace)
    finally:
        trace.close()
    _say(session, result)
    _draw(session, result, output, read, force=force)


def _opened(file: str, team: Team, choice: Choice | None, *, matched: bool = False) -> Trace:
    from analyzer.opening import open_trace
    from analyzer.results.structure import check_times

    trace = open_trace(file, team, choice=choice, matched=matched)
    try:
        check_times(trace)
    except TracelibError:
        trace.close()
        raise
    return trace


def _of_run(file: str, choice: Choice | None, method: str, names: tuple[str, ...]) -> tuple[list[str], StructureResult]:
    """Analyse one of several runs in one process: remarks on the run, and its structure."""
    from analyzer.results.structure import compute

    with closing(_opened(file, Team(), choice)) as trace:
        return remarks(trace), compute(trace, Team(), method=method, signals=names)


def _several(
    session: Session, files: tuple[str, ...], of_run: Callable[[str], tuple[list[str], StructureResult]]
) -> None:
    """Look at each run by one process. Nothing is printed where one of them cannot be read."""
    with session.step("Looking for iterations"):
        every = dealt(session.team, files, of_run)
    for lines, _ in every:
        session.mention(lines)
    if session.as_json:
        session.print_json({"runs": [result.to_dict() for _, result in every]})
        return
    for number, (_, result) in enumerate(every):
        if number:
            session.say("")
        _say(session, result)


def _draw(session: Session, result: StructureResult, output: str | None, read: list[Path], *, force: bool) -> None:
    if output is None or not session.speaks:
        return
    from analyzer.report.pictures.structure import ENDINGS, draw

    path = Path(output)
    if path.suffix not in ENDINGS:
        raise TracelibError(f"{path}: no kind of picture that is known", "its name ends in .png")
    check_replaceable(path, read, force)
    draw(result._parts, path, result._even)


def _say(session: Session, result: StructureResult) -> None:
    if session.as_json:
        session.print_json(result.to_dict())
    elif not session.quiet:
        session.print(result.print)
