"""Which rows of a table are whose, as blocks say: the kernel against the rule written down row by row."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.recording.rank_file.pieces import pieces_of
from analyzer.trace.read_sizes import DEFAULT_SIZES
from tracelib import schema
from tracelib.schema import BLOCK_DROPPED, BLOCK_UNWRITTEN

CALLS = list(schema.BUFFERED).index("calls")
BLOCK = st.tuples(
    st.integers(0, 40) | st.just(2**63 + 5),  # first row
    st.integers(0, 20) | st.just(2**32 - 1),  # how many
    st.integers(0, 2),  # thread
    st.sampled_from([0, 1, BLOCK_DROPPED, BLOCK_DROPPED | BLOCK_UNWRITTEN]),
)


def file_of(blocks, length):
    """A rank file with these blocks of calls; rows that no block names are of thread 7."""
    rows = np.zeros(length, schema.CALL)
    rows["enter"], rows["thread"] = 1, 7
    table = np.zeros(len(blocks), schema.BLOCK)
    for row, (first, count, thread, flags) in zip(table, blocks, strict=True):
        row["first"][CALLS], row["count"][CALLS] = first, count
        row["thread"], row["flags"] = thread, flags
    return SimpleNamespace(
        sizes=DEFAULT_SIZES,
        path=Path(__file__),
        attributes={"state": schema.ProcessState.FINALIZED},
        blocks=table,
        lengths={"calls": length},
        read=lambda _, first, last: rows[first:last],
    )


def rows_in_order(blocks, length):
    """(thread, row), block by block in order of their first row, then what comes after all blocks."""
    found, named = [], 0
    for first, count, thread, flags in sorted(blocks, key=lambda block: block[0]):
        found += [(thread, k) for k in range(first, min(first + count, length)) if not flags & BLOCK_DROPPED]
        named = max(named, first + (0 if flags & BLOCK_UNWRITTEN else count))
    return found + [(7, k) for k in range(named, length)]


@given(st.lists(BLOCK, max_size=8), st.integers(0, 60), st.booleans())
def test_pieces_of_any_blocks(blocks, length, join):
    pieces = pieces_of(file_of(blocks, length), "calls", [], join=join)
    found = [(piece.thread, k) for piece in pieces for k in range(piece.first, piece.first + piece.count)]
    assert found == rows_in_order(blocks, length)


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 2)), min_size=1, max_size=20))
def test_neighbours_of_a_thread_are_one_piece(counts):
    firsts = np.cumsum([0, *(count for count, _ in counts)]).tolist()
    blocks = [(first, count, thread, 1) for first, (count, thread) in zip(firsts, counts, strict=False)]
    pieces = pieces_of(file_of(blocks, firsts[-1]), "calls", [], join=True)
    threads = [thread for _, thread in counts]
    assert len(pieces) == 1 + sum(a != b for a, b in pairwise(threads))


def test_more_rows_than_a_file_can_hold():
    """They would read as zeros, one block after the other, for hours."""
    file = file_of([(0, 5, 0, 1)], 5)
    file.lengths["calls"], file.place = 10**12, str(file.path)
    with pytest.raises(TracelibError, match="calls says that it has 1000000000000 rows, for which it has no room"):
        pieces_of(file, "calls", [], join=False)
