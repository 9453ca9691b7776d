"""Aligns the clocks of a run's rank files, and opens files of other ranks that this needs.

The first rank of each node took readings of rank 0's clock (csrc/runtime/ranks/sync.c). It may not be among the chosen
ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from analyzer.errors import TracelibError
from analyzer.recording.rank_file.clock import Pieces
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.thread_table import ThreadTable
from analyzer.recording.run.clock_alignment import Alignment, ClockSource, Reading, fit_clocks
from analyzer.recording.run.rank_files import RunFiles

Tables = Mapping[int, Mapping[str, ThreadTable]]
"""Tables of a rank by number of the thread, then by name."""


def align_clocks(found: RunFiles, tables: Callable[[int], Tables], corrections: Mapping[int, Pieces]) -> Alignment:
    """Align the clocks of a run.

    Args:
        found: The files. Files of ranks that were not chosen are opened if the clocks need them.
        tables: Function that returns the tables of a rank. It is called for clocks whose rate must be estimated from
            rows.
        corrections: Maps from aligned to corrected times, by rank (clock_repair.py).
    """
    sources = [clock_source(file, partial(tables, file.rank)) for file in found.files]
    aligned = fit_clocks(sources, _other_clocks(found))
    clocks = {rank: clock.corrected(corrections.get(rank)) for rank, clock in aligned.clocks.items()}
    return aligned._replace(clocks=clocks)


def _other_clocks(found: RunFiles) -> list[ClockSource]:
    """Return the clocks of ranks that were not chosen, but that the clocks of the chosen ranks need."""
    if found.open_other is None:
        return []
    others = clock_files(found.files, found.open_other)
    try:
        return [clock_source(file, dict) for file in others]
    finally:
        for file in others:
            file.close()


def clock_files(files: Sequence[RankFile], opened: Callable[[int], RankFile]) -> list[RankFile]:
    """Open the files of other ranks that the clocks of these ranks need.

    These are rank 0, and the first rank of each node without readings. The ranks of a node must be consecutive, or its
    first rank is not found.

    Args:
        files: Files of the chosen ranks.
        opened: Function that opens the file of a rank.
    """
    first: dict[tuple, RankFile] = {}
    for file in files:
        first.setdefault(_node(file), file)
    known = {file.rank for file in files}
    found = [] if 0 in known else _try(opened, 0)
    reference = {_node(file) for file in [*files, *found] if file.rank == 0}
    with_readings = {_node(file) for file in files if len(file.sync)}
    for node, file in first.items():
        if reference and node not in reference | with_readings:
            found += _leader(file, opened)
    return found


def _leader(file: RankFile, opened: Callable[[int], RankFile]) -> list[RankFile]:
    """Return the file of the first rank of a file's node; empty if it is the same rank, or not found."""
    low, high, found = 0, file.rank, list[RankFile]()
    while high - low > 1:
        middle = (low + high) // 2
        tried = _try(opened, middle)
        if tried and _node(tried[0]) == _node(file):
            high, tried, found = middle, found, tried
        else:
            low = middle
        for other in tried:
            other.close()
    return found


def _node(file: RankFile) -> tuple:
    return file.attributes["host"], file.attributes["boot_id"]


def _try(opened: Callable[[int], RankFile], rank: int) -> list[RankFile]:
    with suppress(TracelibError):
        return [opened(rank)]
    return []


def clock_source(file: RankFile, threads: Callable[[], Tables]) -> ClockSource:
    """Return the facts about a file's clock. `threads` returns the tables of the file by thread."""
    a = file.attributes

    def last_ticks() -> int:
        tables = (table for tables in threads().values() for table in tables.values())
        return max((table.last_key for table in tables if len(table)), default=0)

    return ClockSource(
        rank=file.rank,
        boot_id=str(a["boot_id"] or a["host"]),
        time_namespace=int(a["time_namespace"]),
        ticks_are_tsc=bool(a["ticks_are_tsc"]),
        start_ticks=int(a["start_ticks"]),
        start_realtime_ns=int(a["start_realtime_ns"]),
        last_ticks=last_ticks,
        last_realtime_ns=file.modified_ns,
        pairs=file.clock.tolist(),
        readings=[Reading(*row) for row in file.sync.tolist()],
    )
