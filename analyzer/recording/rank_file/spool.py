"""Rows that a killed process recorded but did not write to its file.

They are in its spools, if these are on this machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

import numpy as np

from analyzer.recording.rank_file.file import RankFile
from analyzer.trace import Problem
from tracelib import schema
from tracelib.schema import ProcessState
from tracelib.schema.spool import ThreadSpool, is_alive, is_here, is_replaced, lost_calls, read_spool, spool_paths

_CALLS = list(schema.BUFFERED).index("calls")


def inside(file: RankFile, pending: Sequence[ThreadSpool]) -> list[tuple[int, int, int, int]]:
    """Return the calls in which threads died: (row of `procedures`, ticks of entry, thread, path) of each.

    A call that already has a row is left out: the process died between writing the row and returning to the program.
    """
    every = [tuple(row) for row in file.inside.tolist()] + [spool.inside for spool in pending if spool.inside]
    return [row for row in every if _last_exit(file, pending, thread=row[2]) <= row[1]]


def _last_exit(file: RankFile, pending: Sequence[ThreadSpool], *, thread: int) -> int:
    """Return the ticks at which a thread's last recorded call ended; 0: there is none."""
    exits = [int(spool.rows["calls"]["exit"][-1]) for spool in pending if spool.thread == thread and _has_calls(spool)]
    blocks = file.blocks[(file.blocks["thread"] == thread) & (file.blocks["count"][:, _CALLS] > 0)][-1:]
    for block in blocks:
        last = min(int(block["first"][_CALLS] + block["count"][_CALLS]), file.lengths["calls"])
        exits += file.read("calls", max(last - 1, 0), last)["exit"].tolist()
    return max(exits, default=0)


def _has_calls(spool: ThreadSpool) -> bool:
    return len(spool.rows["calls"]) > 0


class Unfinished:
    """Calls of a process that had not ended when it died. Their partners and sizes are not known.

    `rows` are read like the rows of a buffer that was never written. Until `end` is called, each call ends at its
    entry.
    """

    def __init__(self, file: RankFile, pending: Sequence[ThreadSpool]) -> None:
        known = len(file.procedures)
        self._calls: Mapping[int, np.ndarray] = {
            thread: np.array([(entered, entered, 0, 0, 0, schema.Peer.NONE, -1, call, thread)], schema.CALL)
            for call, entered, thread, _ in inside(file, pending)
            if call < known
        }
        self.rows: list[ThreadSpool] = [
            _as_spool(self._calls[thread], path)
            for _, _, thread, path in inside(file, pending)
            if thread in self._calls
        ]

    def __len__(self) -> int:
        """Return the number of unfinished calls."""
        return len(self._calls)

    def entered(self, thread: int) -> int | None:
        """Return the ticks at which a thread entered its unfinished call; None: it has none."""
        row = self._calls.get(thread)
        return None if row is None else int(row["enter"][0])

    def procedure(self, thread: int) -> int:
        """Return the row of `procedures` of a thread's unfinished call, which must exist."""
        return int(self._calls[thread]["call"][0])

    def end(self, thread: int, ticks: int) -> None:
        """Set the end of a thread's unfinished call to `ticks`, but not before its entry."""
        row = self._calls[thread]
        row["exit"] = max(int(row["enter"][0]), ticks)


def _as_spool(call: np.ndarray, path: int) -> ThreadSpool:
    header = np.zeros(1, schema.SPOOL_HEADER)
    header["thread"] = call["thread"]
    rows = {table: np.zeros(0, dtype) for table, dtype in schema.BUFFERED.items()}
    rows["calls"], rows["call_paths"] = call, np.array([path], schema.PATH_NUMBER)
    return ThreadSpool(header[0], None, rows)


class Fate(Enum):
    """State that a process reached: how it ended, or that it is still running."""

    ENDED = "with MPI_Finalize, or in a run without MPI"
    EXITED = "without MPI_Finalize, by exit or MPI_Abort"
    FULL = "the disk was full"
    KILLED = "by a signal, or by _exit"
    REPLACED = "by another program, with exec; that still runs"
    RUNNING = "still"
    UNKNOWN = "was killed or is still running, on another machine"


OPEN_ENDED = (Fate.EXITED, Fate.KILLED, Fate.REPLACED, Fate.RUNNING, Fate.UNKNOWN)
"""Fates after which the last operations with other ranks may be half done or missing."""

_RECORDING, _RECOVERED = int(ProcessState.RECORDING), int(ProcessState.RECOVERED)
_FATES = {
    ProcessState.FINALIZED: Fate.ENDED,
    ProcessState.EXITED: Fate.EXITED,
    ProcessState.FULL: Fate.FULL,
    ProcessState.RECOVERED: Fate.KILLED,
}


def fate(file: RankFile) -> Fate:
    """Determine how the process that wrote the file ended, as far as it can be known."""
    state = file.attributes["state"]
    if state != _RECORDING:
        return _FATES[ProcessState(int(state))]
    if not is_here(file.attributes):
        return Fate.UNKNOWN
    if not is_alive(file.attributes):
        return Fate.KILLED
    return Fate.REPLACED if is_replaced(file.attributes) else Fate.RUNNING


def pending_rows(file: RankFile, found: Fate) -> tuple[list[ThreadSpool], list[Problem]]:
    """Return the rows of a process that are only in its spools, and the problems to report.

    Args:
        file: File of a process that did not end in order; others have no such rows.
        found: Fate of the process.
    """
    a = file.attributes
    if a["state"] == _RECOVERED:
        return [], [Problem(file.rank, "was killed; its last calls were put into the file by tracelib recover")]
    if found == Fate.FULL:
        return [], _after_full_disk(file)
    if found == Fate.UNKNOWN:
        text = f"was killed or is still running; its buffer can only be read on {a['host'] or 'its node'}"
        return [], [Problem(file.rank, text)]
    if found == Fate.RUNNING:
        return [], [Problem(file.rank, "is still running: the calls in its buffer are left out")]
    if found not in (Fate.KILLED, Fate.REPLACED):
        return [], []
    how = "was killed" if found == Fate.KILLED else "was replaced by another program (exec)"
    paths = spool_paths(str(a["spool"]))
    read = _read(file)
    rows, lost = [spool for spool in read if not spool.left_out], lost_calls(read, a)
    if paths:
        problems = [Problem(file.rank, f"{how}; {_content(rows)} were recovered from its buffer")]
        if lost:
            problems.append(
                Problem(file.rank, f"{lost} more calls were lost with its buffer, because of TRACELIB_LIMIT")
            )
        return rows, problems
    where = f"its buffer {a['spool']}.* is gone" if a["spool"] else "its buffer was not in a file"
    return [], [Problem(file.rank, f"{how}, and {where}: the last calls are missing")]


def _read(file: RankFile) -> list[ThreadSpool]:
    paths = spool_paths(str(file.attributes["spool"]))
    read = (read_spool(path.read_bytes(), file.path.name, file.lengths) for path in paths)
    return [spool for spool in read if spool is not None]


def _after_full_disk(file: RankFile) -> list[Problem]:
    """Report the calls that a process lost after its disk was full.

    A process that ended in order has no spools left.
    """
    if not is_here(file.attributes) or is_alive(file.attributes):
        return []
    calls = sum(spool.calls for spool in _read(file))
    text = f"was killed later: the {calls} calls in its buffer are lost, and those before them were not counted"
    return [Problem(file.rank, text)] if calls else []


def _content(spools: Sequence[ThreadSpool]) -> str:
    """Describe how many calls were recovered. Without calls, as in runs without MPI, describe the number of events."""
    counts = {table: sum(len(spool.rows[table]) for spool in spools) for table in ("calls", "events")}
    return f"{counts['calls']} calls" if counts["calls"] or not counts["events"] else f"{counts['events']} events"


def died_inside(
    file: RankFile, pending: Sequence[ThreadSpool], ns: Callable[[int], int], chain: Callable[[int], str]
) -> list[Problem]:
    """Report the calls in which the threads of a killed process died.

    Args:
        file: File of the process.
        pending: Spools of the process.
        ns: Converts ticks to ns.
        chain: Returns a path of the file as text.
    """
    if not len(file.inside) and not pending:
        return []
    problems = []
    for call, entered, thread, path in inside(file, pending):
        name = file.procedures[call] if call < len(file.procedures) else "an unknown call"
        who = f"its thread {thread}" if thread else "it"
        since_s = (ns(entered) - ns(int(file.attributes["start_ticks"]))) / 1e9
        where = f" at {said}" if (said := chain(path)) else ""
        problems.append(Problem(file.rank, f"{who} died inside {name}{where}, entered {since_s:.6g} s after the start"))
    return problems
