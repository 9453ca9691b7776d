"""Wavelet details and the autocorrelation as they are drawn, by hand and by what repeats exactly."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_cuts import numbers, run_of_steps

from analyzer.report.pictures.spectra import draw_correlation, draw_details, largest_details
from analyzer.structure.signals import Signal


def test_details_of_a_spike_by_hand():
    """Haar: the spike is in one pair, in the right half of the second four, and in one half of all."""
    found = largest_details(np.array([0, 0, 0, 0, 0, 2.0, 0, 0]))
    assert found == pytest.approx(np.array([[0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1], [1] * 8]))
    assert not largest_details(np.full(100, 3.7)).any()
    assert largest_details(np.zeros(0)).shape == (0, 0)
    assert largest_details(np.arange(5000.0)).shape == (12, 1000)


def test_a_phase_of_high_frequency_is_dark_in_the_first_level():
    """Low, high, low: bursts of odd length in the middle third alone."""
    values = np.ones(3000)
    values[1000:2000] += np.arange(1000) % 5 < 3
    finest = largest_details(values)[0]
    assert finest[340:660].reshape(-1, 10).max(axis=1).min() == 1
    assert not finest[:330].any() and not finest[670:].any()


@pytest.mark.parametrize("count", [400, 60_000])
def test_the_correlation_is_one_at_the_period_of_an_exact_repeat(count):
    """Also where the signal has more samples than are drawn."""
    period = count // 20
    signal = Signal("bursts", 0, 1000, np.tile(np.repeat([1.0, 5.0, 2.0, 2.0], period // 4), 20))
    axes = Figure().subplots()
    draw_correlation(signal, period * 1000.0, axes)
    lags, values = axes.lines[0].get_data()
    for number in range(1, 6):
        assert np.interp(number * period * 1000, lags, values) == pytest.approx(1, abs=0.02)
    assert values[(lags > 0.3 * period * 1000) & (lags < 0.7 * period * 1000)].max() < 0.7
    dotted = [float(line.get_xdata()[0]) for line in axes.lines[1:]]
    assert dotted == [number * period * 1000.0 for number in range(1, len(dotted) + 1)] and len(dotted) >= 5


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_next_to_nothing_can_be_drawn(count):
    axes = Figure().subplots()
    signal = Signal("bursts", 0, 1000, np.ones(count))
    draw_correlation(signal, 5000.0, axes)
    if count:
        draw_details(signal, axes)


def test_the_sampling_frequency_is_said(tmp_path, capsys):
    """alpha: so many samples make up the run."""
    found = numbers(capsys, "structure", run_of_steps(tmp_path), "--json")
    assert found["signals"]
    for signal in found["signals"]:
        samples = signal["samples_per_s"] * found["runtime_s"]
        assert samples == pytest.approx(round(samples), abs=1) and samples > 64
