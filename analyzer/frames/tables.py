"""All tables of a run, by name, and the functions that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import Protocol, runtime_checkable

from analyzer.arguments import Seconds, checks_arguments
from analyzer.frames import computed_tables, events
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
    "iterations": ("Every iteration of the main loop on every rank.", computed_tables.iterations),
    "waits": ("Every wait state, and who caused it.", computed_tables.waits),
    "places": ("What calls cost, by rank and place in the program; of the whole run.", computed_tables.places),
}
"""All tables by name: a sentence that says what one row is, and the function that reads the rows.

The function takes a `Where` and a window [begin, end) in ns, and yields the rows that begin in this window.
"""


@runtime_checkable
class OpenRun(Protocol):
    """Interface of an opened run, such as `analyzer.open` returns: it has a trace."""

    @property
    def trace(self) -> Trace:
        """The trace of the run."""


@checks_arguments
class Tables:
    """All tables of a run, as attributes. Rows are read only when a table is asked for them."""

    calls: Table
    messages: Table
    regions: Table
    iterations: Table
    waits: Table
    places: Table

    def __init__(
        self, trace: Trace | OpenRun, begin_s: Seconds = 0.0, end_s: Seconds | None = None, *,
        in_iterations: bool = True, iterations: Iterations | None = None,
    ) -> None:  # fmt: skip
        """Describe the tables of a run; rows are not read yet.

        Args:
            trace: A run as `analyzer.open` returns it, or its trace.
            begin_s: Only rows that begin at this time or later, in seconds since the start of the trace.
            end_s: Only rows that begin before this time, in seconds. None: until the end of the run.
            in_iterations: Whether rows have a column `iteration`. Finding the main loop takes longer than all other
                work.
            iterations: Iterations to use instead of the main loop's. None: find the main loop.
        """
        trace = trace.trace if isinstance(trace, OpenRun) else trace
        self.trace = trace
        where = Where(trace, in_iterations=in_iterations, iterations=iterations)
        begin = max(round(begin_s * NS), 0)
        end = trace.duration_ns + 1 if end_s is None else max(min(round(end_s * NS), trace.duration_ns + 1), begin)
        for name, (says, reader) in TABLES.items():
            setattr(self, name, Table(name, says, partial(reader, where, begin, end)))

    def __iter__(self) -> Iterator[Table]:
        """Iterate over all tables."""
        return (getattr(self, name) for name in TABLES)

    def __repr__(self) -> str:
        lines = [f"{table.name}: {table.says}" for table in self]
        return "\n".join([f"{self.trace.path}, {self.trace.size} ranks", *lines])

    def _repr_html_(self) -> str:
        """Return the list of tables as HTML, which a notebook displays."""
        rows = "".join(f"<tr><td><b>{table.name}</b></td><td>{table.says}</td></tr>" for table in self)
        return f"<p>{escape(self.trace.path)}, {self.trace.size} ranks</p>\n<table>{rows}</table>"
