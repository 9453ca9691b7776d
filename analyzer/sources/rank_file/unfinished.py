"""Calls that a killed process did not come back from, as rows of `calls` that end at the last sign of life."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.sources.rank_file.rank_file import RankFile
from tracelib import schema
from tracelib.schema.spool import Spool

_CALLS = list(schema.BUFFERED).index("calls")


def inside(file: RankFile, pending: Sequence[Spool]) -> list[tuple[int, int, int, int]]:
    """Call (row of `procedures`), ticks of its entry, thread and path of each thread that died in a call.

    A call that has a row already is none of them: the process died between the row and the program.
    """
    every = [tuple(row) for row in file.inside.tolist()] + [spool.inside for spool in pending if spool.inside]
    return [row for row in every if _last_exit(file, pending, thread=row[2]) <= row[1]]


def _last_exit(file: RankFile, pending: Sequence[Spool], *, thread: int) -> int:
    """Ticks of the exit of a thread's last recorded call; 0: it has none."""
    exits = [int(spool.rows["calls"]["exit"][-1]) for spool in pending if spool.thread == thread and _has_calls(spool)]
    blocks = file.blocks[(file.blocks["thread"] == thread) & (file.blocks["count"][:, _CALLS] > 0)][-1:]
    for block in blocks:
        last = min(int(block["first"][_CALLS] + block["count"][_CALLS]), file.lengths["calls"])
        exits += file.read("calls", max(last - 1, 0), last)["exit"].tolist()
    return max(exits, default=0)


def _has_calls(spool: Spool) -> bool:
    return len(spool.rows["calls"]) > 0


class Unfinished:
    """The unfinished calls of a process. They say nothing of what they would have done with others.

    `rows` are read like those of a buffer that was never written. Until `end` is called, each ends as it begins.
    """

    def __init__(self, file: RankFile, pending: Sequence[Spool]) -> None:
        known = len(file.procedures)
        self._calls: Mapping[int, np.ndarray] = {
            thread: np.array([(entered, entered, 0, 0, 0, schema.Peer.NONE, -1, call, thread)], schema.CALL)
            for call, entered, thread, _ in inside(file, pending)
            if call < known
        }
        self.rows: list[Spool] = [
            _as_spool(self._calls[thread], path)
            for _, _, thread, path in inside(file, pending)
            if thread in self._calls
        ]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._calls)

    def entered(self, thread: int) -> int | None:
        """Ticks at which a thread entered the call; None: it was in none."""
        row = self._calls.get(thread)
        return None if row is None else int(row["enter"][0])

    def procedure(self, thread: int) -> int:
        """The row of `procedures`; the thread must be in a call."""
        return int(self._calls[thread]["call"][0])

    def end(self, thread: int, ticks: int) -> None:
        """Take a thread's call to have lasted until then, if that is after its entry."""
        row = self._calls[thread]
        row["exit"] = max(int(row["enter"][0]), ticks)


def _as_spool(call: np.ndarray, path: int) -> Spool:
    header = np.zeros(1, schema.SPOOL_HEADER)
    header["thread"] = call["thread"]
    rows = {table: np.zeros(0, dtype) for table, dtype in schema.BUFFERED.items()}
    rows["calls"], rows["call_paths"] = call, np.array([path], schema.PATH_NUMBER)
    return Spool(header[0], None, rows)
