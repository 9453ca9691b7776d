"""The plan finds by itself where times change their course; busy rows have the quiet ones' times."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelib.ngmpi import plan, refine
from tracelib.schema.net import ROW, RowFlag
from tracelib.schema.prtt import SizeTimes, size_times

N = 32


def times(sizes, overhead, gap, noise, rng) -> SizeTimes:
    """Curves with relative noise."""
    s = np.array(sizes)
    o, g = (np.array([f(x) for x in sizes]) * rng.normal(1, noise, len(s)) for f in (overhead, gap))
    return SizeTimes(s, np.full(len(s), 20), np.full(len(s), 20), g, o, o * noise, g, g * noise)


def refined(overhead, gap, noise, seed, largest=1 << 22) -> tuple[list[int], list[tuple[int, float]]]:
    """Sizes and changes when the plan asks for no more."""
    rng, sizes = np.random.default_rng(seed), plan.logarithmic(1, largest)
    for _ in range(40):
        known = times(sizes, overhead, gap, noise, rng)
        new = set(refine.wanted(known)) - set(sizes)
        if not new:
            break
        sizes = sorted(new.union(sizes))
    return sizes, [(int(known.size[i]), step) for i, step in refine.changes(known)]


@settings(max_examples=25)
@given(st.integers(200, 1 << 20), st.integers(0, 99))
def test_a_step_is_located(limit, seed):
    sizes, changes = refined(
        lambda s: 4e-7 + 1e-10 * s + 2e-6 * (s > limit),
        lambda s: 3e-7 + 2e-10 * s + (3e-6 + 1e-10 * limit) * (s > limit), 0.005, seed)  # fmt: skip
    assert len(sizes) < 150
    first = next(size for size, step in changes if step > refine.JUMP)
    below = max(size for size in sizes if size < first)
    assert below <= limit < first
    assert first - below <= 2 * max(refine.FINEST_BYTES, limit * refine.FINEST_SHARE)


@given(st.integers(0, 99))
@settings(max_examples=20)
def test_a_straight_line_is_left_alone(seed):
    sizes, changes = refined(lambda s: 4e-7 + 1e-10 * s, lambda s: 3e-7 + 2e-10 * s, 0.01, seed)
    assert changes == []
    assert sizes == plan.logarithmic(1, 1 << 22)


def rows_of_a_size(size, count, rng, one=2e-6, overhead=3e-7, gap=5e-7) -> np.ndarray:
    """Return the rows that a machine without disturbances measures: PRTTs by their definition, 1 % noise."""
    rows = np.zeros(count, ROW)
    rows["size"], rows["train"] = size, N
    rows["one_s"] = one * rng.normal(1, 0.01, count)
    rows["delay_s"] = 2 * rows["one_s"]
    rows["waited_s"] = rows["delay_s"] + rng.uniform(0, 2e-8, count)
    rows["train_s"] = one + (N - 1) * gap * rng.normal(1, 0.01, count)
    rows["delayed_s"] = one + (N - 1) * (overhead * rng.normal(1, 0.01, count) + rows["waited_s"])
    return rows


def test_by_hand():
    rows = np.zeros(1, ROW)
    rows[0] = (0, 0, 8, 3, 10.0, 40.0, 68.0, 20.0, 22.0, 1.0, 0.0, 0)
    found = size_times(rows)
    assert (found.size[0], found.rows[0], found.one_s[0]) == (8, 1, 10.0)
    assert found.gap_s[0] == (40 - 10) / 2
    assert found.overhead_s[0] == (68 - 10) / 2 - 22


def test_no_rows():
    assert len(size_times(np.zeros(0, ROW)).size) == 0


@pytest.mark.parametrize("flagged", [True, False])
def test_disturbed_rows_change_little(flagged):
    """Half of all PRTTs take milliseconds longer; some of them, or none, say so."""
    rng = np.random.default_rng(3)
    quiet = np.concatenate([rows_of_a_size(size, 60, rng) for size in (1, 64, 4096)])
    busy = quiet.copy()
    for column, flag in (
        ("one_s", RowFlag.HIT_ONE),
        ("train_s", RowFlag.HIT_TRAIN),
        ("delayed_s", RowFlag.HIT_DELAYED),
    ):
        hit = rng.random(len(busy)) < 0.5
        busy[column][hit] += rng.exponential(3e-3, hit.sum())
        if flagged:
            busy["flags"][hit] |= np.uint32(flag)
    expected, found = size_times(quiet), size_times(busy)
    for name in ("one_s", "overhead_s", "gap_s"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=0.02)


def test_warm_up_rows_do_not_count():
    rng = np.random.default_rng(4)
    rows = rows_of_a_size(8, 20, rng)
    rows["flags"][::2] = RowFlag.WARM_UP
    rows["one_s"][::2] /= 2
    found = size_times(rows)
    assert found.rows[0] == 10
    assert found.one_s[0] == pytest.approx(2e-6, rel=0.05)
