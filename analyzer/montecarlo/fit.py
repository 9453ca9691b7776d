"""Search of the machine on which replays take as long as the measured runs, and of all machines that come near.

Source: "Dimemas specification", section 1.17 (thesis, sections 6.4 and 6.5). Machines are drawn at random. Machines
whose predictions are within 10 % of the measured times are kept. The ranges of their parameters show what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.montecarlo.distribution import VariedParameter, points
from analyzer.montecarlo.region import NearMachines, region, unlike
from analyzer.montecarlo.replay_jobs import ReplayJob
from analyzer.montecarlo.samples import MachineSamples, replayed
from analyzer.montecarlo.workers import JobWorkers

_FIRST_STEP = 0.05
_STEPS_PER_PARAMETER = 60
_BELOW_1 = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True)
class MachinePoint:
    """A machine, and its predictions.

    Attributes:
        values: Values of the varied parameters, in their order.
        times_ns: Predicted time of each run in ns.
    """

    values: tuple[float, ...]
    times_ns: tuple[float, ...]

    @property
    def times(self) -> np.ndarray:
        """Predicted times in ns, float64 of shape (runs,)."""
        return np.array(self.times_ns, float)


def search(
    workers: JobWorkers,
    varied: Sequence[VariedParameter],
    seed: int,
    start: MachinePoint,
    misfit: Callable[[np.ndarray], np.ndarray],
) -> MachinePoint:
    """Minimise a misfit of the predicted times by the method of Nelder and Mead.

    The search goes through shares of the distributions, not through values. So it cannot leave the distributions, and a
    decade of a logarithmic range is as wide as any other. Whole numbers keep their values.

    Args:
        workers: Workers that replay.
        varied: Parameters and their distributions.
        seed: Seed of the machine's own random numbers.
        start: Machine from which the search begins.
        misfit: Function of the times in ns, shape (runs,), that is minimised.

    Returns:
        The best machine that was found, `start` at least.
    """
    from scipy.optimize import minimize

    free = [k for k, of in enumerate(varied) if not of.whole]
    best = start

    def try_(position: np.ndarray) -> float:
        nonlocal best
        values = list(start.values)
        for k, u in zip(free, position.tolist(), strict=True):
            values[k] = varied[k].at(u)
        times = workers.do(ReplayJob(tuple(values), seed)).times_ns
        if times is None:
            return np.inf
        error = float(misfit(np.array(times)))
        if error < float(misfit(best.times)):
            best = MachinePoint(tuple(values), tuple(map(float, times)))
        return error

    if free:
        begin = np.array([varied[k].share(start.values[k]) for k in free])
        steps = np.where(begin < 0.5, _FIRST_STEP, -_FIRST_STEP)
        options = {
            "initial_simplex": np.vstack([begin, begin + np.diag(steps)]),
            "maxfev": _STEPS_PER_PARAMETER * len(free),
            "xatol": 1e-6,
            "fatol": 1e-9,
        }
        minimize(try_, begin, method="Nelder-Mead", bounds=[(0.0, _BELOW_1)] * len(free), options=options)
    return best


TOLERANCE = 0.10
ROUNDS = 8
_ENOUGH = 0.5
"""Share of a round's machines that must be near the measured times for the rounds to end."""
_BEST, _FEWEST = 0.1, 20
"""Share, and least number, of a round's best machines around which the next box is drawn, beside all near ones."""
_MARGIN = 0.1
"""Margin of the box on each side, as a share of the box."""


@dataclass(frozen=True)
class FitTarget:
    """Measured times that replays should reproduce.

    Attributes:
        measured_ns: Times of the runs in ns, shape (runs,).
        weights: Weights of the runs with sum 1, shape (runs,).
        tolerance: Largest relative error of a run on a machine that counts as near.
    """

    measured_ns: np.ndarray
    weights: np.ndarray
    tolerance: float = TOLERANCE

    @classmethod
    def of(cls, measured_ns: Sequence[float], weights: Sequence[float], tolerance: float = TOLERANCE) -> FitTarget:
        """Return a target from weights with any sum."""
        return cls(np.array(measured_ns, float), np.array(weights, float) / sum(weights), tolerance)

    def errors(self, times_ns: np.ndarray) -> np.ndarray:
        """Return the relative errors predicted / measured - 1, of the same shape. Runs are on the last axis."""
        return times_ns / self.measured_ns - 1

    def misfit(self, times_ns: np.ndarray) -> np.ndarray:
        """Return the root of the weighted mean of the squared relative errors, over the runs (the last axis)."""
        return np.sqrt((self.weights * self.errors(times_ns) ** 2).sum(axis=-1))

    def worst(self, times_ns: np.ndarray) -> np.ndarray:
        """Return the largest absolute relative error, over the last axis. On near machines it is below `tolerance`."""
        return np.abs(self.errors(times_ns)).max(axis=-1)


@dataclass(frozen=True)
class FoundMachine:
    """The machine that was found for some runs, and the samples that show how well its parameters are known."""

    wanted: FitTarget  # the measured times
    samples: MachineSamples  # machines of all rounds
    near: np.ndarray  # (samples,) bool: the errors of all runs are below the tolerance
    rounds: int
    region: NearMachines
    best: MachinePoint


def fit(
    workers: JobWorkers, varied: Sequence[VariedParameter], wanted: FitTarget, design: str, count: int, seed: int
) -> FoundMachine:
    """Draw machines in rounds until enough are near the measured times, then search the best one from there.

    The first round draws from the whole distributions. Each further round draws from a box around the best machines so
    far. A near region of a thousandth of the space contains few of thousands of machines, but many of the box.

    Args:
        workers: Workers that replay.
        varied: Parameters and their distributions.
        wanted: The measured times.
        design: Sampling design, one of `DESIGNS`.
        count: Number of machines in each round.
        seed: Seed of the random numbers.
    """
    low, high = np.zeros(len(varied)), np.ones(len(varied))
    found: MachineSamples | None = None
    number = 0
    while number < ROUNDS and (found is None or np.count_nonzero(_near(wanted, found)) < _ENOUGH * count):
        if found is not None:
            low, high = _box(found, wanted, count, low, high)
        cube = points(design, count, len(varied), (seed + number) & (2**64 - 1))
        drawn = replayed(workers, varied, low + cube * (high - low), [seed] * count)
        found = drawn if found is None else found + drawn
        number += 1
    assert found is not None, "there is a first round"
    near = _near(wanted, found)
    known = region(found.values, found.shares, near, high - low)
    at = int(wanted.misfit(found.times_ns).argmin())
    start = MachinePoint(tuple(found.values[at].tolist()), tuple(found.times_ns[at].tolist()))
    best = search(workers, varied, seed, start, wanted.misfit)
    return FoundMachine(wanted, found, near, number, known, best)


def _near(wanted: FitTarget, samples: MachineSamples) -> np.ndarray:
    return wanted.worst(samples.times_ns) < wanted.tolerance


def _box(
    found: MachineSamples, wanted: FitTarget, count: int, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper ends of a box around the best machines so far, with a margin, as shares.

    Along parameters in which the best machines are like the others, the box stays as wide as before.
    """
    order = np.argsort(wanted.worst(found.times_ns), kind="stable")
    kept = max(_FEWEST, round(_BEST * count), int(_near(wanted, found).sum()))
    best, others = np.split(found.shares[order], [kept])
    matters = np.array([unlike(*columns) for columns in zip(best.T, others.T, strict=True)])
    least, most = best.min(axis=0), best.max(axis=0)
    margin = _MARGIN * (most - least)
    return (
        np.where(matters, np.maximum(least - margin, 0.0), low),
        np.where(matters, np.minimum(most + margin, 1.0), high),
    )
