"""Requests of a long run are looked through in windows: what stays in memory is only what is open at their ends."""

import tracemalloc
from types import SimpleNamespace

import numpy as np

from analyzer.pairing.requests import Posted
from analyzer.trace import REQUEST
from tracelib.schema import RequestKind

WINDOWS, ROWS = 50, 10_000


def rows_of_window(_rank, begin, _end):
    """Posted in the window, but for the first, which the one before had open."""
    rows = np.zeros(ROWS, REQUEST)
    rows["what"] = RequestKind.RECV_DONE
    rows["posted"] = begin + np.arange(ROWS) - 1
    yield rows


def test_only_late_requests_are_kept():
    windows = np.arange(WINDOWS + 1) * ROWS
    tracemalloc.start()
    try:
        posted = Posted(SimpleNamespace(requests=rows_of_window), 0, windows, (RequestKind.RECV_DONE,))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(posted.window(3)) == ROWS  # without its first, with that of the next window
    assert peak < 8 * ROWS * REQUEST.itemsize
