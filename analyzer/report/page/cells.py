"""The cells of a timeline as a page holds them: levels of detail, 4 bits a state, compressed."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from analyzer.report.page.gather import Run
from analyzer.timeline.cells import Doing, Timeline

STEPS = 15
"""A share is stored as a whole number of fifteenths."""
_TOGETHER, _FEWEST = 4, 256
"""Each level has a quarter of the bins of the one before, down to so many."""


def packed(of: Timeline) -> tuple[str, list[int]]:
    """Base64 of the zlib stream of uint16 cells, level after level, line after line, the finest first, and the bins of
    each level. A cell holds four shares, that of Doing k in bits 4k to 4k + 3; they add up to STEPS at most."""
    levels, bins, together = [], [], 1
    while True:
        level = of if together == 1 else of.coarser(together)
        levels.append(_cells(level.shares))
        bins.append(level.bins)
        together *= _TOGETHER
        if level.bins <= _FEWEST:
            break
    stream = zlib.compress(b"".join(one.astype("<u2").tobytes() for one in levels), 9)
    return base64.b64encode(stream).decode(), bins


def _cells(shares: np.ndarray) -> np.ndarray:
    """uint16 (lines, bins). Sums of shares are rounded: rounding neither fills nor empties a cell."""
    below = np.rint(np.cumsum(shares, axis=0) * STEPS).astype(np.uint16)
    parts = np.diff(below, axis=0, prepend=np.zeros_like(below[:1]))
    return sum((parts[k] << np.uint16(4 * k) for k in Doing), np.zeros(parts.shape[1:], np.uint16))


def timeline_json(run: Run) -> dict[str, Any]:
    """What the page's script draws; times in s."""
    of, marks = run.timeline, run.marks
    cells, bins = packed(of)
    return {
        "name": run.name,
        "begin": of.begin_ns / 1e9,
        "end": of.end_ns / 1e9,
        "width": of.width_ns / 1e9,
        "together": _TOGETHER,
        "bins": bins,
        "lines": list(of.lines.names),
        "grouped": of.lines.grouped,
        "cells": cells,
        "flushes": [[line, begin / 1e9] for line, begin in marks.flushes],
        "edges": [edge / 1e9 for edge in marks.edges],
        "every": marks.every,
        "regions": [[one.name, one.begin_ns / 1e9, one.end_ns / 1e9] for one in marks.regions],
    }
