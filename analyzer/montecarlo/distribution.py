"""Distributions of a machine's parameters or of a program's inputs, and points in the space of these variables.

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
    """Draw points in the unit cube [0, 1).

    "random" points are independent. In a Latin hypercube ("latin") each of `count` equal parts of each axis holds one
    point. "sobol" points are a Sobol sequence. With a larger count, random and Sobol points begin with the same points.
    A Latin hypercube differs for each count.

    Args:
        design: One of `DESIGNS`.
        count: Number of points.
        dimensions: Number of variables.
        seed: Seed of the random numbers.

    Returns:
        Points, float64 of shape (count, dimensions).
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
"""Smallest share of a distribution without a lower end. A share of 0 counts as this."""
_HINT = "write latency=1us..100us, latency=log:1us..100us, gaussian:MEAN,DEVIATION or exponential:LEAST,MEAN"


@dataclass(frozen=True)
class VariedParameter:
    """A parameter and its distribution.

    Whole numbers of "uniform" and "log" include both ends. Other values below the parameter's smallest allowed value
    become that value.

    Attributes:
        law: "uniform", "log" (log-uniform), "gaussian" or "exponential".
        a: Lower end of the range; mean of a Gaussian; least value of an exponential distribution.
        b: Upper end of the range; standard deviation of a Gaussian; mean above `a` of an exponential distribution.
        text: Parameter and distribution as the user wrote them.
    """

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
        """The distribution as the user wrote it, without the parameter's name."""
        return self.text.partition("=")[2]

    @property
    def whole(self) -> bool:
        """True if only whole numbers are drawn."""
        return self.parameter.whole

    def at(self, u: float) -> float:
        """Return the value below which the share `u` (in [0, 1)) of the distribution lies."""
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
        """Return the share of the distribution that lies below a value, the inverse of `at`.

        A whole number of a range gives the middle of its shares.
        """
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
        """Return the two numbers of the distribution. The range of whole numbers is extended to b + 1."""
        return self.a, self.b + 1 if self.whole and self.law in (UNIFORM, LOG) else self.b

    def _least(self) -> float:
        """Return the smallest value. If the parameter must be above 0, this is a thousandth of the mean."""
        return max(self.parameter.least, self.a / 1000 if self.parameter.positive else self.parameter.least)


def varied(text: str) -> VariedParameter:
    """Parse a machine's parameter and its distribution from NAME=[LAW:]VALUES.

    Raises:
        TracelibError: The parameter or law is not known, or the values are not valid.
    """
    name, equals, _ = text.partition("=")
    if not equals:
        raise TracelibError(f"{text!r} names no parameter with its values", _HINT)
    return distribution(parameter(name.strip()), text, two_values_of)


def distribution(of: Variable, text: str, two_values: Callable[..., tuple[float, float]]) -> VariedParameter:
    """Parse the distribution of a variable from NAME=[LAW:]VALUES.

    Args:
        of: The variable.
        text: The text, as the user wrote it.
        two_values: Parses two values of the variable from two words, as `two_values_of` does.

    Raises:
        TracelibError: The law is not known, or the values are not valid for the variable.
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
