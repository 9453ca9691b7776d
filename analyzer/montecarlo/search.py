"""The best machine near a good one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.montecarlo.distribution import Varied
from analyzer.montecarlo.jobs import Job
from analyzer.montecarlo.workers import Workers

_FIRST_STEP = 0.05
_STEPS_PER_PARAMETER = 60
_BELOW_1 = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True)
class Point:
    """A machine: the values of the varied parameters, and the predicted time of each run in ns."""

    values: tuple[float, ...]
    times_ns: tuple[float, ...]

    @property
    def times(self) -> np.ndarray:
        """The times, float64 of shape (runs,)."""
        return np.array(self.times_ns, float)


def search(
    workers: Workers, varied: Sequence[Varied], seed: int, start: Point, misfit: Callable[[np.ndarray], np.ndarray]
) -> Point:
    """Nelder and Mead's search for the smallest misfit of the times (runs,), from a point on.

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
        times = workers.do(Job(tuple(values), seed)).times_ns
        if times is None:
            return np.inf
        error = float(misfit(np.array(times)))
        if error < float(misfit(best.times)):
            best = Point(tuple(values), tuple(map(float, times)))
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
