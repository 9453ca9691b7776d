"""Tables of the records of a run, as properties of an opened run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

from analyzer.frames.blocks import Block
from analyzer.frames.table import Table
from analyzer.frames.tables import Tables
from analyzer.interface.opened_run import OpenedRun
from analyzer.results.open_part import iterations_in


class RecordedTables(OpenedRun):
    """Records of an opened run as tables: calls, messages, regions, iterations, wait states, places."""

    @cached_property
    def tables(self) -> Tables:
        """All tables of the run. Nothing is read before the rows of a table are used."""
        wanted = self._host.wanted
        found = iterations_in(self.trace, self._host) if wanted and wanted.is_part else None
        tables = Tables(self.trace, iterations=found)
        for table in tables:
            setattr(tables, table.name, replace(table, blocks=self._while_open(table.blocks)))
        return tables

    @property
    def calls(self) -> Table:
        """A row for each MPI call, by rank and time: `run.calls.to_pandas()`."""
        return self._table("calls")

    @property
    def messages(self) -> Table:
        """A row for each message, sorted by the sending rank."""
        return self._table("messages")

    @property
    def regions(self) -> Table:
        """A row for each visit of a region by a thread."""
        return self._table("regions")

    @property
    def iterations(self) -> Table:
        """A row for each iteration of the main loop on each rank."""
        return self._table("iterations")

    @property
    def wait_states(self) -> Table:
        """A row for each wait state, with the rank that caused it."""
        return self._table("waits")

    @property
    def places(self) -> Table:
        """A row for each rank, place and procedure, with number and time of the calls."""
        return self._table("places")

    def _table(self, name: str) -> Table:
        self.trace  # noqa: B018, raises where the run is closed
        table: Table = getattr(self.tables, name)
        return table

    def _while_open(self, blocks: Callable[[], Iterator[Block]]) -> Callable[[], Iterator[Block]]:
        """Return a function that reads blocks, and raises an error if the run is closed."""

        def read() -> Iterator[Block]:
            self.trace  # noqa: B018, raises where the run is closed
            return blocks()

        return read
