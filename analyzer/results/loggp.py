"""Result of `analyze loggp` for a traced run: latency and bandwidth of the network, from the run's messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.loggp.observed import MessageWay, observe
from analyzer.loggp.observed_model import model_of
from analyzer.parallel import Team
from analyzer.report.message_costs import print_ways, ways_json
from analyzer.results.output_files import check_writable
from analyzer.results.result import Result, flat
from analyzer.trace import Trace
from analyzer.trace.at_places import MessagesAt, PlaceChoice


@dataclass(frozen=True, repr=False)
class LoggpResult(Result):
    """Times of messages within nodes and between nodes, by size.

    Attributes:
        file: Path of the run.
    """

    _main: ClassVar[tuple[str, ...]] = ("sizes",)

    file: str
    _ways: tuple[MessageWay, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"file": self.file, "messages": ways_json(self._ways)}

    def print(self, console: Console) -> None:
        print_ways(self._ways, console)

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        rows = super()._rows()
        ways = rows.pop("messages", [])
        sizes = [{"where": way["where"], **dict(flat(one))} for way in ways for one in way.pop("sizes")]
        return rows | {"messages": ways, "sizes": sizes}


def compute(trace: Trace, team: Team, *, place: PlaceChoice | None = None) -> LoggpResult:
    """Estimate latency and bandwidth from the messages of a run. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        place: Only messages that these calls send, or post the receive of. None: all.
    """
    ways = observe(MessagesAt(trace, place.paths(trace)) if place else trace, team)
    return LoggpResult(str(trace.path), tuple(ways))


def write_models(result: LoggpResult, trace: Trace, base: Path, force: bool) -> list[Path]:
    """Write a model of the messages within nodes, and one of the messages between nodes, as far as they are known.

    Args:
        result: Times of messages.
        trace: The run, whose files are never replaced.
        base: Path of the files, without ending.
        force: Whether existing files that are no models may be replaced.

    Raises:
        TracelibError: There are too few messages for a model, or a file would be destroyed.
    """
    models = {base.with_name(f"{base.name}.{way.where}.json"): model_of(way) for way in result._ways}
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
