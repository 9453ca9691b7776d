"""Result of `analyze check`: whether a run is sound and complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from analyzer.metrics.checks import findings, findings_at, notes
from analyzer.parallel import Team
from analyzer.recording.run.file_findings import count_findings, stamp_findings
from analyzer.recording.run.rank_rows import RowReader, row_reader
from analyzer.report.words.clocks import clock_lines, clocks_json, repair_json
from analyzer.report.words.groups import FEW, few_lines
from analyzer.report.words.units import plural
from analyzer.results.result import Result, print_lines
from analyzer.trace import Chosen, Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.chosen import choice_named

_MOST_LINES = 24


@dataclass(frozen=True, repr=False)
class CheckResult(Result):
    """Findings about a run that is damaged, incomplete or unusual.

    Attributes:
        findings: What is wrong, one line each. Empty: the run is good.
        notes: What is unusual but not wrong, one line each.
        place: Expression by which calls were chosen. "": all calls.
    """

    _main: ClassVar[tuple[str, ...]] = ("lines",)

    _trace: Trace
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    place: str = ""

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 1 if there are findings, otherwise 0."""
        return 1 if self.findings else 0

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {"file": str(self._trace.path), "good": not self.findings}
        data |= {"findings": list(self.findings), "notes": list(self.notes), "chosen": self._trace.extra(Chosen).ranks}
        return data | {"clocks": clocks_json(self._trace), "repair": repair_json(self._trace)}

    def _rows(self) -> dict[str, list[dict[str, Any]]]:
        kinds = [("finding", self.findings), ("note", self.notes)]
        return super()._rows() | {"lines": [{"kind": kind, "text": text} for kind, texts in kinds for text in texts]}

    def print(self, console: Console) -> None:
        print_lines(console, few_lines(list(self.findings), _MOST_LINES, "; --json lists all"))
        print_lines(console, [f"clocks: {text}" for text in clock_lines(self._trace)])
        if not self.findings:
            at = f", of calls through {self.place}" if self.place else ""
            ranks = choice_named(self._trace) or plural(self._trace.size, "rank")
            print_lines(console, [f"{self._trace.path}: good, {ranks}{at}"])
        lines = few_lines(list(self.notes), FEW, "; --json lists all")
        print_lines(console, [f"note: {line}" for line in lines])


def compute(trace: Trace, team: Team, *, place: PlaceChoice | None = None) -> CheckResult:
    """Check that records are in order, messages match, counts are consistent, and nothing was lost.

    Collective over the team.

    Args:
        trace: A run, opened with impossible=True.
        team: Processes that share the work.
        place: Only calls through these places. None: all calls.
    """
    found = findings_at(trace, team, place) if place else findings(trace, team)
    reader = row_reader(trace)
    if reader and not place:
        found = found + _findings_of_files(reader, trace.share(team), team)
    return CheckResult(trace, tuple(found), tuple(notes(trace)), place.text if place else "")


def _findings_of_files(reader: RowReader, ranks: range, team: Team) -> list[str]:
    """List what is wrong in the rank files: first counts, then time stamps. The team shares the files."""
    files = reader.files_of(ranks)
    kinds = zip(*team.allgather((count_findings(files), stamp_findings(files))), strict=True)
    return [line for parts in kinds for part in parts for line in part]
