"""Access of kernels to rows of rank files: for traces whose rows lie in such files."""

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
    """Reader of the rows of ranks as they lie in their files."""

    def files_of(self, ranks: range) -> list[RankFile]:
        """Return the files of these ranks that can be read."""

    def only_lane(self, rank: int) -> ThreadRecords | None:
        """Return the thread of a rank that has one; else None."""

    def raw_calls(
        self, rank: int, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[ThreadRecords, np.ndarray, np.ndarray]]:
        """Read the blocks of `Trace.calls` of a rank of one thread as raw rows of calls and of folded polls."""

    def stored_lanes(self, ranks: range) -> Stored | None:
        """Return the threads of ranks that kernels read in their files; None if one rank has no such thread."""

    def forget(self, rank: int) -> None:
        """Drop what is kept in memory of the rows of a rank."""


@dataclass(frozen=True, kw_only=True)
class RankRows(Extra):
    """Reader of rank files; None: the trace has none."""

    reader: RowReader | None = None


def row_reader(trace: Trace) -> RowReader | None:
    """Return the reader of a trace's rows; None if the trace is of another source, or shows a part of a run alone."""
    reader = trace.extra(RankRows).reader
    return reader if reader is trace else None
