"""Each message belongs to its receive, however the receives before it ended (receive_ends.c)."""

import numpy as np

from analyzer.sources.run.run import open_run
from analyzer.trace import Leftovers

CONTROL, LARGE = 100, 40


def messages_of(run):
    """Messages to rank 1: sizes in ints by tag; bytes that MPI_Recv took with each message; what is unmatched."""
    trace = open_run(str(run))
    calls = np.concatenate(list(trace.calls(1)))
    is_recv = calls["call"] == trace.procedures.index("MPI_Recv")
    taken = dict(zip(calls["enter"][is_recv].tolist(), calls["received"][is_recv].tolist(), strict=True))
    rows = trace.messages()
    rows = rows[rows["destination"] == 1]
    sizes = {int(tag): (rows["size"][rows["tag"] == tag] // 4).tolist() for tag in np.unique(rows["tag"])}
    unmatched = trace.extra(Leftovers).unmatched()
    by_recv = [(taken[int(m["logical_receive"])], m) for m in rows if int(m["logical_receive"]) in taken]
    trace.close()
    return sizes, by_recv, unmatched


def test_every_end(mpi, compiled, traced):
    run = traced(mpi, compiled(mpi, "receive_ends.c"), ranks=2)
    sizes, by_recv, unmatched = messages_of(run.run)
    assert not unmatched
    counts = [1, 1, 1, 1, 1, *[2] * 8, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1]
    assert sizes == {tag: [LARGE] * n + [CONTROL + tag] for tag, n in enumerate(counts)}
    controls = [(bytes_, int(m["size"])) for bytes_, m in by_recv if m["size"] > 4 * LARGE]
    assert len(controls) == len(counts)
    assert all(taken == size for taken, size in controls)
