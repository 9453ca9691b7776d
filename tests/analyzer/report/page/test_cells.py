"""The page's script unpacks the computed cells, as far as 4 bits hold them; and no page becomes large."""

import base64
import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analyzer.report.page.gather import MOST_CELLS
from analyzer.report.page.html import STEPS, packed_cells
from analyzer.timeline import ActivityKind, Timeline, TimelineLines


def of(ns):
    """A timeline of bins of 100 ns."""
    lines = ns.shape[1]
    ranks = np.arange(lines)
    return Timeline(
        0, 100 * ns.shape[2], 100, TimelineLines(tuple(map(str, ranks)), ranks, np.ones(lines, np.int64), ranks), ns
    )


def unpacked(text, bins, lines):
    cells = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<u2")
    levels = np.split(cells, np.cumsum(np.array(bins) * lines)[:-1])
    return [np.stack([level.reshape(lines, -1) >> 4 * k & 15 for k in ActivityKind]) for level in levels]


@given(arrays(np.int64, (4, 2, 5), elements=st.integers(0, 25)))
def test_cells_are_shares_rounded(ns):
    whole = of(ns)
    text, bins = packed_cells(whole)
    (found,) = unpacked(text, bins, 2)
    assert np.abs(found / STEPS - whole.shares).max() <= 1 / STEPS + 1e-9
    assert found.sum(axis=0).max() <= STEPS
    assert np.abs(found.sum(axis=0) / STEPS - whole.shares.sum(axis=0)).max() <= 0.5 / STEPS + 1e-9


def test_coarser_levels_are_means():
    ns = np.zeros((4, 1, 1000), np.int64)
    ns[ActivityKind.COMPUTING, 0, :500] = 100
    text, bins = packed_cells(of(ns))
    assert bins == [1000, 250]
    fine, coarse = unpacked(text, bins, 1)
    assert fine[ActivityKind.COMPUTING, 0].tolist() == [STEPS] * 500 + [0] * 500
    assert coarse[ActivityKind.COMPUTING, 0].tolist() == [STEPS] * 125 + [0] * 125


def test_the_worst_cells_fit_a_page():
    """Noise cannot be compressed."""
    ns = np.random.default_rng(1).integers(0, 25, (4, 128, MOST_CELLS // 128))
    text, _ = packed_cells(of(ns))
    assert len(text) < 2_500_000


def test_the_bins_of_the_levels_cover_the_run():
    text, bins = packed_cells(of(np.full((4, 3, 4097), 25, np.int64)))
    assert bins == [4097, 1025, 257, 65]
    assert [level.shape[2] for level in unpacked(text, bins, 3)] == bins
