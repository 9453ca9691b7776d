"""Access to the raw rows of rank files, for kernels and for traces whose rows lie in such files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.thread_records.stored import Stored
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import Extra, Trace


class RowReader(Protocol):
    """Interface of a trace that can give the rows of ranks as they lie in their files."""

    def files_of(self, ranks: range) -> list[RankFile]:
        """Return the files of these ranks that can be read."""

    def only_lane(self, rank: int) -> ThreadRecords | None:
        """Return the thread of a rank that has exactly one thread; None: it has several, or no file."""

    def raw_calls(
        self, rank: int, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[ThreadRecords, np.ndarray, np.ndarray]]:
        """Yield blocks of a rank that has one thread: the thread, raw rows of `calls`, and raw rows of folded polls."""

    def stored_lanes(self, ranks: range) -> Stored | None:
        """Return the threads of ranks for kernels that read the files themselves.

        None: a rank cannot be read in this way.
        """

    def forget(self, rank: int) -> None:
        """Drop the rows of a rank from memory."""


@dataclass(frozen=True, kw_only=True)
class RankRows(Extra):
    """Extra that gives access to the rows of rank files. reader: None if the trace has no such files."""

    reader: RowReader | None = None


def row_reader(trace: Trace) -> RowReader | None:
    """Return the reader of a trace's rank files. None: the trace has no such files, or shows only a part of a run."""
    reader = trace.extra(RankRows).reader
    return reader if reader is trace else None
