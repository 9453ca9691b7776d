"""`analyze loggp` of a traced run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.command import Output
from analyzer.commands.shared.iteration_option import opened
from analyzer.commands.shared.session import Session
from analyzer.results.output_files import output_base

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.trace.at_places import PlaceChoice


def time_messages(session: Session, file: str, place: PlaceChoice | None, output: str | None, force: bool) -> Output:
    """Estimate latency and bandwidth from the messages of a run. Collective over the team.

    Args:
        session: The command's.
        file: The run.
        place: Only messages that such calls send, or post the receive of. None: all.
        output: Name of the models that are written. None: none is written.
        force: Whether existing files are replaced.
    """
    from analyzer.results.loggp import compute, write_models

    with opened(session, file, remarks="ranks") as trace:
        with session.step(f"Timing the messages of {file}"):
            result = compute(trace, session.team, place=place)
        written = []
        if output and session.speaks:
            written = write_models(result, trace, output_base(Path(file), output, (".json",)), force)
        return Output.of(
            result, numbers={"files": [str(path) for path in written]}, lines=[f"Written: {path}" for path in written]
        )
