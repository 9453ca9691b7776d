"""What a rank file says about its clock, as the alignment of clocks takes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analyzer.sources.rank_file.index import ThreadTable
from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.run.alignment import ClockSource, Reading


def clock_source(file: RankFile, threads: Callable[[], Mapping[int, Mapping[str, ThreadTable]]]) -> ClockSource:
    """For `alignment`; `threads` gives the tables of each thread of the file."""
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
