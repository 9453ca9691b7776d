"""Checks of time stamps that hold for every row, in all commands.

Stamps are compared as ticks, before a clock is fitted to them: a clock made of impossible pairs would hide them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.errors import TracelibError
from analyzer.recording.rank_file.file import PREDICTED, RankFile
from analyzer.recording.rank_file.pieces import KEY
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.trace import Problem
from tracelib.schema import ProcessState

SLACK_TICKS = 4096
"""Tolerance of comparisons, in ticks.

Two CPUs may read the counter a little differently (130 ticks were seen), and lower digits may not be recorded.
"""

LATE_NS = 60 * 10**9
"""Tolerance in ns for rows after the last pair of clock readings.

A process that is killed after MPI_Finalize may have written rows, but not the clock readings that follow them. Commands
read rows that are late by at most this time; `check` counts such rows.
"""

FAULTS: dict[int, str] = {
    lib.STAMP_BEFORE_START: "stamped before the process started",
    lib.STAMP_AFTER_END: "stamped after the process ended",
    lib.STAMP_REVERSED: "with an end before the begin",
    lib.STAMP_BACKWARDS: "stamped before the end of the previous row of the same thread",
    lib.STAMP_INSIDE_LONG: "with more time inside MPI than from begin to end",
    lib.STAMP_NO_CALL: "that stands for no call",
}
"""Faults of rows, and their texts in messages: "a row ... stamped before the process started"."""

_LOOK = {table: getattr(lib, f"stamps_of_{table}") for table in KEY}
_LAST_TICK = 2**64 - 1
_FINALIZED = int(ProcessState.FINALIZED)
_REMEMBERED = 64
_FEW = 32
"""Number of values up to which Python finds the extremes faster than numpy."""
_HINT = "results from such times would be wrong; analyze check says how many such rows there are"


@dataclass(frozen=True)
class Life:
    """First and last tick of a process, as its file tells.

    last: None if the process did not come to MPI_Finalize. Then a thread may still have worked, or written its buffer,
    when the process ended.
    """

    first: int
    last: int | None

    @classmethod
    def of(cls, file: RankFile) -> Life:
        """Read the life of a process from its file.

        The last tick is the latest clock reading, which is taken after all rows.
        """
        ended = file.attributes["state"] == _FINALIZED and len(file.clock)
        return cls(int(file.attributes["start_ticks"]), _least_and_most(file.clock["ticks"])[1] if ended else None)

    def before(self, ticks: np.ndarray) -> np.ndarray:
        """Return a mask of the ticks before the start of the process, beyond SLACK_TICKS."""
        return ticks < max(self.first - SLACK_TICKS, 0)

    def after(self, ticks: np.ndarray) -> np.ndarray:
        """Return a mask of the ticks after the end of the process, beyond SLACK_TICKS."""
        return ticks > self.last + SLACK_TICKS if self.last is not None else np.zeros(len(ticks), bool)

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """First and last possible tick of a row: the life of the process, extended by SLACK_TICKS."""
        last = _LAST_TICK if self.last is None else min(self.last + SLACK_TICKS, _LAST_TICK)
        return max(self.first - SLACK_TICKS, 0), last


def _least_and_most(numbers: np.ndarray) -> tuple[int, int]:
    """Return the smallest and the largest of at least one number; usually there are two."""
    if len(numbers) > _FEW:
        return int(numbers.min()), int(numbers.max())
    known = numbers.tolist()
    return min(known), max(known)


class Rows:
    """Checker of the rows of one thread's table, which takes consecutive rows."""

    def __init__(self, table: str, life: Life, slack: int = 0) -> None:
        """Prepare the check.

        Args:
            table: Name of the table.
            life: Life of the process.
            slack: Ticks by which a row may lie before its predecessor without a fault.
        """
        first, last = life.bounds
        self._look = _LOOK[table]
        self._stamps = ffi.new("struct stamps *", {"start": first, "stop": last, "slack": slack})

    def look(self, rows: np.ndarray, latest: int) -> int:
        """Check the next rows.

        Args:
            rows: The rows.
            latest: Ticks at which the row before them ended.

        Returns:
            Index of the first impossible row; the number of rows if all are possible.
        """
        self._stamps.latest = latest
        self._look(self._stamps, ffi.from_buffer(rows), len(rows))
        return self._stamps.first

    @property
    def latest(self) -> int:
        """Ticks at which the last checked row ended."""
        return self._stamps.latest

    @property
    def found(self) -> Counter[int]:
        """Number of checked rows by fault (key of FAULTS)."""
        return +Counter({fault: self._stamps.faults[fault] for fault in FAULTS})


class Watch:
    """Callback that raises an error for impossible rows of a thread's table when they are read."""

    __slots__ = ("_file", "_latest", "_life", "_table", "_thread")

    def __init__(self, file: RankFile, thread: int, table: str, life: Life) -> None:
        self._file, self._thread, self._table, self._life = file, thread, table, life
        self._latest: dict[int, int] = {}  # end of the previous row, by number of the row

    def ends(self, rows: np.ndarray, count: int) -> None:
        """Check the first and the last row of a table with `count` rows. Raises TracelibError if one is impossible."""
        looked = Rows(self._table, self._life, SLACK_TICKS)
        apart = [(rows[:1], 0), (rows[1:], count - 1)] if count != 2 else [(rows, 0)]  # two are neighbours
        for some, number in apart:
            if (bad := looked.look(some, 0)) < len(some):
                raise self._error(number + bad, looked)

    def __call__(self, rows: np.ndarray, first: int) -> None:
        """Check rows, the first of which has number `first`. Raises TracelibError if one is impossible."""
        looked = Rows(self._table, self._life, SLACK_TICKS)
        bad = looked.look(rows, self._latest.get(first, 0))
        if bad < len(rows):
            raise self._error(first + bad, looked)
        if len(self._latest) > _REMEMBERED:
            self._latest.clear()
        self._latest[first + len(rows)] = looked.latest

    @property
    def stamps(self) -> tuple[int, int, int]:
        """First and last possible tick, and the ticks by which a row may lie before its predecessor."""
        return (*self._life.bounds, SLACK_TICKS)

    def _error(self, number: int, looked: Rows) -> TracelibError:
        (fault, *_) = looked.found
        which = f"number {number} of thread {self._thread} of rank {self._file.rank}"
        return TracelibError(f"{self._file.path}: a row of {self._table} {FAULTS[fault]} ({which})", _HINT)


Tables = Mapping[int, Mapping[str, ThreadTable]]
"""Tables of the threads of a rank, by number of the thread, then by name of the table."""


def possible_only(
    file: RankFile, threads: dict[int, dict[str, ThreadTable]], *, impossible: bool, sound: bool = False
) -> list[Problem]:
    """Leave out first rows that surely lie outside the process's life. Other impossible rows raise an error when read.

    Predictions are not checked: their times come from no clock.

    Args:
        file: The file of a rank.
        threads: Tables by thread and name; tables with left-out rows are replaced.
        impossible: Accept other impossible rows.
        sound: Another process has already checked for rows to leave out, and the ends of tables, and found no fault.

    Returns:
        One problem with the number of rows left out, or none.

    Raises:
        TracelibError: A first or last row is impossible, or rows would be left out of a file with counters.
    """
    if file.attributes["boot_id"] == PREDICTED:
        return []
    life = Life.of(file)
    left_out = "" if sound else _leave_out(threads, life)
    if left_out and len(file.counters):  # readings would no longer belong to their calls
        text = f"{file.path}: {left_out} outside of the process's life"
        raise TracelibError(text, "without these rows its counters cannot be read; trace the program again")
    if not impossible:
        _watch(file, threads, life, ends=not sound)
    text = f"{left_out} outside of the process's life left out (calls of constructors, stamped by another clock)"
    return [Problem(file.rank, text)] if left_out else []


def _watch(file: RankFile, threads: Tables, life: Life, *, ends: bool) -> None:
    """Check the rows of each table when they are read. `ends`: check the first and the last row now."""
    if life.last is not None:
        life = replace(life, last=min(life.last + _late_ticks(file), _LAST_TICK))
    for thread, tables in threads.items():
        for name, table in tables.items():
            if table.has_rows:
                table.watch(Watch(file, thread, name, life), ends=ends)


def _late_ticks(file: RankFile) -> int:
    """Return LATE_NS in ticks of the file's clock."""
    (first, last), (begin, end) = (_least_and_most(file.clock[name]) for name in ("ticks", "monotonic_ns"))
    return LATE_NS * (last - first) // (end - begin) if end > begin else LATE_NS


def leave_out_strange(file: RankFile, threads: dict[int, dict[str, ThreadTable]]) -> str:
    """Remove the first rows of each thread's tables that lie outside of the process's life.

    Earlier versions of the tracer stamped calls of constructors with another clock (CLOCK_MONOTONIC in ns) than all
    later calls. The true time of these calls is not known. In the middle of a table nothing is removed.

    Returns:
        Number of removed rows by table, in words; "" if there are none.
    """
    return _leave_out(threads, Life.of(file))


def _leave_out(threads: dict[int, dict[str, ThreadTable]], life: Life) -> str:
    life = _until_the_last_row(life, threads)
    left_out: Counter[str] = Counter()
    for tables in threads.values():
        first, last = life.bounds
        for name, table in tables.items():
            if table.has_rows and not first <= table.first_key <= last:
                n = _strange_at_the_front(table, name, life)
                tables[name] = table.without_first(n)
                left_out[name] += n
    return ", ".join(f"{plural_rows(n)} of {name}" for name, n in left_out.items())


def _until_the_last_row(life: Life, threads: Tables) -> Life:
    """Set the end of a process without MPI_Finalize to the last row of any thread.

    No first row of a table is later than that.
    """
    if life.last is not None:
        return life
    last = (table.last_key for tables in threads.values() for table in tables.values() if len(table))
    return Life(life.first, max(last, default=life.first))


def plural_rows(n: int) -> str:
    """Return "1 row", "2 rows", ..."""
    return f"{n} row{'s' if n != 1 else ''}"


def _strange_at_the_front(table: ThreadTable, name: str, life: Life) -> int:
    """Count the first rows of a table that lie outside of the process's life. There must be at least one."""
    count = 0
    for block in table.scan():
        keys = KEY[name](block)
        strange = life.before(keys) | life.after(keys)
        if not strange.all():
            return count + int(strange.argmin())
        count += len(block)
    return count
