"""What lies behind wait states: on which paths they are, and what all threads did meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.columns.gathered import rows_to_first
from analyzer.columns.rows import Rows
from analyzer.waits.find import Found
from analyzer.waits.paths import Paths, path_at
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
    trace, first_lane = found.search.trace, found.search.lanes.first
    paths, path = Paths(trace), Rows(np.dtype("<i4"))
    segments = Segments(trace, int(first_lane[found.ranks.start]))
    for rank in found.ranks:
        low, high = found.lane_first[first_lane[[rank, rank + 1]]]
        waits, changes = found.waits[low:high].copy(), paths.changes(rank)
        for thread, change in enumerate(changes):
            own = waits["enter"].compress(waits["lane"] == first_lane[rank] + thread)
            path.append(path_at(change, own))
        segments.add_rank(rank, waits, changes)
        found.rows.forget()
    return Explained(found, paths, path, segments)


def _together(mine: Explained) -> Explained:
    """Of all members of a team, on its first one. Paths and activities get the numbers that they have where one process
    meets them all."""
    found, trace, team = mine.found, mine.found.search.trace, mine.found.search.team
    parts = team.allgather(
        (mine.paths.keys, mine.segments.activities.keys, mine.segments.first, mine.segments.start, found.lane_first)
    )
    paths, segments = Paths(trace), Segments(trace)
    of_paths = [paths.add(keys) for keys, *_ in parts]
    of_activities = [
        segments.activities.add(keys, numbers) for (_, keys, *_), numbers in zip(parts, of_paths, strict=True)
    ]
    for _, _, first, start, _ in parts:
        segments.first += [segments.first[-1] + row for row in first[1:]]
        segments.start += start

    def renumbered(member: int, rows: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows["activity"] = of_activities[member][rows["activity"]]
        return rows

    segments.rows = rows_to_first(mine.segments.rows, team, renumbered)
    path = rows_to_first(mine.path, team, lambda member, rows: of_paths[member][rows].astype(np.int32))
    rows = rows_to_first(found.rows, team)
    whole = Found(found.search, rows, np.sum([lane_first for *_, lane_first in parts], axis=0), range(trace.size))
    return Explained(whole, paths, path, segments)
