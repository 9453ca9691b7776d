"""All tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from html import escape

from analyzer.frames import events, findings
from analyzer.frames.blocks import NS, Block
from analyzer.frames.table import Table
from analyzer.frames.where import Where
from analyzer.structure.iterations import Iterations
from analyzer.trace import Trace

Reader = Callable[[Where, int, int], Iterator[Block]]

TABLES: dict[str, tuple[str, Reader]] = {
    "calls": ("Every MPI call of every rank.", events.calls),
    "messages": ("Every message, by the rank that sent it.", events.messages),
    "regions": ("Every time that a thread was in a region of the program, with its parameters.", events.regions),
    "iterations": ("Every iteration of the main loop on every rank.", findings.iterations),
    "waits": ("Every wait state, and who caused it.", findings.waits),
    "places": ("What calls cost, by rank and place in the program; of the whole run.", findings.places),
}
"""By name: what a row is, and who reads it: of the trace, from and until a time in ns."""


class Tables:
    """The tables of a trace, as attributes. Nothing is read before a table is asked for its rows."""

    calls: Table
    messages: Table
    regions: Table
    iterations: Table
    waits: Table
    places: Table

    def __init__(
        self, trace: Trace, begin_s: float = 0.0, end_s: float | None = None, *, in_iterations: bool = True,
        iterations: Iterations | None = None,
    ) -> None:  # fmt: skip
        """Of what begins in [begin_s, end_s), in seconds of the trace. `in_iterations`: rows have a column `iteration`;
        to find the main loop takes longer than all else. iterations: those of another loop than the main one."""
        self.trace = trace
        where = Where(trace, in_iterations=in_iterations, iterations=iterations)
        begin = max(round(begin_s * NS), 0)
        end = trace.duration_ns + 1 if end_s is None else max(min(round(end_s * NS), trace.duration_ns + 1), begin)
        for name, (says, reader) in TABLES.items():
            setattr(self, name, Table(name, says, partial(reader, where, begin, end)))

    def __iter__(self) -> Iterator[Table]:
        """All of them."""
        return (getattr(self, name) for name in TABLES)

    def __repr__(self) -> str:
        lines = [f"{table.name}: {table.says}" for table in self]
        return "\n".join([f"{self.trace.path}, {self.trace.size} ranks", *lines])

    def _repr_html_(self) -> str:
        """What there is, for a notebook."""
        rows = "".join(f"<tr><td><b>{table.name}</b></td><td>{table.says}</td></tr>" for table in self)
        return f"<p>{escape(self.trace.path)}, {self.trace.size} ranks</p>\n<table>{rows}</table>"
