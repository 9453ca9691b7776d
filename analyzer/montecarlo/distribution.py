"""Distributions of the parameters of a machine, or of the variables of any program, and points in their space.

Source: "Dimemas specification", sections 1.14 and 1.17 (each random variable has a density that the user chooses).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from statistics import NormalDist

import numpy as np

from analyzer.errors import TracelibError
from analyzer.machine.parameters import Variable, parameter, two_values_of

RANDOM, LATIN, SOBOL = DESIGNS = ("random", "latin", "sobol")


def points(design: str, count: int, dimensions: int, seed: int) -> np.ndarray:
    """Draw points in the unit cube, float64 of shape (count, dimensions) from 0, below 1.

    Independent points, a Latin hypercube (each of `count` equal parts of each axis holds one), or a Sobol sequence.
    More random points or points of a Sobol sequence begin with the same points; a Latin hypercube differs for each
    count.
    """
    if not dimensions:
        return np.zeros((count, 0))
    generator = np.random.Generator(np.random.Philox(seed))
    if design == RANDOM:
        return generator.random((count, dimensions))
    from scipy.stats import qmc

    if design == LATIN:
        return qmc.LatinHypercube(dimensions, rng=generator).random(count)
    power = max(int(np.ceil(np.log2(count))), 0)
    return np.minimum(qmc.Sobol(dimensions, rng=generator).random_base2(power)[:count], np.nextafter(1.0, 0.0))


UNIFORM, LOG, GAUSSIAN, EXPONENTIAL = "uniform", "log", "gaussian", "exponential"
_TINY = 2.0**-54
"""Smallest share of a distribution without an end; a share of 0 counts as this."""
_HINT = "write latency=1us..100us, latency=log:1us..100us, gaussian:MEAN,DEVIATION or exponential:LEAST,MEAN"


@dataclass(frozen=True)
class VariedParameter:
    """A parameter and its distribution: uniform or log-uniform from `a` to `b`, both included where it is a whole
    number; gaussian of mean `a` and deviation `b`, of which what is below the least value becomes that;
    exponential, `a` and a time of mean `b` more."""

    parameter: Variable
    law: str
    a: float
    b: float
    text: str  # as the user wrote it

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.parameter.name

    @property
    def said(self) -> str:
        """The distribution as the user wrote it."""
        return self.text.partition("=")[2]

    @property
    def whole(self) -> bool:
        """Check whether only whole numbers are drawn."""
        return self.parameter.whole

    def at(self, u: float) -> float:
        """Return the value below which a share `u` (from 0, below 1) of the distribution lies."""
        a, b = self._ends()
        if self.law == UNIFORM:
            value = a + u * (b - a)
        elif self.law == LOG:
            value = a * (b / a) ** u
        elif self.law == GAUSSIAN:
            value = NormalDist(a, b).inv_cdf(max(u, _TINY))
        else:
            value = a - b * float(np.log1p(-u))
        if self.whole:
            value = np.floor(value) if self.law in (UNIFORM, LOG) else np.rint(np.clip(value, -(2**62), 2**62))
        low, high = (self.a, self.b) if self.law in (UNIFORM, LOG) else (self._least(), np.inf)
        return float(min(max(value, low), high))

    def share(self, value: float) -> float:
        """Return the u of a value: `at` backwards; of a whole number the middle of its part."""
        a, b = self._ends()
        value += 0.5 if self.whole and self.law in (UNIFORM, LOG) else 0
        if self.law == UNIFORM:
            u = (value - a) / (b - a)
        elif self.law == LOG:
            u = np.log(value / a) / np.log(b / a)
        elif self.law == GAUSSIAN:
            u = NormalDist(a, b).cdf(value)
        else:
            u = -np.expm1(-(value - a) / b)
        return float(np.clip(u, 0.0, np.nextafter(1.0, 0.0)))

    def _ends(self) -> tuple[float, float]:
        """Return the ends of the range; for whole numbers it reaches half a number beyond both."""
        return self.a, self.b + 1 if self.whole and self.law in (UNIFORM, LOG) else self.b

    def _least(self) -> float:
        """Return the least value: a parameter that must be above 0 stays a thousandth of the mean above it."""
        return max(self.parameter.least, self.a / 1000 if self.parameter.positive else self.parameter.least)


def varied(text: str) -> VariedParameter:
    """Parse a parameter of a machine and its distribution from NAME=[LAW:]VALUES. Raises TracelibError."""
    name, equals, _ = text.partition("=")
    if not equals:
        raise TracelibError(f"{text!r} names no parameter with its values", _HINT)
    return distribution(parameter(name.strip()), text, two_values_of)


def distribution(of: Variable, text: str, two_values: Callable[..., tuple[float, float]]) -> VariedParameter:
    """Read the distribution of a variable from NAME=[LAW:]VALUES.

    Args:
        of: The variable.
        text: As the user wrote it.
        two_values: Reads two values of the variable from two words, as `two_values_of`.

    Raises:
        TracelibError: The law is not known, or makes no sense for the variable.
    """
    law, colon, values = text.partition("=")[2].rpartition(":")
    law = law.strip() if colon else UNIFORM
    words = values.split(".." if law in (UNIFORM, LOG) else ",")
    if law not in (UNIFORM, LOG, GAUSSIAN, EXPONENTIAL) or len(words) != 2:
        raise TracelibError(f"{text!r} is not a known distribution", _HINT)
    a, b = two_values(of, *words)
    _check(text, of, law, a, b)
    return VariedParameter(of, law, a, b, text.replace(" ", ""))


def _check(text: str, of: Variable, law: str, a: float, b: float) -> None:
    if not (isfinite(a) and isfinite(b)):
        raise TracelibError(f"{text!r}: values to draw must be finite", "a large number does the same as inf")
    if law in (UNIFORM, LOG) and not a < b:
        raise TracelibError(f"{text!r}: the range has no width", "write the smaller value first")
    if law == LOG and a <= 0:
        raise TracelibError(f"{text!r}: a logarithmic range must begin above 0", "begin it a little above")
    if law in (GAUSSIAN, EXPONENTIAL) and b <= 0:
        raise TracelibError(f"{text!r}: a deviation or mean of 0 varies nothing", "give one above 0")
    if of.whole and not (a.is_integer() and b.is_integer()) and law in (UNIFORM, LOG):
        raise TracelibError(f"{text!r}: {of.name} is a whole number", "give whole numbers as the ends of its range")
    if a < of.least or (of.positive and a <= 0):
        raise TracelibError(f"{text!r}: {of.name} cannot be {a:g}", "begin the range above")
