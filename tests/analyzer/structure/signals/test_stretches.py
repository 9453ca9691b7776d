"""Stretches of a signal in which each period is like the next one."""

import numpy as np
import pytest

from analyzer.structure.levels.periodic_stretches import alike, periodic_stretches
from analyzer.structure.levels.run_structure import structure_of_signal
from analyzer.structure.signals import RunSignal

PERIOD = 100


def pulses(count, early, seed):
    """A pulse of 10 samples every 100, up to `early` samples early or late."""
    values, random = np.zeros(count * PERIOD), np.random.default_rng(seed)
    for number in range(count):
        at = number * PERIOD + 40 + random.integers(-early, early + 1)
        values[at : at + 10] = 1
    return values


@pytest.mark.parametrize("seed", range(6))
def test_pulses_that_are_early_or_late_are_of_one_stretch(seed):
    (one,) = periodic_stretches(RunSignal("planted", 0, 1, pulses(20, 2, seed)))
    assert one.period_ns == pytest.approx(PERIOD, rel=0.01)
    assert len(one.signal.values) > 18 * PERIOD


def test_loops_of_one_period_that_do_other_things_are_two_stretches():
    at = np.arange(12 * PERIOD)
    one, other = (at % PERIOD < 10).astype(float), (at % (PERIOD / 4) < 12).astype(float) * (1 + (at % PERIOD > 50))
    found = periodic_stretches(RunSignal("planted", 0, 1, np.concatenate([one, other])))
    assert [len(part.signal.values) / PERIOD for part in found] == pytest.approx([12, 12], abs=1.0)


def test_shifted_stretches_are_as_alike_as_their_best_shift():
    one = np.zeros((3, 64))
    one[:, 20:30] = 1
    other = np.stack([np.roll(one[0], by) for by in (0, 3, -9)])
    assert alike(one, other, 0)[0] == pytest.approx(1) and (alike(one, other, 0)[1:] < 0.8).all()
    assert alike(one, other, 4)[:2] == pytest.approx([1, 1], abs=0.01) and alike(one, other, 4)[2] < 0.8


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.7, 1.0, 0.0])
@pytest.mark.parametrize("shift", [0, 2])
def test_what_does_not_vary_is_like_nothing(value, shift):
    """The mean of many 0.1 is not quite 0.1."""
    assert alike(np.full((1, 64), value), np.full((1, 64), value), shift) == 0


@pytest.mark.parametrize(
    "samples, count, period",
    [(1 << 17, 3000, 39.3), (1 << 17, 5000, 23.6), (1 << 17, 800, 37), (50_000, 800, 23), (20_000, 200, 10)],
)
def test_short_periods_are_no_multiples_of_them(samples, count, period):
    """Phases are looked for in fewer samples first, in which a period has one to eight of them."""
    values = np.zeros(samples)
    at = np.arange(int(count * period))
    values[samples // 20 : samples // 20 + len(at)] = at % period < 0.3 * period
    found = structure_of_signal(RunSignal("planted", 0, 1000, values), "planted")
    assert abs(found.main.count - count) <= 1  # idle time before it is as its own


@pytest.mark.parametrize("seed", range(3))
def test_short_periods_that_vary(seed):
    lengths = 59 * (1 + 0.02 * np.random.default_rng(seed).normal(size=2000))
    values = np.zeros(1 << 17)
    for at in (6000 + np.cumsum(lengths)).astype(int):
        values[at : at + 18] = 1
    found = structure_of_signal(RunSignal("planted", 0, 1000, values), "planted")
    assert found.main.count == pytest.approx(2000, abs=2)


@pytest.mark.parametrize("idle", [5 / 12, 0.1, 0.0])
def test_idle_time_is_no_loop(idle):
    loop = np.tile((np.arange(PERIOD) < 30) / 12, 20) + idle
    found = structure_of_signal(RunSignal("planted", 0, 1000, np.concatenate([loop, np.full(900, idle)])), "planted")
    assert [part.iterations.count for part in found.parts if part.iterations] == [20]
