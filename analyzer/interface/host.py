"""Host of runs that a Python program opens. It prints nothing, and keeps the remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from analyzer.parallel import Team
from analyzer.results.open_part import IterationChoice, remarks
from analyzer.trace import Trace


@dataclass
class PythonHost:
    """Python process that opens a run; it keeps the remarks instead of printing them.

    Attributes:
        team: This process alone.
        wanted: Iterations that the user chose. None: the whole run.
        remarks: Remarks about runs, one line each, without duplicates.
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
        """Keep the lines that are not among the remarks yet."""
        self.remarks += [line for line in dict.fromkeys(lines) if line not in self.remarks]

    def mention_problems(self, trace: Trace) -> None:
        """Keep the remarks about a run."""
        self.mention(remarks(trace))

    def note_buffers(self, trace: Trace) -> None:
        """Do nothing. Only the command `analyze` completes runs from the buffers of this node."""

    def call_on_close(self, clean_up: Callable[[], None]) -> None:
        """Remember a function that `close` will call."""
        self._clean_ups.append(clean_up)

    def close(self) -> None:
        """Call the remembered functions, the last one first; they remove temporary files."""
        while self._clean_ups:
            self._clean_ups.pop()()
