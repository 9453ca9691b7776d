"""Times by plain laws, such as n/p + log2(p), with 3 % noise: how they grow is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas

from analyzer.models.averaging import WeightedModel
from analyzer.models.terms.product import FunctionCall, ParameterName

NOISE = 0.03
BEYOND = 8
Growth = tuple[float, float]
"""Power and power of the logarithm of the part that grows fastest."""
Law = tuple[Callable[..., np.ndarray], dict[str, Growth]]

log2 = np.log2
LAWS: dict[str, Law] = {
    "c": (lambda a, b, p: a + 0 * p, {"p": (0, 0)}),
    "log p": (lambda a, b, p: a * log2(p), {"p": (0, 1)}),
    "c + log p": (lambda a, b, p: a + b * log2(p), {"p": (0, 1)}),
    "p": (lambda a, b, p: a * p, {"p": (1, 0)}),
    "c + p": (lambda a, b, p: a + b * p / 8, {"p": (1, 0)}),
    "p log p": (lambda a, b, p: a * p * log2(p), {"p": (1, 1)}),
    "c + p log p": (lambda a, b, p: a + b * p * log2(p) / 32, {"p": (1, 1)}),
    "p^2": (lambda a, b, p: a * p**2, {"p": (2, 0)}),
    "c + p^2": (lambda a, b, p: a + b * p**2 / 64, {"p": (2, 0)}),
    "1/p": (lambda a, b, p: a / p, {"p": (-1, 0)}),
    "c + 1/p": (lambda a, b, p: a / 4 + b * 4 / p, {"p": (0, 0)}),
    "1/p + log p": (lambda a, b, p: a * 30 / p + b * log2(p), {"p": (0, 1)}),
    "n/p": (lambda a, b, p, n: a * n / p, {"p": (-1, 0), "n": (1, 0)}),
    "n/p + log p": (lambda a, b, p, n: a * n / p + b * 100 * log2(p), {"p": (0, 1), "n": (1, 0)}),
    "n^2/p + n": (lambda a, b, p, n: a * n**2 / p + b * 50 * n, {"p": (0, 0), "n": (2, 0)}),
    "n^3/p": (lambda a, b, p, n: a * n**3 / p, {"p": (-1, 0), "n": (3, 0)}),
    "n log n/p": (lambda a, b, p, n: a * n * log2(n) / p, {"p": (-1, 0), "n": (1, 1)}),
    "n log n/p + p": (lambda a, b, p, n: a * n * log2(n) / p + b * 30 * p, {"p": (1, 0), "n": (1, 1)}),
    "n^2 + c": (lambda a, b, p, n: 1e5 * a + b * n**2 + 0 * p, {"p": (0, 0), "n": (2, 0)}),
    "n log p": (lambda a, b, p, n: a * n * log2(p), {"p": (0, 1), "n": (1, 0)}),
}


@dataclass(frozen=True)
class Case:
    """Measurements of a law. truth: at `at`, BEYOND times beyond the largest values."""

    name: str
    growth: Mapping[str, Growth]
    frame: pandas.DataFrame
    at: Mapping[str, float]
    truth: float


def case(seed: int) -> Case:
    """The laws in turn, with random coefficients, levels and repetitions."""
    random = np.random.default_rng(seed)
    name = list(LAWS)[seed % len(LAWS)]
    law, growth = LAWS[name]
    levels = {"p": 2.0 ** np.arange(1, 1 + random.integers(5, 8))}
    if "n" in growth:
        levels["n"] = 100 * 2.0 ** np.arange(random.integers(4, 6))
    a, b = 10 ** random.uniform(-0.5, 0.5, 2)
    repetitions = random.integers(3, 6)
    grid = np.meshgrid(*levels.values())
    columns = {key: np.repeat(axis.ravel(), repetitions) for key, axis in zip(levels, grid, strict=True)}
    time = law(a, b, **columns)
    columns["time"] = time * (1 + NOISE * random.standard_normal(len(time)))
    at = {key: BEYOND * axis.max() for key, axis in levels.items()}
    return Case(name, growth, pandas.DataFrame(columns), at, float(law(a, b, **at)))


def growth_of(member: WeightedModel, name: str) -> Growth:
    """How a model grows with a parameter."""
    found = []
    for term in member.terms:
        power = log = 0.0
        for atom, of in term.powers:
            if atom == ParameterName(name):
                power = float(of)
            elif isinstance(atom, FunctionCall) and name in atom.arguments[0].names():
                log = float(of)
        found.append((power, log))
    return max(found)
