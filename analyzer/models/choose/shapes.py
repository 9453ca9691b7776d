"""Shapes: functions of one parameter of which times consist, x^i log2(x)^j, where i has a small denominator.

They contain the performance model normal form (Calotoiu et al. 2013, whose i and j Extra-P searches), and functions
that fall with the parameter. A shape's prior is its probability before the data are seen: simple shapes are likelier.

A power of a parameter is the same function in any unit. A logarithm is not: log2(1000 x) is no multiple of log2(x). So
there is also the logarithm of x / least measured x, which does not depend on the unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from analyzer.models.averaging import WeightedModel
from analyzer.models.terms.product import FunctionCall, ParameterName, Product

_LARGEST = 3
_DENOMINATORS = (1, 2, 3, 4)
_LOG_POWERS = (0, 1, 2)
_FRACTION = 0.5
"""Prior of powers in halves, and of powers below 1 in thirds and quarters, relative to whole powers.

Algorithms have whole powers more often.
"""
_RARE = 0.125
"""Prior of powers above 1 in thirds and quarters, relative to whole powers."""
_LOGGED, _LOG = 0.75, 0.5
"""Priors of a power with a logarithm relative to the power, and of a logarithm alone relative to whole powers."""
GRID = 20
_UNUSUAL = 0.02
"""Prior of powers in twentieths. No algorithm has them, but caches and networks distort measured times."""
_SHIFTED = 0.1
"""Prior of logarithms that are 0 at the least measured value, relative to logarithms of numbers from 1 on.

Few algorithms have log2(ranks / ranks of a node), many log2(ranks).
"""
_FALLING = 0.1
"""Prior of a function that falls relative to one that grows: only strong scaling and the like has such parts."""


@dataclass(frozen=True)
class TermShape:
    """A function x ^ power * log2(x / unit) ^ log_power of one parameter.

    Attributes:
        prior: Probability before the data are seen, relative to other shapes.
    """

    power: Fraction
    log_power: int
    prior: float
    unit: float = 1.0

    @property
    def free_prior(self) -> float:
        """Prior in sums of several terms, where functions that fall are as likely as functions that grow."""
        return self.prior if self.power >= 0 else self.prior / _FALLING * (1 if self.power == -1 else _RARE)

    def value(self, x: np.ndarray) -> np.ndarray:
        """Evaluate the shape at values `x` of the parameter. Not finite where it is undefined."""
        with np.errstate(all="ignore"):
            powered = np.power(x, float(self.power))
            return powered * np.log2(x * self._per_unit) ** self.log_power if self.log_power else powered

    def product(self, name: str) -> Product:
        """Return the shape as a term of the parameter `name`."""
        x = Product(1.0, ((ParameterName(name), Fraction(1)),))
        log = Product(1.0, ((FunctionCall("log2", (Product(self._per_unit, x.powers),)), Fraction(1)),))
        return Product().times(x, self.power).times(log, self.log_power)

    @property
    def _per_unit(self) -> float:
        return 1 / self.unit


def _growing() -> list[TermShape]:
    powers = sorted({Fraction(a, b) for b in (*_DENOMINATORS, GRID) for a in range(_LARGEST * b + 1)})
    return [
        TermShape(power, log_power, _prior(power, log_power))
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


def _falling() -> list[TermShape]:
    powers = [Fraction(-a, b) for a, b in ((1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (1, 1), (3, 2), (2, 1), (3, 1))]
    return [TermShape(power, 0, _FALLING) for power in powers] + [TermShape(Fraction(-1), 1, _FALLING * _LOG)]


SHAPES = (*_growing(), *_falling())

PLAIN = tuple(
    shape
    for shape in SHAPES
    if shape.power.denominator <= 2
    and shape.log_power <= 1
    and (shape.power <= 2 or shape == TermShape(Fraction(3), 0, 1))
)
"""Shapes that are combined freely where a model needs several terms."""


def shapes_on(x: np.ndarray, plain: bool = False) -> list[TermShape]:
    """Return the shapes that are defined and not negative at all values of a parameter.

    Logarithms are of x / min(x). If all values are 1 or more, they are also of x itself.

    Args:
        x: Values of the parameter.
        plain: Only the shapes of `PLAIN`.
    """
    return list(_defined_from(float(x.min()), plain))


@lru_cache(256)
def _defined_from(low: float, plain: bool) -> tuple[TermShape, ...]:
    """Return the shapes of a parameter with this least value."""
    among = PLAIN if plain else SHAPES
    if low <= 0:
        return tuple(shape for shape in among if low == 0 and shape.power > 0 and not shape.log_power)
    from_one, shifted = low >= 1, low != 1
    found = []
    for shape in among:
        if from_one or not shape.log_power:
            found.append(shape)
        if shifted and shape.log_power and (not from_one or shape.power.denominator < GRID):
            found.append(replace(shape, unit=low, prior=shape.prior * (_SHIFTED if from_one else 1.0)))
    return tuple(found)


ROUNDING = 1.2 / GRID / 12**0.5
"""Standard error of a power that is rounded to a grid of twentieths.

It is a fifth larger than that of rounding, because a logarithm may take the place of a part of the power.
"""


def rounded(member: WeightedModel) -> frozenset[str]:
    """Return the parameters that a model has with powers in thirds, quarters or twentieths, or a squared logarithm."""
    found = set()
    for term in member.terms:
        for atom, power in term.powers:
            if isinstance(atom, ParameterName) and power.denominator > 2:
                found.add(atom.name)
            elif isinstance(atom, FunctionCall) and power > 1:
                found |= atom.arguments[0].names()
    return frozenset(found)


def rounding_error(
    names: Sequence[frozenset[str]], values: Mapping[str, float], ranges: Mapping[str, tuple[float, float]]
) -> np.ndarray:
    """Return the relative standard error of each model's value that its rounded powers cause, shape (models,).

    It grows with the logarithm of the distance from the data.

    Args:
        names: Parameters with rounded powers of each model, as `rounded` returns them.
        values: Value of each parameter at the point.
        ranges: Least and largest measured value of each parameter.
    """
    far = {name: _beyond(values[name], *ends) for name, ends in ranges.items() if name in values}
    squares = [sum(far.get(name, 0.0) ** 2 for name in of) for of in names]
    return ROUNDING * np.sqrt(squares)


def _beyond(x: float, low: float, high: float) -> float:
    """Return the distance of a value from a range as a natural logarithm; 0 inside the range."""
    if low > 0 and x > 0:
        return float(max(np.log(x) - np.log(high), np.log(low) - np.log(x), 0.0))
    return 0.0
