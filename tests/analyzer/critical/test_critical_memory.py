"""Walking back through a run keeps windows of time in memory, not its calls."""

import tracemalloc

from analyzer.critical.path import critical_path
from analyzer.critical.shares import path_shares
from analyzer.opening import open_trace
from analyzer.trace.read_sizes import ReadSizes
from benchmarks.halo import write_halo

RANKS, WINDOW = 4, 4096


SIZES = ReadSizes(
    part_calls=WINDOW, block_calls=WINDOW, rank_window_calls=WINDOW, window_calls=WINDOW, message_calls=WINDOW,
    matched_calls=WINDOW // ReadSizes().few_ranks,
)  # fmt: skip


def peak_of(folder, calls):
    """Most memory of Python and numpy, and the number of nodes."""
    folder.mkdir()
    trace = open_trace(write_halo(folder, RANKS, calls), sizes=SIZES)
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
    ):
        monkeypatch.setattr(f"analyzer.{name}", WINDOW)
    few, many = 40_000, 160_000
    peak_of(tmp_path / "first", 100)  # what is imported when it is needed does not count
    before, _ = peak_of(tmp_path / "few", few)
    after, nodes = peak_of(tmp_path / "many", many)
    assert nodes > many
    assert after - before < 8 * (many - few)
