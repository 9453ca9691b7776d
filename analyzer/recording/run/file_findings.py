"""Checks of a run's files for `analyze check`: impossible time stamps and wrong numbers of rows.

All rows are read once, a limited number at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from analyzer._kernels import lib
from analyzer.recording.rank_file.file import PREDICTED, RankFile
from analyzer.recording.rank_file.pieces import KEY
from analyzer.recording.rank_file.rank_tables import thread_tables
from analyzer.recording.rank_file.spool import fate, pending_rows
from analyzer.recording.rank_file.stamps import FAULTS, Life, Rows, leave_out_strange, plural_rows
from analyzer.recording.rank_file.thread_table import ThreadTable
from tracelib import schema
from tracelib.schema import ProcessState

CLOCK_DRIFT = 1e-3
"""Largest relative drift between the two clocks. CLOCK_MONOTONIC is steered by at most 500 ppm while it is adjusted."""
CLOCK_READING_NS = 10**7
"""Largest time in ns between the two readings of a pair, if the process lost its CPU at each of eight tries."""

UNPAIRED = "flushes, measurements of clocks or searches for callers that begin or end twice"
_PAIRED = (schema.FLUSH_TYPE, schema.SYNC_TYPE, schema.PATHS_TYPE)
_SAID_OF_EVERY_TRACE = (lib.STAMP_REVERSED, lib.STAMP_BACKWARDS)
"""Faults of calls that are not reported here: analyzer.metrics.checks reports them for traces of all sources."""


def clock_without_start(file: RankFile) -> bool:
    """Return True if the first pair of clock readings is not from the start of the process."""
    return bool(len(file.clock)) and int(file.clock["ticks"][0]) != int(file.attributes["start_ticks"])


def clock_backwards(file: RankFile) -> bool:
    """Return True if a clock goes back from one pair of readings to the next."""
    return any((file.clock[column][1:] < file.clock[column][:-1]).any() for column in ("ticks", "monotonic_ns"))


def clock_contradicts_itself(file: RankFile) -> bool:
    """Return True if the pairs of clock readings contradict each other.

    They must lie on one line, within CLOCK_DRIFT and CLOCK_READING_NS. If CLOCK_MONOTONIC gives the ticks, too, both
    readings must be equal.
    """
    if not file.attributes["ticks_are_tsc"]:
        return bool((file.clock["ticks"].astype(np.int64) != file.clock["monotonic_ns"]).any())
    if len(file.clock) < 3 or clock_backwards(file):
        return False
    ticks = (file.clock["ticks"] - file.clock["ticks"][0]).astype(float)
    ns = (file.clock["monotonic_ns"] - file.clock["monotonic_ns"][0]).astype(float)
    expected = ticks * (ns[-1] / ticks[-1]) if ticks[-1] else ticks
    return bool((np.abs(ns - expected) > CLOCK_READING_NS + CLOCK_DRIFT * ns).any())


def sync_of_another_time(file: RankFile) -> bool:
    """Return True if clocks of nodes were measured outside the process's life, or by messages of negative duration."""
    if not len(file.sync) or not len(file.clock):
        return False
    begin, end = (int(f(file.clock["monotonic_ns"])) for f in (np.min, np.max))
    slack = CLOCK_READING_NS
    at = file.sync["local_ns"]
    outside = at < begin - slack
    if file.attributes["state"] == ProcessState.FINALIZED:
        outside |= at > end + slack
    return bool((outside | (file.sync["round_trip_ns"] < 0) | (file.sync["accuracy_ns"] < 0)).any())


def made_at_another_time(file: RankFile) -> bool:
    """Return True if objects were made, messages skipped or calls entered outside the process's life.

    Objects are communicators, RMA windows and files.
    """
    life = Life.of(file)
    stamps = [file.communicators["created"], file.objects["created"], file.skipped["time"]]
    stamps.append(file.inside["entered"])
    ticks = np.concatenate([s[s != 0] for s in stamps]).astype(np.uint64)
    return bool((life.before(ticks) | life.after(ticks)).any())


OF_FILE: dict[Callable[[RankFile], bool], str] = {
    clock_without_start: "the first pair of clock readings is not from the start",
    clock_backwards: "a clock goes back from one pair of readings to the next",
    clock_contradicts_itself: "its clock readings contradict each other",
    sync_of_another_time: "clocks of nodes were measured when the process did not live, or in no time",
    made_at_another_time: "communicators, windows or files were made when the process did not live",
}
"""Checks of a file's small tables, with the text of each fault."""


def stamp_findings(files: Iterable[RankFile]) -> list[str]:
    """Return a line for each kind of impossible time stamp in each file.

    Stamps that every reader leaves out (`leave_out_strange`) are reported by the trace itself.
    """
    return [line for file in files if file.attributes["boot_id"] != PREDICTED for line in _stamps_of_file(file)]


def _stamps_of_file(file: RankFile) -> Iterator[str]:
    threads = thread_tables(file, pending_rows(file, fate(file))[0])
    leave_out_strange(file, threads)
    for invariant, text in OF_FILE.items():
        if invariant(file):
            yield f"rank {file.rank}: {text}"
    for table in KEY:
        found = Counter[str]()
        for thread, tables in threads.items():
            if thread != schema.SAMPLER_THREAD:
                found += _violations(table, tables[table], Life.of(file))
        yield from (f"rank {file.rank}: {plural_rows(n)} of {table} {text}" for text, n in found.items())


def _violations(name: str, table: ThreadTable, life: Life) -> Counter[str]:
    """Return the number of impossible rows of a thread's table, by text of the fault."""
    looked, unpaired, latest = Rows(name, life), Unpaired(), 0
    for block in table.scan():
        looked.look(block, latest)
        latest = looked.latest
        if name == "events" and life.last is not None:
            unpaired.look(block)
    said = _SAID_OF_EVERY_TRACE if name == "calls" else ()
    faults = Counter({FAULTS[fault]: n for fault, n in looked.found.items() if fault not in said})
    return +(faults + Counter({UNPAIRED: unpaired.count}))


class Unpaired:
    """Counter of events without their other half: two begins, or two ends, of flushes or of measurements of clocks."""

    def __init__(self) -> None:
        self.count = 0
        self._open = dict.fromkeys(_PAIRED, 0)

    def look(self, events: np.ndarray) -> None:
        """Count in the next rows of `events`."""
        chosen = events[np.isin(events["type"], _PAIRED) & np.isin(events["value"], (0, 1))]
        for type_, value in zip(chosen["type"].tolist(), chosen["value"].tolist(), strict=True):
            self.count += self._open[type_] == value
            self._open[type_] = value


def count_findings(files: Iterable[RankFile]) -> list[str]:
    """Return a line for each file and table whose blocks do not name exactly the rows of the table."""
    return [line for file in files for line in _counts_of_file(file)]


def _counts_of_file(file: RankFile) -> Iterator[str]:
    is_full = (
        file.attributes["state"] == schema.ProcessState.FULL
    )  # the disk was full: the last block may be incomplete
    blocks = file.blocks[(file.blocks["flags"] & schema.BLOCK_UNWRITTEN) == 0]
    for position, table in enumerate(schema.BUFFERED):
        first = blocks["first"][:, position].astype(np.int64)
        count = blocks["count"][:, position].astype(np.int64)
        order = np.argsort(first[count > 0])
        begins, ends = first[count > 0][order], (first + count)[count > 0][order]
        length = file.lengths[table]
        expected = np.concatenate(([0], ends))
        reached = int(expected[-1]) if is_full else length
        if not np.array_equal(np.concatenate((begins, [min(reached, length)])), expected):
            yield f"rank {file.rank}: table {table} has {length} rows, but its blocks have {int(count.sum())}"
    flushes = int((file.blocks["flags"] == 1).sum())  # dropped blocks took their events with them
    tagged = _flush_begins(file)
    if tagged != flushes and not is_full:
        yield f"rank {file.rank}: {flushes} blocks were flushed, but {tagged} flushes are recorded"


def _flush_begins(file: RankFile) -> int:
    """Count the begins of flushes in the rows that were not dropped. The file may still hold some dropped rows."""
    position, total = list(schema.BUFFERED).index("events"), 0
    written = file.blocks[(file.blocks["flags"] & schema.BLOCK_UNWRITTEN) == 0]
    dropped = written[(written["flags"] & schema.BLOCK_DROPPED) != 0]
    first = dropped["first"][:, position].astype(np.int64)
    begins = [0, *(first + dropped["count"][:, position]).tolist()]
    for begin, end in zip(begins, [*first.tolist(), file.lengths["events"]], strict=True):
        for at in range(begin, end, 1 << 16):
            events = file.read("events", at, min(at + (1 << 16), end))
            total += int(((events["type"] == schema.FLUSH_TYPE) & (events["value"] == 1)).sum())
    return total
