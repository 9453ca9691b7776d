"""Times between jobs, and of jobs, as Jann's model of workloads draws them: hyper-Erlang of common order.

Source: "TIA specification", section 3.7 (2); J. Jann et al., "Modeling of workload in MPPs", 1997: with probability p_i
a time is the sum of `order` exponential ones of mean x_i. The smallest order that gives three moments is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_MOST_STAGES = 1000
_SLACK = 1e-9


@dataclass(frozen=True)
class HyperErlang:
    """Two branches of the same order; times in s."""

    order: int
    probability: float  # of the first branch
    stages_s: tuple[float, float]  # mean of a stage of each branch

    @classmethod
    def of_moments(cls, first: float, second: float, third: float) -> HyperErlang:
        """That with the moments E[T], E[T^2], E[T^3]. Raises ValueError if no order has them."""
        for order in range(1, _MOST_STAGES + 1):
            a = first / order
            b = second / (order * (order + 1))
            c = third / (order * (order + 1) * (order + 2))
            if (found := _two_points(a, b, c)) is not None:
                return cls(order, *found)
        raise ValueError(f"no hyper-Erlang distribution has the moments {first:g}, {second:g}, {third:g}")

    @classmethod
    def of_variation(cls, mean: float, variation: float) -> HyperErlang:
        """That with a mean, a coefficient of variation, and the third moment that a gamma distribution has."""
        square = variation * variation
        if not (mean > 0 and variation > 0):
            raise ValueError("a mean and a coefficient of variation are above 0")
        return cls.of_moments(mean, mean**2 * (1 + square), mean**3 * (1 + square) * (1 + 2 * square))

    def moment(self, number: int) -> float:
        """E[T^number]."""
        rising = float(np.prod(np.arange(self.order, self.order + number)))
        p, (x, y) = self.probability, self.stages_s
        return rising * (p * x**number + (1 - p) * y**number)

    def draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """`size` times, in s."""
        first = rng.random(size) < self.probability
        return rng.gamma(self.order, size=size) * np.where(first, *self.stages_s)


def _two_points(a: float, b: float, c: float) -> tuple[float, tuple[float, float]] | None:
    """The distribution on two positive points with three raw moments: (probability of the first, points)."""
    spread = b - a * a
    if abs(spread) <= _SLACK * b and abs(c - a**3) <= 3 * _SLACK * abs(c):
        return 1.0, (a, a)
    if spread <= 0:
        return None
    total, product = (c - a * b) / spread, (a * c - b * b) / spread  # of the two points
    under = total * total - 4 * product
    if product < -_SLACK * b or under <= 0:
        return None
    low, high = (total - np.sqrt(under)) / 2, (total + np.sqrt(under)) / 2
    probability = (high - a) / (high - low)
    if not (low > 0 and 0 <= probability <= 1):
        return None
    return float(probability), (float(low), float(high))
