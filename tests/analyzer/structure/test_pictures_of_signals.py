"""Wavelet details and the autocorrelation as they are drawn, by hand and by what repeats exactly."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from nested_runs import MS, Flushes, Loop, Planted, Slow, Start, Work
from test_cuts import numbers, run_of_steps

from analyzer.cli import main
from analyzer.report.pictures import structure as picture
from analyzer.report.pictures.files import ORANGE
from analyzer.report.pictures.structure import draw_correlation, draw_details, draw_disturbing, largest_details
from analyzer.structure.perturbations import PerturbationCause, PerturbingSignal
from analyzer.structure.signals import RunSignal


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


def test_the_selected_phase_is_a_line_below_its_level():
    """Low, high, low: one line within the coefficients that are added, and none of a level without details."""
    values = np.ones(4096)
    values[1000:3000] += np.arange(1000, 3000) // 50 % 2
    axes = Figure().subplots()
    draw_details(RunSignal("bursts", 0, MS, values), axes)
    lines = {round(float(y) - 0.4): (begin, end) for one in axes.collections for (begin, y), (end, _) in
             one.get_segments()}  # fmt: skip
    assert 1 not in lines  # the bursts begin and end at even samples
    assert lines[2] == pytest.approx((1.0, 3.0), abs=0.1)


def test_what_perturbs_is_drawn_with_what_its_filter_leaves():
    values, left = np.array([0, 1.0, 0, 1.0, 0]), np.array([0, 1.0, 1.0, 1.0, 0])
    axes = Figure().subplots()
    draw_disturbing(PerturbingSignal(PerturbationCause.FLUSHING, 2 * MS, values, left, left > 0), axes)
    drawn = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]
    times = pytest.approx([0, 0.002, 0.004, 0.006, 0.008])
    assert drawn == [(times, values.tolist()), (times, left.tolist())]


def test_all_signals_that_are_asked_for_are_drawn_and_what_perturbs(tmp_path, monkeypatch):
    """Six signals, as in figure 3.1 of Casas 2009, and two of perturbations (figures 3.5 and 3.8).

    A flush, in which fewer cycles pass, and a collapsing network: each signal is high where it was planted.
    """
    steps = (Start(100), Loop(20, (Work(60, "ring"), Work(40, "reduction"))), Flushes(300))
    planted = Planted(4, slow=[Slow(600, 1300, 30)]).run((*steps, steps[1]))
    run = planted.written(tmp_path)
    drawn = []
    monkeypatch.setattr(picture, "save", lambda figure, path: drawn.append(figure))
    names = ("bursts", "computing", "p2p", "collective", "flying", "ipc")
    options = [word for name in names for word in ("--signal", name)]
    assert main(["structure", str(run), *options, "-q", "-o", str(tmp_path / "x.png")]) == 0
    panels = {" ".join(axes.get_ylabel().split()): axes for axes in drawn[0].subfigs[0].axes}
    assert list(panels) == [
        "iterations by rank", "sum of the durations of computing bursts", "processes computing",
        "processes in calls of messages", "processes in collectives", "messages in flight", "instructions per cycle",
        "wavelet level", "processes flushing", "rate of CPUs, 1 is usual", "in flight per bandwidth", "",
    ]  # fmt: skip
    before, after = planted.edges_ns
    gap = before[-1] / 1e9, after[0] / 1e9
    for name, least, first, last in (("processes flushing", 0, *gap), ("in flight per bandwidth", 6, 0.55, 1.9)):
        times, values = panels[name].lines[1].get_data()
        high = times[values > least]
        assert len(high) and first < high.min() < high.max() < last, name
    lags, correlated = drawn[0].subfigs[1].axes[0].lines[0].get_data()  # of what nothing disturbs: it repeats
    assert np.interp([1e8, 2e8, 3e8], lags, correlated) == pytest.approx(1, abs=0.1)


def test_the_typical_iteration_is_drawn_in_its_loop(tmp_path, monkeypatch, capsys):
    drawn = []
    monkeypatch.setattr(picture, "save", lambda figure, path: drawn.append(figure))
    run = run_of_steps(tmp_path)
    typical = numbers(capsys, "structure", run, "--json", "-o", tmp_path / "x.png")["levels"][0]["representative"]
    bars = [one for one in drawn[0].subfigs[0].axes[-1].collections if to_hex(one.get_facecolor()[0]) == ORANGE.lower()]
    (path,) = bars[0].get_paths()
    assert (len(bars), path.get_extents().x0, path.get_extents().x1) == pytest.approx(
        (1, typical["begin_s"], typical["end_s"])
    )


@pytest.mark.parametrize("count", [400, 60_000])
def test_the_correlation_is_one_at_the_period_of_an_exact_repeat(count):
    """Also where the signal has more samples than are drawn."""
    period = count // 20
    signal = RunSignal("bursts", 0, 1000, np.tile(np.repeat([1.0, 5.0, 2.0, 2.0], period // 4), 20))
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
    signal = RunSignal("bursts", 0, 1000, np.ones(count))
    draw_correlation(signal, 5000.0, axes)
    if count:
        draw_details(signal, axes)


def test_the_sampling_frequency_is_said(tmp_path, capsys):
    """alpha is the rate at which a whole number of samples makes up the run."""
    found = numbers(capsys, "structure", run_of_steps(tmp_path), "--json")
    assert found["signals"]
    for signal in found["signals"]:
        samples = signal["samples_per_s"] * found["runtime_s"]
        assert samples == pytest.approx(round(samples), abs=1) and samples > 64
