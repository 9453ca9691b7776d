"""Host for runs that a Python program opens: it prints nothing, and keeps the remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from analyzer.parallel import Team
from analyzer.results.open_part import IterationChoice, remarks
from analyzer.trace import Trace


@dataclass
class PythonHost:
    """One process of Python.

    Attributes:
        team: This process alone.
        wanted: Iterations that the user chose.
        remarks: What was said of runs, a line each, without repetitions.
    """

    team: Team = field(default_factory=Team)
    wanted: IterationChoice | None = None
    remarks: list[str] = field(default_factory=list)
    _clean_ups: list[Callable[[], None]] = field(default_factory=list)

    @contextmanager
    def step(self, label: str) -> Iterator[Callable[[str], None]]:
        """Show nothing."""
        del label
        yield lambda text: None

    def mention(self, lines: Iterable[str]) -> None:
        """Keep lines that are new."""
        self.remarks += [line for line in dict.fromkeys(lines) if line not in self.remarks]

    def mention_problems(self, trace: Trace) -> None:
        """Keep what a user should know of a run."""
        self.mention(remarks(trace))

    def note_buffers(self, trace: Trace) -> None:
        """Do nothing: `analyze` completes runs from the buffers of this node."""

    def call_on_close(self, clean_up: Callable[[], None]) -> None:
        """Keep a function for `close`."""
        self._clean_ups.append(clean_up)

    def close(self) -> None:
        """Remove temporary files."""
        while self._clean_ups:
            self._clean_ups.pop()()
