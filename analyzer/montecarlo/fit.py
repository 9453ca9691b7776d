"""The machine on which replays take as long as runs did, and all those on which they nearly do.

Source: "Dimemas specification", section 1.17 (thesis, sections 6.4 and 6.5): machines are drawn at random, those whose
predictions are within 10 % of what was measured are kept, and the ranges of their parameters are what is known.
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
    """A machine: the values of the varied parameters, and the predicted time of each run in ns."""

    values: tuple[float, ...]
    times_ns: tuple[float, ...]

    @property
    def times(self) -> np.ndarray:
        """The times, float64 of shape (runs,)."""
        return np.array(self.times_ns, float)


def search(
    workers: JobWorkers,
    varied: Sequence[VariedParameter],
    seed: int,
    start: MachinePoint,
    misfit: Callable[[np.ndarray], np.ndarray],
) -> MachinePoint:
    """Search the smallest misfit of the times (runs,) by Nelder and Mead, from a point on.

    It goes through the distributions, not the values: it cannot leave them, and a decade of a logarithmic range is as
    wide as any other. Whole numbers stay as they are.
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
"""Rounds go on until this share of a round's machines is near."""
_BEST, _FEWEST = 0.1, 20
"""A box is drawn around such a share of a round's machines, around so many at least, and around all that are near."""
_MARGIN = 0.1
"""Margin of the box on each side, as a share of the box."""


@dataclass(frozen=True)
class FitTarget:
    """Target of replays: measured times (runs,) in ns, weights (runs,) with sum 1, and the largest error that counts as
    near."""

    measured_ns: np.ndarray
    weights: np.ndarray
    tolerance: float = TOLERANCE

    @classmethod
    def of(cls, measured_ns: Sequence[float], weights: Sequence[float], tolerance: float = TOLERANCE) -> FitTarget:
        """Make one from weights of any sum."""
        return cls(np.array(measured_ns, float), np.array(weights, float) / sum(weights), tolerance)

    def errors(self, times_ns: np.ndarray) -> np.ndarray:
        """Return predicted / measured - 1 of each run, over the last axis."""
        return times_ns / self.measured_ns - 1

    def misfit(self, times_ns: np.ndarray) -> np.ndarray:
        """Return root of the weighted mean of the squared errors."""
        return np.sqrt((self.weights * self.errors(times_ns) ** 2).sum(axis=-1))

    def worst(self, times_ns: np.ndarray) -> np.ndarray:
        """Return the largest error of any run; a machine is near if this is below the tolerance."""
        return np.abs(self.errors(times_ns)).max(axis=-1)


@dataclass(frozen=True)
class FoundMachine:
    """Machine found for some runs, and the samples that show how far it is known."""

    wanted: FitTarget
    samples: MachineSamples  # of all rounds
    near: np.ndarray  # (samples,) bool: each run within the tolerance
    rounds: int
    region: NearMachines
    best: MachinePoint


def fit(
    workers: JobWorkers, varied: Sequence[VariedParameter], wanted: FitTarget, design: str, count: int, seed: int
) -> FoundMachine:
    """Draw `count` machines a round, until enough are near, and search the best from the best of them on.

    The first round draws from all there is, the next ones from a box around the best machines so far: a region that is
    a thousandth of what was tried is found by few of thousands, but by many in the box around those.
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
    """Return a box around the best machines so far, with a margin.

    It stays as wide along parameters in which they are like the others.
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
