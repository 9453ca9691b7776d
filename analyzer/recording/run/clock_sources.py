"""Clocks of rank files as sources of the alignment, and the files of other ranks that the alignment needs.

The first rank of each node took readings of rank 0's clock (csrc/runtime/ranks/sync.c). It may not be among the chosen
ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from analyzer.errors import TracelibError
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.index import ThreadTable
from analyzer.recording.run.alignment import ClockSource, Reading


def clock_files(files: Sequence[RankFile], opened: Callable[[int], RankFile]) -> list[RankFile]:
    """Open files of other ranks that these ranks' clocks need.

    They are the files of rank 0 and of the first rank of each other node. Nodes must have consecutive ranks, or their
    first rank is not found. `opened(rank)` opens a file.
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
    """Find the first rank of a file's node, if it is another rank. Ranks of other nodes come before it."""
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


def clock_source(file: RankFile, threads: Callable[[], Mapping[int, Mapping[str, ThreadTable]]]) -> ClockSource:
    """Describe the clock of a file for the alignment; `threads` gives the tables of each thread of the file."""
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
