"""The C loop of a broadcast along a tree, with an MPI that only notes what it is asked for."""

import re
import subprocess

import cffi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from tracelib.collectives.design import CollectiveSetting
from tracelib.collectives.trees import ALGORITHMS, node

SOURCES = [ROOT / "csrc" / "ngmpi" / name for name in ("collective.c", "seconds.c")]


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    """(ffi, library) of the loop and the MPI that notes."""
    target = tmp_path_factory.mktemp("loop") / "loop.so"
    fake = ROOT / "tests" / "support" / "fake_mpi.c"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "csrc" / "ngmpi"]
    subprocess.run(["gcc", *flags, "-include", "stdint.h", *SOURCES, fake, "-o", target], check=True)
    ffi = cffi.FFI()
    header = (ROOT / "csrc" / "ngmpi" / "collective.h").read_text()
    ffi.cdef("\n".join(line for line in header.splitlines() if not line.startswith("#")))
    asked = re.search(r"struct asked \{.*?\};", fake.read_text(), re.DOTALL)[0]
    ffi.cdef(f"{asked}\nextern struct asked asked[100000]; extern int32_t n_asked, fail_at;")
    return ffi, ffi.dlopen(str(target))


def asked(loop, algorithm, rank, ranks, size, segment):
    """Return one rank's calls of MPI: (what, peer, bytes, place in the buffer)."""
    ffi, lib = loop
    place = node(algorithm, rank, ranks)
    buffer = ffi.new("char[]", size)
    child = ffi.new("int32_t[]", list(place.children) or [0])
    c = ffi.new("struct collective *", {
        "rank": rank, "ranks": ranks, "buffer": buffer, "bytes": size, "segment_bytes": segment,
        "parent": place.parent, "children": len(place.children), "child": child,
    })  # fmt: skip
    lib.n_asked = 0
    assert lib.collective_once(c) == 0
    start = int(ffi.cast("intptr_t", buffer))
    rows = [lib.asked[k] for k in range(lib.n_asked)]
    return [(chr(r.what), r.peer, r.size, r.place - start) for r in rows]


@given(st.sampled_from(ALGORITHMS), st.integers(2, 20), st.integers(1, 500), st.integers(1, 200))
def test_every_rank_gets_every_segment_from_its_parent(loop, algorithm, ranks, size, segment):
    """A rank posts receives for the segments sent to it, in the same order; for all of them, and none twice."""
    every = [asked(loop, algorithm, rank, ranks, size, segment) for rank in range(ranks)]
    pieces = [(start, min(segment, size - start)) for start in range(0, size, segment)]
    assert len(pieces) == CollectiveSetting(algorithm, ranks, size, segment).segments
    for rank in range(1, ranks):
        parent = node(algorithm, rank, ranks).parent
        posted = [(place, n) for what, peer, n, place in every[rank] if what == "p" and peer == parent]
        sent = [(place, n) for what, peer, n, place in every[parent] if what == "s" and peer == rank]
        assert posted == sent == pieces
    sends = sum(what == "s" for calls in every for what, *_ in calls)
    assert sends == (ranks - 1) * len(pieces)


@given(st.sampled_from(ALGORITHMS), st.integers(2, 20), st.integers(1, 500), st.integers(1, 200))
def test_a_segment_is_awaited_before_it_is_handed_on_and_the_next_one_posted_before(
    loop, algorithm, ranks, size, segment
):
    for rank in range(1, ranks):
        posted, awaited = set(), set()
        for what, _, _, place in asked(loop, algorithm, rank, ranks, size, segment):
            if what == "p":
                posted.add(place)
            elif what == "w":
                assert place in posted
                assert place + segment in posted or place + segment >= size
                awaited.add(place)
            else:
                assert place in awaited
        assert posted == awaited == set(range(0, size, segment))


def test_the_order_by_hand(loop):
    """Rank 1 of a chain of three, 5 bytes in pieces of 2."""
    assert asked(loop, "pipeline", 1, 3, 5, 2) == [
        ("p", 0, 2, 0), ("p", 0, 2, 2), ("w", -1, 0, 0), ("s", 2, 2, 0),
        ("p", 0, 1, 4), ("w", -1, 0, 2), ("s", 2, 2, 2),
        ("w", -1, 0, 4), ("s", 2, 1, 4),
    ]  # fmt: skip


@pytest.mark.parametrize("at", range(9))
def test_an_error_of_mpi_ends_it_at_once(loop, at):
    ffi, lib = loop
    child = ffi.new("int32_t[]", [2])
    buffer = ffi.new("char[]", 5)
    c = ffi.new("struct collective *", {
        "rank": 1, "ranks": 3, "buffer": buffer, "bytes": 5, "segment_bytes": 2, "parent": 0, "children": 1,
        "child": child,
    })  # fmt: skip
    lib.n_asked, lib.fail_at = 0, at
    try:
        assert lib.collective_once(c) == 15
        assert lib.n_asked == at + 1
    finally:
        lib.fail_at = -1
