"""Compares what a rank file says of itself with what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from analyzer.sources.rank_file.rank_file import RankFile
from tracelib import schema


def count_findings(files: Iterable[RankFile]) -> list[str]:
    """Of these those whose blocks do not name exactly the rows of their tables, a line each."""
    return [line for file in files for line in _of_file(file)]


def _of_file(file: RankFile) -> Iterator[str]:
    is_full = file.attributes["state"] == schema.State.FULL  # the disk: the last block may have stayed incomplete
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
    flushes = int((file.blocks["flags"] == 1).sum())  # those that were dropped took their events with them
    tagged = _flush_begins(file)
    if tagged != flushes and not is_full:
        yield f"rank {file.rank}: {flushes} blocks were flushed, but {tagged} flushes are recorded"


def _flush_begins(file: RankFile) -> int:
    """Of the rows that were not dropped; some of those that were may still be there."""
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
