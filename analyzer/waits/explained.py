"""What lies behind wait states: on which paths they are, and what all threads did meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.columns.rows import Rows, rows_to_first
from analyzer.pairing.parts import RECORDS
from analyzer.trace import Trace
from analyzer.waits.find import Found
from analyzer.waits.paths import Changes, Paths
from analyzer.waits.segments import Segments


@dataclass(frozen=True)
class Explained:
    """Of waits that were found the path of each, and what all threads did when."""

    found: Found
    paths: Paths
    path: Rows  # int32
    segments: Segments


def explained(found: Found) -> Explained:
    """Of all ranks; each member of a team reads its own, and the first one gets all. Collective."""
    mine = _of_ranks(found)
    return _together(mine) if found.search.team.size > 1 else mine


def _of_ranks(found: Found) -> Explained:
    trace, lanes = found.search.trace, found.search.lanes
    paths, path = Paths(trace), Rows(np.dtype("<i4"))
    segments = Segments(trace, lanes)
    for ranks, bounds in _parts(trace, found.ranks):
        low, high = found.lane_first[lanes.first[[ranks.start, ranks.stop]]]
        waits, changes = found.waits[low:high].copy(), Changes.of(paths, ranks)
        path.append(changes.at(waits["lane"] - lanes.first[ranks.start], waits["enter"]))
        segments.add(ranks, bounds, waits, changes)
        found.rows.forget()
    return Explained(found, paths, path, segments)


def _parts(trace: Trace, ranks: range) -> Iterator[tuple[range, np.ndarray]]:
    """Ranks that are looked at together, and the windows of what they did: several ranks have one."""
    for some, bounds in trace.parts(ranks, RECORDS):
        for these in [some] if len(bounds) == 2 else (range(rank, rank + 1) for rank in some):
            yield these, bounds


def _together(mine: Explained) -> Explained:
    """Of all members of a team, on its first one. Paths and activities get the numbers that they have where one process
    meets them all."""
    found, trace, team = mine.found, mine.found.search.trace, mine.found.search.team
    parts = team.allgather(
        (mine.paths.keys, mine.segments.activities.keys, mine.segments.first, mine.segments.start, found.lane_first)
    )
    paths, segments = Paths(trace), Segments(trace, found.search.lanes)
    of_paths = [paths.add(keys) for keys, *_ in parts]
    of_activities = [
        segments.activities.add(keys, numbers) for (_, keys, *_), numbers in zip(parts, of_paths, strict=True)
    ]
    for _, _, first, start, _ in parts:
        segments.add_lanes(first, start)

    def renumbered(member: int, rows: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows["activity"] = of_activities[member][rows["activity"]]
        return rows

    segments.rows = rows_to_first(mine.segments.rows, team, renumbered)
    path = rows_to_first(mine.path, team, lambda member, rows: of_paths[member][rows].astype(np.int32))
    rows = rows_to_first(found.rows, team)
    whole = Found(found.search, rows, np.sum([lane_first for *_, lane_first in parts], axis=0), range(trace.size))
    return Explained(whole, paths, path, segments)
