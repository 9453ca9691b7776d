"""Amounts in which a trace is read."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.columns.sorted_runs import INDEX_STEP
from tracelib.schema import COMPRESSED_CHUNK_ROWS


@dataclass(frozen=True, kw_only=True)
class ReadSizes:
    """Amounts in which a trace is read. They decide on speed and memory; no result depends on them.

    Numbers of calls are approximate: they count polls and events, too.

    Attributes:
        index_rows: Rows of a thread's table for which one key is kept in memory; a table with fewer rows is read at
            once.
        scan_rows: Rows that are read at once where all rows of a table are read.
        stream_rows: Rows of a block of a stream (row_stream.py): whole chunks of a compressed table, so that no chunk
            is decompressed twice.
        stream_room: Left-over rows of a block of a stream that fit before the next block; more rows require a copy.
        recent_bytes: Bytes of rows that all tables of the process keep for a reader that asks for them again.
        shown_events: Largest number of events of a rank that are kept in memory as a .prv shows them.
        open_groups: Groups of a packed run that are kept open. Each takes 64 KB; to open it again takes 0.2 ms.
        searched_links: Links in run.h5 from which on their names are searched in the file's bytes, not by HDF5.
        window_calls: Calls that a window of all ranks holds.
        few_ranks: Ranks above which a window holds at least `rank_calls` calls of each rank.
        rank_calls: With fewer calls, most of the work would be to look at ranks that did little in the window.
        inflated_calls: Largest number of calls of a window that is as long as one compressed chunk of each rank.
        block_calls: Calls that a block of `Trace.calls` holds.
        message_calls: Calls that a window holds in which messages are read.
        matched_calls: Calls of each rank that a window holds in which messages are matched.
        part_calls: Calls that a part holds in which sums over all calls are made (analyzer.pairing.parts).
        rank_window_calls: Calls that a window of one rank holds (analyzer.pairing.requests).
        text_bytes: Bytes of a text trace (.prv, .dim) that are parsed at once.
        sorted_rows: Records of a .prv that are sorted in memory before they are spilled.
        sorted_step: Records of a foreign trace for which one time is kept in memory.
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
