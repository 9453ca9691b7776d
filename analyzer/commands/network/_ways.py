"""`analyze loggp` of a traced run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.commands.shared.iteration_option import open_wanted
from analyzer.commands.shared.outputs import check_writable, output_base
from analyzer.commands.shared.session import Session
from analyzer.errors import TracelibError

if TYPE_CHECKING:  # numpy takes as long to import as click: who asks for --help does not wait for it
    from analyzer.loggp.observed import MessageWay
    from analyzer.trace import Trace
    from analyzer.trace.at_places import PlaceChoice
    from analyzer.trace.chosen import Choice


def time_messages(
    session: Session, file: str, choice: Choice | None, place: PlaceChoice | None, output: str | None, force: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Print what the messages of the trace in `file` say of latency and bandwidth; with `output` write their models.
    place: of those alone that such calls send, or post the receive of."""
    from analyzer.loggp.observed import observe
    from analyzer.report.message_costs import print_ways, ways_json
    from analyzer.trace.at_places import MessagesAt

    trace = open_wanted(session, file, choice=choice)
    session.mention_choice(trace)
    try:
        with session.step(f"Timing the messages of {file}"):
            ways = observe(MessagesAt(trace, place.paths(trace)) if place else trace, session.team)
        written = []
        if output and session.speaks:
            written = _write(trace, ways, output_base(Path(file), output, (".json",)), force)
        if as_json:
            files = [str(path) for path in written]
            session.print_json({"file": file, "messages": ways_json(ways), "files": files})
        elif not session.quiet:
            session.print(lambda console: print_ways(ways, console))
            for path in written:
                session.say(f"Written: {path}")
    finally:
        trace.close()


def _write(trace: Trace, ways: tuple[MessageWay, ...], base: Path, force: bool) -> list[Path]:
    """Write a model for messages within nodes and one for those between nodes, if known. Names are checked first."""
    from analyzer.loggp.observed_model import model_of

    models = {base.with_name(f"{base.name}.{way.where}.json"): model_of(way) for way in ways}
    known = {path: model for path, model in models.items() if model}
    if not known:
        raise TracelibError(
            "these messages are not enough for a model of the network",
            "a model needs messages of at least two sizes whose times can be trusted",
        )
    for path in known:
        check_writable(path, trace, force)
    for path, model in known.items():
        model.write(path)
    return list(known)
