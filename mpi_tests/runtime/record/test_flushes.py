"""Flushes of a small buffer: a begin/end pair for each block, in the HDF5 and the .prv, and no trace in the .dim."""

import re

import numpy as np
import pytest

from tracelib import schema

pytestmark = pytest.mark.timed

FLUSH = "40000003"


@pytest.fixture
def flushed(openmpi, compiled, traced):
    """A run whose 64 KiB buffer was flushed many times."""
    return traced(
        openmpi, compiled(openmpi, "steady.c"), "5000", env={"TRACELIB_BUFFER": "64K", "TRACELIB_CPUTIME": "off"}
    )


def test_pairs_equal_blocks(flushed):
    for file in flushed.ranks:
        blocks = file.tables["blocks"]
        flushes = file.flushes()
        assert len(flushes) == np.count_nonzero(blocks["flags"] == 1) > 3
        assert (flushes[:, 0] < flushes[:, 1]).all()
        # Nothing is recorded while the buffer is being written.
        assert (flushes[1:, 0] >= flushes[:-1, 1]).all()
        for begin, end in flushes:
            assert not ((file.calls["enter"] > begin) & (file.calls["enter"] < end)).any()


def test_blocks_add_up_to_the_tables(flushed):
    for file in flushed.ranks:
        counts = file.tables["blocks"]["count"].sum(axis=0)
        assert counts.tolist() == [len(file.tables[name]) for name in schema.BUFFERED]
        assert file.attributes["buffer_bytes"] == 64 * 1024


def prv_flushes(text: str) -> dict[int, list[tuple[int, int]]]:
    """(time, value) of each flush event by task, from the letters of the .prv."""
    events: dict[int, list[tuple[int, int]]] = {}
    for line in text.splitlines():
        if line.startswith("2:"):
            _, _cpu, _appl, task, _thread, time, *pairs = line.split(":")
            for kind, value in zip(pairs[::2], pairs[1::2], strict=True):
                if kind == FLUSH:
                    events.setdefault(int(task) - 1, []).append((int(time), int(value)))
    return events


def test_in_the_prv_and_absent_from_the_dim(flushed, analyze):
    analyze("prv", flushed.run).check()
    analyze("dim", flushed.run).check()
    events = prv_flushes((flushed.folder / "run.prv").read_text())
    dim = (flushed.folder / "run.dim").read_text()
    assert FLUSH not in dim
    for rank, file in enumerate(flushed.ranks):
        assert [value for _, value in events[rank]] == [1, 0] * len(file.flushes())
        bursts_s = sum(float(b) for b in re.findall(rf"^1:{rank}:0:([0-9.]+)$", dim, re.MULTILINE))
        rounding_s = 1e-9 * len(file.calls)  # of the times to whole ns, before the tracer's own is subtracted
        assert bursts_s == pytest.approx(_outside(file) / _ticks_per_second(file), rel=1e-3, abs=1e-6 + rounding_s)


def _outside(file) -> int:
    """Ticks from the process's start to the last event, which is a flush, in no call, just after none, in no flush or
    search for callers."""
    after = int(file.attributes["overhead_ticks"])
    calls = np.stack([file.calls["enter"], file.calls["exit"] + np.uint64(after)], axis=1)
    busy = np.concatenate([calls, file.flushes(), file.intervals(schema.PATHS_TYPE)]).astype(np.int64)
    busy = np.minimum(busy[np.argsort(busy[:, 0])], int(file.flushes().max()))
    until = np.maximum.accumulate(np.append(int(file.attributes["start_ticks"]), busy[:-1, 1]))
    return int(np.maximum(busy[:, 0] - until, 0).sum())


def _ticks_per_second(file) -> float:
    clock = file.tables["clock"]
    ticks = float(int(clock["ticks"][-1]) - int(clock["ticks"][0]))
    return ticks / (int(clock["monotonic_ns"][-1]) - int(clock["monotonic_ns"][0])) * 1e9


def test_a_large_buffer_is_written_at_the_end_only(openmpi, compiled, traced):
    run = traced(openmpi, compiled(openmpi, "steady.c"), "1000", env={"TRACELIB_BUFFER": "4M"})
    for file in run.ranks:
        assert len(file.tables["blocks"]) == 1
        assert (file.flushes() > file.calls["exit"].max()).all()
