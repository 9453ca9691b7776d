"""Numbers of rows and bytes that are read at a time: options that bound the memory of an analysis."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.columns.sorted_runs import INDEX_STEP
from tracelib.schema import COMPRESSED_CHUNK_ROWS


@dataclass(frozen=True, kw_only=True)
class ReadSizes:
    """Numbers of rows or bytes that are read or kept at a time.

    They decide on speed and memory; no result depends on them.

    Numbers of calls are approximate, since polls and events are counted as calls.

    Attributes:
        index_rows: One key is kept in memory for this number of rows of a thread's table. A shorter table is read at
            once.
        scan_rows: Rows that are read at a time when all rows of a table are read.
        stream_rows: Rows of a block of a stream (row_stream.py): whole chunks of a compressed table.
        stream_room: Rows left over from one block of a stream that fit in front of the next block; more require a copy.
        recent_bytes: Bytes of recently read rows that a process keeps, for all tables, to return them again.
        shown_events: Largest number of events of a rank that are kept in memory in the form of a .prv.
        open_groups: HDF5 groups of a packed run that are kept open. Each takes 64 KB; to open one again takes 0.2 ms.
        searched_links: From this number of links in run.h5 on, a name is searched in the file's bytes, not by HDF5.
        window_calls: Calls that a window holds, all ranks together.
        few_ranks: With more ranks than this, a window holds at least `rank_calls` calls of each rank.
        rank_calls: Calls of each rank in a window of many ranks; fewer would leave little work for each rank and
            window.
        inflated_calls: Largest number of calls of a window that is as long as one compressed chunk of each rank.
        block_calls: Calls that a block of `Trace.calls` holds.
        message_calls: Calls that a window holds when messages are read.
        matched_calls: Calls of each rank that a window holds when messages are matched.
        part_calls: Calls that a part holds when sums over all calls are computed (analyzer.pairing.parts).
        rank_window_calls: Calls that a window of one rank holds (analyzer.pairing.requests).
        text_bytes: Bytes of a text trace (.prv, .dim) that are parsed at a time.
        sorted_rows: Records of a .prv that are sorted in memory before they go to a temporary file.
        sorted_step: One time is kept in memory for this number of records of an imported trace.
    """

    index_rows: int = 1024
    scan_rows: int = 65536
    stream_rows: int = 16 * COMPRESSED_CHUNK_ROWS
    stream_room: int = 64
    recent_bytes: int = 1 << 25
    shown_events: int = 256
    open_groups: int = 2048
    searched_links: int = 1024
    window_calls: int = 1 << 18
    few_ranks: int = 512
    rank_calls: int = 32
    inflated_calls: int = 1 << 19
    block_calls: int = 1 << 16
    message_calls: int = 1 << 18
    matched_calls: int = 256
    part_calls: int = 1 << 16
    rank_window_calls: int = 1 << 16
    text_bytes: int = 1 << 22
    sorted_rows: int = 1 << 17
    sorted_step: int = INDEX_STEP


DEFAULT_SIZES = ReadSizes()
