"""Groups in a row of `communicators`: what the runtime writes, what Python writes, and what the kernels read of it."""

import ctypes
from itertools import pairwise

import compiled
import numpy as np
import pytest
from analyzer._kernels import ffi, lib
from hypothesis import example, given
from hypothesis import strategies as st
from paths import ROOT

from analyzer.c_arrays import pointer
from analyzer.recording.rank_file.clock import PIECE
from analyzer.recording.thread_records.procedures import PROCEDURE
from analyzer.trace import CALL
from tracelib import schema
from tracelib.schema.groups import MemberTable, is_progression, progression, ranks_of, said_of

STRANGER, MOST, NOBODY = 2**32 - 1, 2**31 - 1, int(schema.Peer.NONE)
CODE = """
#include "handles/internal/progression.h"
uint64_t said(const uint32_t *members, uint32_t size) { return progression_of(members, size); }
"""

RANK = st.one_of(st.integers(0, 9), st.integers(MOST - 9, MOST))
PROGRESSION = st.builds(
    lambda first, stride, size: [first + k * stride for k in range(size)], RANK, RANK, st.integers(0, 6)
)
ANY = st.lists(st.one_of(RANK, st.just(STRANGER)), max_size=4)
GROUP = st.one_of(ANY, PROGRESSION.filter(lambda group: max(group, default=0) <= MOST))


def by_definition(group: list[int]) -> int | None:
    """Return the number in docs/format.md for a group that takes no rows of `members`; None: it takes some."""
    if STRANGER in group or not group:
        return None
    strides = {b - a for a, b in pairwise(group)} or {1}
    stride = min(strides)
    return 2**63 + stride * 2**32 + group[0] if len(strides) == 1 and stride > 0 else None


def rank_by_hand(said: int, size: int, members: list[int], ranks: int, peer: int) -> int:
    """World rank of a peer by the page's few lines of Python; nobody in groups that cannot be."""
    if not 0 <= peer < size:
        return peer if peer < 0 else NOBODY
    if said < 2**63:
        rank = members[said + peer] if said + size <= len(members) else STRANGER
        return NOBODY if rank == STRANGER else rank
    first, stride = said % 2**32, (said - 2**63) // 2**32
    return first + peer * stride if stride and first + (size - 1) * stride < ranks else NOBODY


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    """The runtime's word for a group; 0: it is no progression."""
    folder = tmp_path_factory.mktemp("progressions")
    library = compiled.library(folder, code=CODE, includes=[ROOT / "build" / "generated"])
    library.said.restype = ctypes.c_uint64
    return lambda group: library.said((ctypes.c_uint32 * len(group))(*group), len(group))


@given(GROUP)
@example([])
@example([STRANGER])
@example([5, STRANGER])
@example([MOST - 1, MOST])
@example([1, 1])
@example([2, 1, 0])
def test_runtime_and_python_write_the_same(runtime, group):
    expected = by_definition(group)
    assert runtime(group) == (expected or 0)
    found = progression(group)
    assert (said_of(found) if found else None) == expected
    assert list(found or group) == group


@given(st.lists(GROUP, max_size=5))
def test_what_is_written_is_read_again(groups):
    table = MemberTable()
    said = [table.add(group) for group in groups]
    rows = table.rows
    assert (rows.dtype, len(rows)) == (schema.MEMBER, sum(len(g) for g in groups if by_definition(g) is None))
    for group, one in zip(groups, said, strict=True):
        read = ranks_of(one, len(group), 2**31) if is_progression(one) else rows[one : one + len(group)]
        assert list(read) == group


SAID = st.one_of(
    st.integers(0, 8),
    st.integers(0, 2**64 - 1),
    st.builds(lambda first, stride: 2**63 + stride * 2**32 + first, RANK, RANK),
)
SIZE = st.one_of(st.integers(0, 9), st.integers(2**32 - 9, 2**32 - 1))
ROW = st.tuples(SAID, SIZE, SAID, st.one_of(st.just(0), SIZE))
PEER = st.one_of(st.integers(-4, 9), st.integers(MOST - 9, MOST))


def peers_of(rows: np.ndarray, members: np.ndarray, ranks: int, calls: np.ndarray) -> list[int]:
    """World ranks that the kernel finds for calls on these communicators."""
    pieces = np.array([(0, 0, 1, 0)], PIECE)
    procedures, index = np.zeros(1, PROCEDURE), np.zeros(len(rows), np.int32)
    lane = ffi.new(
        "struct lane *",
        {
            "clock": {"pieces": pointer(pieces, "struct clock_piece *"), "n_pieces": 1},
            "procedures": pointer(procedures, "struct procedure *"), "n_procedures": 1,
            "communicators": pointer(rows), "n_communicators": len(rows),
            "members": pointer(members, "uint32_t *"), "n_members": len(members),
            "communicator_index": pointer(index, "int32_t *"), "ranks": ranks,
        },
    )  # fmt: skip
    found = np.zeros(len(calls), CALL)
    assert lib.expand_calls(lane, pointer(calls), len(calls), ffi.NULL, 0, pointer(found)) == len(calls)
    return found["peer"].tolist()


@given(
    st.lists(ROW, min_size=1, max_size=4),
    st.lists(st.one_of(RANK, st.just(STRANGER)), max_size=8),
    st.one_of(st.integers(1, 20), st.just(MOST)),
    st.lists(st.tuples(st.integers(0, 4), PEER), max_size=20),
)
def test_kernels_find_world_ranks(said, members, ranks, wanted):
    """Also of damaged rows: a group that the table does not hold, or that leaves the world, has no members."""
    rows = np.zeros(len(said), schema.COMMUNICATOR)
    for row, numbers in zip(rows, said, strict=True):
        row["members"], row["size"], row["remote"], row["remote_size"] = numbers
    calls = np.zeros(len(wanted), schema.CALL)
    calls["enter"], calls["exit"] = np.arange(len(wanted)), np.arange(len(wanted)) + 1
    calls["comm"], calls["peer"] = [comm for comm, _ in wanted], [peer for _, peer in wanted]
    expected = []
    for comm, peer in wanted:
        local, size, remote, remote_size = said[comm if comm < len(said) else 0]
        group = (remote, remote_size) if remote_size else (local, size)
        expected.append(rank_by_hand(*group, members, ranks, peer))
    assert peers_of(rows, np.array(members, schema.MEMBER), ranks, calls) == expected


@given(SAID.filter(is_progression), SIZE, st.one_of(st.integers(1, 20), st.just(MOST)), st.integers(0, 9))
def test_python_finds_the_same(said, size, ranks, peer):
    found = ranks_of(said, size, ranks)
    assert (found[peer] if peer < len(found) else NOBODY) == rank_by_hand(said, size, [], ranks, peer)
