"""Walking back through a run keeps windows of time in memory, not its calls."""

import tracemalloc

from analyzer.critical.path import critical_path
from analyzer.critical.shares import path_shares
from analyzer.opening import open_trace
from benchmarks.halo import write_halo

RANKS, WINDOW = 4, 4096


def peak_of(folder, calls, monkeypatch):
    """Most memory of Python and numpy, and the number of nodes."""
    folder.mkdir()
    trace = open_trace(write_halo(folder, RANKS, calls))
    cut = trace._cuts.windows
    monkeypatch.setattr(trace._cuts, "windows", lambda _records=0, rank=-1, **_: cut(WINDOW, rank))
    tracemalloc.start()
    try:
        found = critical_path(trace)
        path_shares(trace, found)
        return tracemalloc.get_traced_memory()[1], len(found.nodes)
    finally:
        tracemalloc.stop()
        trace.close()


def test_memory_does_not_grow_with_the_run(tmp_path, monkeypatch):
    """Beside 4 bytes a node, one a dependence and one a send of a kernel, which are not counted here."""
    for name in (
        "columns.rows.PIECE",
        "critical.path.PIECE",
        "critical.activities._NODES_AT_ONCE",
        "critical.single_threaded.RECORDS",
        "pairing.collective_calls.RECORDS",
        "pairing.parts.RECORDS",
        "recording.run.cuts.CALLS_A_BLOCK",
    ):
        monkeypatch.setattr(f"analyzer.{name}", WINDOW)
    monkeypatch.setattr("analyzer.pairing.requests.RECORDS_OF_A_RANK", WINDOW)
    few, many = 40_000, 160_000
    peak_of(tmp_path / "first", 100, monkeypatch)  # what is imported when it is needed does not count
    before, _ = peak_of(tmp_path / "few", few, monkeypatch)
    after, nodes = peak_of(tmp_path / "many", many, monkeypatch)
    assert nodes > many
    assert after - before < 8 * (many - few)
