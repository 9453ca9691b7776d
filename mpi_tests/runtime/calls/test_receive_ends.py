"""Each message belongs to its receive, however the receives before it ended (receive_ends.c)."""

import json

import numpy as np
import pytest

from analyzer.recording.run.opening import open_run
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


@pytest.mark.parametrize("named", [True, False])
def test_a_freed_receive_of_any_source_or_tag_is_said(openmpi, compiled, traced, analyze, named):
    """Nobody knows its message. One of a source and a tag has the message that was sent first."""
    traced(openmpi, compiled(openmpi, "freed_wildcards.c"), *(["named"] if named else []), ranks=2)
    done = analyze("check", "run.h5", "--json")
    found = json.loads(done.stdout)
    said = [note for note in found["notes"] if "freed before the message came" in note]
    if named:
        assert found["good"] and not said
    else:
        (line,) = said
        assert line.startswith("rank 1, MPI_COMM_WORLD: 2 receives of any source or tag freed")
        assert len(found["findings"]) == 2 and all("unmatched" in text for text in found["findings"])
