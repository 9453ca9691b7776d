"""`analyze loggp` of a traced run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.command import Output
from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.outputs import output_base
from analyzer.commands.shared.session import Session

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace.at_places import PlaceChoice
    from analyzer.trace.chosen import Choice


def time_messages(
    session: Session, file: str, choice: Choice | None, place: PlaceChoice | None, output: str | None, force: bool
) -> None:  # fmt: skip
    """Print what the messages of the trace in `file` say of latency and bandwidth; with `output` write their models.
    place: of those alone that such calls send, or post the receive of."""
    from analyzer.results.loggp import compute, write_models

    trace = open_wanted(session, file, choice=choice)
    session.mention_choice(trace)
    try:
        with session.step(f"Timing the messages of {file}"):
            result = compute(trace, session.team, place=place)
        written = []
        if output and session.speaks:
            written = write_models(result, trace, output_base(Path(file), output, (".json",)), force)
        session.show(Output.of(result, files=written))
    finally:
        trace.close()
