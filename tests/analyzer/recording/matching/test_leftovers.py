"""Unmatched halves are summed by rank, side, call, peer, tag and communicator."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analyzer.parallel import Team
from analyzer.recording.matching.half_message import HALF
from analyzer.recording.matching.leftovers import Leftovers, Reach

HALVES = st.tuples(*[st.integers(0, 2)] * 5, st.booleans(), st.integers(0, 2**40))


@given(st.lists(st.lists(HALVES, max_size=8), max_size=4))
def test_sums_are_those_of_a_dictionary(batches):
    found, counts, sizes = Leftovers(), Counter(), Counter()
    for batch in batches:
        for side in (True, False):
            rows = [row for row in batch if row[5] == side]
            halves = np.zeros(len(rows), HALF)
            for half, (rank, call, peer, tag, comm, _, size) in zip(halves, rows, strict=True):
                for name, value in {"call": call, "peer": peer, "tag": tag, "comm": comm, "bytes": size}.items():
                    half[name] = value
                key = (rank, int(side), call, peer, tag, comm)
                counts[key] += 1
                sizes[key] += size
            found.add(np.array([row[0] for row in rows], np.int64), side, halves)
    found.merge(Team())
    rows = found.table(["MPI_Send", "MPI_Recv", "MPI_Isend"])
    names = {"MPI_Send": 0, "MPI_Recv": 1, "MPI_Isend": 2}
    keys = [(r.rank, int(r.side == "send"), names[r.call], r.peer, r.tag, r.comm) for r in rows]
    assert keys == sorted(counts)
    assert [(r.count, r.bytes) for r in rows] == [(counts[k], sizes[k]) for k in keys]


def test_partners_that_are_no_ranks_have_not_ended_early():
    reach = Reach(np.array([False, False, True]), np.zeros(0, bool))
    found = reach.is_cut_off(np.array([0, 0, 0, 1, 2]), np.array([127, -1, 2, 0, 127]))
    assert found.tolist() == [False, False, True, False, True]
