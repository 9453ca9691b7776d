"""Tables of all threads of a rank, from the pieces in its file and from the spools that it left."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.rank_file.pieces import KEY, POSITION, Piece, gaps_of, joined_pieces, pieces_of
from analyzer.recording.rank_file.thread_table import ThreadTable
from tracelib.schema import BLOCK_DROPPED
from tracelib.schema.spool import ThreadSpool

_ONE_BLOCK = Struct(f"<{len(POSITION)}Q{len(POSITION)}I3I")
"""Layout of a row of `blocks`: first row of each table, number of rows of each, then thread, flags and counter set."""

_NO_TABLES = {table: ThreadTable(None, table, ()) for table in KEY}
"""Tables of a thread that has no rows."""


def thread_tables(file: RankFile, pending: Sequence[ThreadSpool]) -> dict[int, dict[str, ThreadTable]]:
    """Return the tables of a rank by number of the thread, then by name. Thread 0 is always there.

    Args:
        file: File of the rank.
        pending: Spools whose rows may not be in the file.
    """
    threads: dict[int, dict[str, ThreadTable]] = {0: dict(_NO_TABLES)}
    if not pending and (thread := _only_thread(file)) is not None:
        mine = threads.setdefault(thread, dict(_NO_TABLES))
        for table, length in file.lengths.items():
            if length and table in KEY:
                mine[table] = ThreadTable(file, table, (Piece(thread, 0, length),))
        return threads
    for table in KEY:
        if not file.lengths[table] and not pending:
            continue
        own: dict[int, list[Piece]] = {}
        for piece in joined_pieces(pieces_of(file, table, pending, join=True)):
            own.setdefault(piece.thread, []).append(piece)
        for thread, pieces in own.items():
            gaps = gaps_of(file.blocks, thread) if table == "events" else ()
            threads.setdefault(thread, dict(_NO_TABLES))[table] = ThreadTable(file, table, pieces, gaps)
    return threads


def _only_thread(file: RankFile) -> int | None:
    """Return the thread that wrote all rows of a file in its only block, as in files with few rows; None: not known."""
    if len(file.blocks) != 1:
        return None
    numbers = _ONE_BLOCK.unpack(file.blocks.tobytes())
    tables = len(POSITION)
    first, count, (thread, flags, _) = numbers[:tables], numbers[tables : 2 * tables], numbers[2 * tables :]
    whole = all(file.lengths[table] == count[position] for table, position in POSITION.items())
    return thread if whole and not any(first) and not flags & BLOCK_DROPPED else None
