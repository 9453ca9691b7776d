"""Result of `analyze structure`: the iterations and phases that a run is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.errors import TracelibError
from analyzer.imbalance.analysis import Imbalance, analyze_imbalance
from analyzer.parallel import Team
from analyzer.report.imbalance import evenness_json, print_evenness
from analyzer.report.program_graph import graph_json, print_graph
from analyzer.report.structure import print_structure, structure_json
from analyzer.report.words import units
from analyzer.results.result import Result, print_lines
from analyzer.structure.graph.program_graph import ProgramGraph
from analyzer.structure.levels.parts import Structure
from analyzer.structure.levels.run_structure import IterationMethod, structure
from analyzer.structure.live import LiveIterations
from analyzer.trace import Trace
from analyzer.trace.trace import check_computing


@dataclass(frozen=True, repr=False)
class StructureResult(Result):
    """Loops and iterations of a run, and the parts before, between and after the loops."""

    _main: ClassVar[tuple[str, ...]] = ("parts",)

    _parts: Structure
    _even: Imbalance | None = None
    _graph: ProgramGraph | None = None

    def to_dict(self) -> dict[str, Any]:
        data = {**structure_json(self._parts), "uneven": evenness_json(self._even) if self._even else None}
        return data | ({"graph": graph_json(self._graph)} if self._graph else {})

    def print(self, console: Console) -> None:
        print_structure(self._parts, console)
        if self._even:
            print_evenness(self._even, self._parts.duration_ns, f"analyze waits {self._parts.file}", console)
        if self._graph:
            print_graph(self._graph, console)


@dataclass(frozen=True, repr=False)
class StructuresResult(Result):
    """Structures of several runs."""

    _runs: Sequence[StructureResult]

    def to_dict(self) -> dict[str, Any]:
        return {"runs": [run.to_dict() for run in self._runs]}

    def print(self, console: Console) -> None:
        for number, run in enumerate(self._runs):
            if number:
                console.print()
            run.print(console)


@dataclass(frozen=True, repr=False)
class FollowedResult(Result):
    """Loops that were found in a run while it was written.

    The text is only a summary, because the command reports each loop when it finds the loop.

    Attributes:
        file: Path of the run.
        looks: Number of times that the run was read.
        peak_bytes: Largest memory of the process that read it.
    """

    file: str
    _loops: Sequence[LiveIterations]
    looks: int
    peak_bytes: int

    def to_dict(self) -> dict[str, Any]:
        loops = [
            {
                "loop": number, "at_s": one.until_ns / 1e9, "begin_s": one.begin_ns / 1e9,
                "period_s": one.period_ns / 1e9, "body": one.body, "running": one.is_running,
                "inside": [{"passes": passes, "period_s": period / 1e9} for passes, period in one.inside],
            }
            for number, one in enumerate(self._loops, 1)
        ]  # fmt: skip
        return {"file": self.file, "loops": loops, "looks": self.looks, "peak_memory_bytes": self.peak_bytes}

    def print(self, console: Console) -> None:
        lines = [] if self._loops else [f"{self.file}: no iterations were found"]
        looks, peak = units.plural(self.looks, "look"), units.size(self.peak_bytes)
        print_lines(console, [*lines, f"The run has ended. {looks}, {peak} of memory at most"])


def check_times(trace: Trace) -> None:
    """Raise TracelibError if a run has no times (a Dimemas trace), or does not know when its ranks compute."""
    if not trace.has_call_times:
        raise TracelibError(f"{trace.path}: a Dimemas trace has no times", "analyze the run that it was made of")
    check_computing(trace)


def compute(
    trace: Trace, team: Team, *, method: str = IterationMethod.BOTH.value, signals: tuple[str, ...] = ()
) -> StructureResult:
    """Find the iterations of a run: how many, how long, and what each does. Collective over the team.

    Args:
        trace: An opened run.
        team: Processes that share the work.
        method: How iterations are found: "calls", "signals", "thesis" or "both".
        signals: Names of signals to use instead of the usual ones. (): the usual ones.

    Raises:
        TracelibError: The run has no times, or there is no such signal.

    Source: Casas 2009, chapter 3, for the signals.
    """
    check_times(trace)
    parts = structure(trace, team, IterationMethod(method), signals)
    if parts.main and parts.main.iterations:
        return StructureResult(parts, analyze_imbalance(trace, team, parts.main.iterations))
    return StructureResult(parts)
