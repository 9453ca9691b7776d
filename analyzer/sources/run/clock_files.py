"""The files that tell how the clocks of chosen ranks were related, where these are of ranks that were not chosen.

The first rank of each node took readings of rank 0's clock (csrc/runtime/ranks/sync.c).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from analyzer.errors import TracelibError
from analyzer.sources.rank_file.rank_file import RankFile


def clock_files(files: Sequence[RankFile], opened: Callable[[int], RankFile]) -> list[RankFile]:
    """Files of other ranks than these that have what their clocks need: rank 0's, and that of the first rank of each
    other node. `opened(rank)` opens one. Nodes have consecutive ranks, or their first rank is not found.
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
    """The first rank of a file's node, if it is another one: no rank ahead of it is of the node."""
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
