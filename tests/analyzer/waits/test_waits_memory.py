"""Looking for waits and their causes keeps windows of time, and the waits of one rank, in memory, not the run."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from own_process import own_process

from analyzer.columns.rows import PIECE, Rows
from analyzer.errors import TracelibError
from analyzer.metrics.profile import profile
from analyzer.parallel import Team
from analyzer.recording.run.opening import open_run
from analyzer.trace.read_options import ReadOptions
from analyzer.trace.read_sizes import ReadSizes
from analyzer.waits import delays
from analyzer.waits.analysis import analyze_waits
from analyzer.waits.wait_states import WaitSearch, find_wait_states
from benchmarks.halo import write_halo
from benchmarks.synthetic.run import write_run

RANKS = 8
BYTES_A_CALL = 8
WINDOW = 4096


SMALL = {
    "analyzer.columns.rows.PIECE": WINDOW,
    "analyzer.waits.delays._AT_ONCE": WINDOW,
    "analyzer.waits.wait_states._AT_ONCE": WINDOW,
}
"""Numbers of records that are processed together, by constant."""
SMALL_SIZES = ReadSizes(
    rank_window_calls=WINDOW // RANKS, part_calls=WINDOW // RANKS, block_calls=WINDOW, window_calls=WINDOW,
    message_calls=WINDOW, matched_calls=WINDOW // ReadSizes().few_ranks,
)  # fmt: skip


def peak_of(folder, calls):
    """Most memory of Python and numpy, how many waits were found, and whether their causes were."""
    trace = open_run(str(write_halo(folder, RANKS, calls)), options=ReadOptions(sizes=SMALL_SIZES))
    profiled = profile(trace, Team())
    with pytest.MonkeyPatch.context() as patch:
        for name, number in SMALL.items():
            patch.setattr(name, number)
        tracemalloc.start()
        found = analyze_waits(trace, Team(), profiled)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    trace.close()
    return peak, int(found.count.sum()), bool(found.causes)


def test_memory_does_not_grow_with_the_run(tmp_path):
    """In a process of its own: threads that another test has left behind would count."""
    few, many = 40_000, 160_000
    with own_process() as process:
        before, *_ = process.submit(peak_of, tmp_path / "few", few).result()
        after, count, has_causes = process.submit(peak_of, tmp_path / "many", many).result()
    assert count > many // 10 and has_causes
    assert after - before < BYTES_A_CALL * (many - few)


def test_what_left_many_ranks_in_step_is_read_in_windows_of_calls_not_of_ranks(tmp_path):
    """Ranks with few calls do all in one window of the whole run."""
    path = str(write_run(tmp_path, "halo", 520, 200).path)
    whole = waits_of(path)
    trace = open_run(path, options=ReadOptions(sizes=ReadSizes(message_calls=WINDOW)))
    found = find_wait_states(WaitSearch(trace, Team(), with_syncs=True))
    syncs = [len(found.syncs(window)) for window in range(len(found.search.windows) - 1)]
    calls, trace_windows = int(profile(trace, Team()).count.sum()), trace.windows()
    trace.close()
    assert calls // WINDOW <= len(syncs) <= 2 * calls // WINDOW
    assert len(trace_windows) == 2
    assert 3 * max(syncs) < sum(syncs)
    assert waits_of(path).causes == whole.causes


def test_costs_are_the_same_however_many_waits_are_charged_together(tmp_path, monkeypatch):
    """And fewer are, where what they need of the segments would fill the memory that it may."""
    path = str(write_run(tmp_path, "halo", 64, 100).path)
    taken, library = [], delays.lib

    class Counting:
        def __getattr__(self, name):
            return getattr(library, name)

        def delays_take(self, walk, waits, n, *results):
            taken.append(n)
            library.delays_take(walk, waits, n, *results)

    monkeypatch.setattr(delays, "lib", Counting())
    whole = waits_of(path)
    assert taken == [whole.count.sum()]
    monkeypatch.setattr(delays, "_MAPPED_BYTES", 1 << 16)
    monkeypatch.setattr(delays, "_BYTES_A_WAIT", (1 << 16) // 7)
    taken.clear()
    assert waits_of(path).causes == whole.causes
    assert max(taken) == 7 and sum(taken) == whole.count.sum()


def waits_of(path):
    trace = open_run(path)
    try:
        return analyze_waits(trace, Team(), profile(trace, Team()))
    finally:
        trace.close()


def resident_kb():
    with Path("/proc/self/smaps_rollup").open() as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Rss:"))


def test_rows_leave_memory_and_keep_what_was_written():
    rows, many = Rows(np.dtype("<i8")), 1 << 22
    for first in range(0, many, PIECE):
        rows.append(np.arange(first, first + PIECE))
    every = rows.mapped()
    every[::2] = -1
    before = resident_kb()
    rows.forget()
    assert before - resident_kb() > many * 8 // 1024 - 4096
    assert every[:4].tolist() == [-1, 1, -1, 3]
    parts = [(first, int(part[1])) for first, part in rows.pieces()]
    assert parts == [(first, first + 1) for first in range(0, many, PIECE)]


def test_zeros_have_their_place_from_the_beginning(monkeypatch):
    assert Rows.zeros(3, np.dtype("<f8")).mapped().tolist() == [0, 0, 0]
    assert Rows.zeros(0, np.dtype("<f8")).mapped().tolist() == []

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(TracelibError, match="temporary files cannot be written"):
        Rows.zeros(3, np.dtype("<f8"))
