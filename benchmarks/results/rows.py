"""The rows that a part of the page is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A number that is published, or a property that is claimed, and what is found here."""

    what: str
    target: str
    found: str
    note: str = ""

    @property
    def line(self) -> str:
        """Return the line of the table in Markdown."""
        return f"| {self.what} | {self.target} | {self.found} | {self.note} |"


@dataclass(frozen=True)
class Part:
    """R1, R2, ...: some tables under one heading, each with a sentence on where its numbers come from."""

    title: str
    tables: tuple[tuple[str, tuple[Row, ...]], ...]

    @property
    def text(self) -> str:
        """In Markdown."""
        lines = [f"## {self.title}"]
        for said, rows in self.tables:
            lines += ["", said, "", "| | target | found | |", "|---|---|---|---|", *(row.line for row in rows)]
        return "\n".join(lines)


def percent(share: float, digits: int = 1) -> str:
    """Write 0.012 as "1.2 %"."""
    return f"{100 * share:.{digits}f} %"


def listed(values: Iterable[object]) -> str:
    """Write "5, 5, 3"."""
    return ", ".join(map(str, values))
