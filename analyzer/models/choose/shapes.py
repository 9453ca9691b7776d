"""Functions of one parameter that times are made of: x^i log2(x)^j, with i of small denominators.

They contain the performance model normal form (Calotoiu et al. 2013, whose i and j Extra-P searches), and parts that
fall with the parameter. A shape's prior says how likely it is before the data are seen: simple ones are likelier.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from analyzer.models.terms.product import Call, Name, Product

_LARGEST = 3
_DENOMINATORS = (1, 2, 3, 4)
_LOG_POWERS = (0, 1, 2)
_FRACTION = 0.5
"""Prior of powers in halves, and of those below 1 in thirds and quarters, beside whole numbers, which algorithms have
more often."""
_RARE = 0.125
"""The same of powers above 1 in thirds and quarters."""
_LOGGED, _LOG = 0.75, 0.5
"""Prior of a power with a logarithm beside the one without; of a logarithm alone beside whole powers."""
GRID = 20
_UNUSUAL = 0.02
"""Prior of powers in twentieths: no algorithm has them, but caches and networks bend what is measured."""
_FALLING = 0.1
"""Prior of a part that falls beside one that grows: only strong scaling and the like has it."""


@dataclass(frozen=True)
class Shape:
    """x ^ power * log2(x) ^ log_power; prior: relative to others."""

    power: Fraction
    log_power: int
    prior: float

    @property
    def free_prior(self) -> float:
        """The same in sums of several parts, where one that falls is as likely as one that grows."""
        return self.prior if self.power >= 0 else self.prior / _FALLING * (1 if self.power == -1 else _RARE)

    def value(self, x: np.ndarray) -> np.ndarray:
        """At these values of the parameter."""
        with np.errstate(all="ignore"):
            return np.power(x, float(self.power)) * np.power(np.log2(x), self.log_power)

    def product(self, name: str) -> Product:
        """As a term of this parameter."""
        x = Product(1.0, ((Name(name), Fraction(1)),))
        log = Product(1.0, ((Call("log2", (x,)), Fraction(1)),))
        return Product().times(x, self.power).times(log, self.log_power)


def _growing() -> list[Shape]:
    powers = sorted({Fraction(a, b) for b in (*_DENOMINATORS, GRID) for a in range(_LARGEST * b + 1)})
    return [
        Shape(power, log_power, _prior(power, log_power))
        for power in powers
        for log_power in _LOG_POWERS
        if power or log_power
    ]


def _prior(power: Fraction, log_power: int) -> float:
    if not power:
        return _LOG
    logged = _LOGGED if log_power else 1.0
    if power.denominator > max(_DENOMINATORS):
        return logged * _UNUSUAL
    if power.denominator == 1:
        return logged
    return logged * (_FRACTION if power.denominator == 2 or power < 1 else _RARE)


def _falling() -> list[Shape]:
    powers = [Fraction(-a, b) for a, b in ((1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (1, 1), (3, 2), (2, 1), (3, 1))]
    return [Shape(power, 0, _FALLING) for power in powers] + [Shape(Fraction(-1), 1, _FALLING * _LOG)]


SHAPES = (*_growing(), *_falling())

PLAIN = tuple(
    shape
    for shape in SHAPES
    if shape.power.denominator <= 2 and shape.log_power <= 1 and (shape.power <= 2 or shape == Shape(Fraction(3), 0, 1))
)
"""Those that are combined freely, where a model needs several parts."""


def shapes_on(x: np.ndarray, among: tuple[Shape, ...] = SHAPES) -> list[Shape]:
    """Those that have a value for all these values of a parameter, and are not negative: no logarithm below 1."""
    low = float(x.min())
    return [
        shape
        for shape in among
        if (low > 0 or (shape.power > 0 and not shape.log_power and low == 0)) and (low >= 1 or not shape.log_power)
    ]
