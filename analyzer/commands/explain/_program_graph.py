"""`analyze structure --graph`: the program as a graph, with marks of what is heterogeneous."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.atomic_file import whole_file
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError
from analyzer.results.output_files import check_writable

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.structure.graph.program_graph import ProgramGraph
    from analyzer.trace import Trace

_ENDINGS = (".svg", ".png", ".dot")


def check_graph(path: str | None, trace: Trace, *, force: bool) -> None:
    """Raise TracelibError where the graph could not be written, before anything is computed."""
    if path is None:
        return
    if Path(path).suffix not in _ENDINGS:
        raise TracelibError(f"{path}: no kind of graph that is known", "its name ends in .svg, .png or .dot")
    check_writable(Path(path), trace, force)


def found_graph(session: Session, trace: Trace, path: str | None) -> ProgramGraph | None:
    """Find the graph where it is wanted, and write it. Collective over the team."""
    from analyzer.structure.graph.program_graph import program_graph

    if path is None:
        return None
    with session.step("Finding the parts of the program"):
        found = program_graph(trace, session.team)
    if not session.speaks:
        return found
    if path.endswith(".dot"):
        from analyzer.report.program_graph import dot_text

        with whole_file(Path(path)) as file:
            file.write(dot_text(found).encode())
    else:
        from analyzer.report.pictures.program_graph import draw_program

        draw_program(found, Path(path))
    return found
