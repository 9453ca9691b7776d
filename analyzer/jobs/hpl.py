"""HPL on the cluster of the scheduling study: what two models say of its run time.

Source: "TIA specification", sections 4.7 (Eq. 5.4) and 2 (F26, F27, Eq. 5.6); regression values in section 8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from analyzer.jobs.application import Application, ApplicationRuns

CORES = 8
"""CPU cores of a node; HPL runs one process on each."""

Model = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def selected_s(n: np.ndarray, nb: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Evaluate the model of model selection (T_AIC): s, for an n x n matrix in blocks of nb on p x q processes."""
    squared, cubed = n**2, n**3
    return (
        1.812 - 2.749e-12 * cubed + 1.974e-7 * squared - 29.65 / nb - 3.239 / q + 48.49 / (nb * q) + 7.099 / (q * p)
        - 7.903e-7 * squared / nb + 8.228e-8 * squared / q + 4.059e-12 * cubed / p - 2.706e-7 * squared / p
        + 7.940e-10 * cubed / (nb * p) - 5.817e-7 * squared / (nb * p) + 1.613e-10 * cubed / (q * p)
        - 1.666e-10 * cubed / (nb * q * p)
    )  # fmt: skip


def theoretical_s(n: np.ndarray, nb: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Evaluate the model of HPL's authors, fitted (T_theo), with logarithms to base 2."""
    flops, elements, messages = 3.195e-10, 1.015e-7, 2.823e-4
    return (
        flops * 2 * n**3 / (3 * p * q)
        + elements * n**2 * (3 * p + q) / (2 * p * q)
        + messages * n * ((nb + 1) * np.log2(p) + p) / nb
    )


@dataclass(frozen=True)
class HplPredictor:
    """A model and how far runs lie from it: the standard deviation of measured / predicted - 1."""

    name: str
    deviation: float
    model: Model


SELECTED = HplPredictor("T_AIC", 0.136, selected_s)
THEORETICAL = HplPredictor("T_theo", 0.291, theoretical_s)

SIZES = (9216, 15360, 21504, 27648, 33792)
BLOCKS = (8, 9, 10, 12, 14, 20)
LEAST = 0.1
"""Least share of the model's time that a run standing for a measured one may take."""
ROWS, COLUMNS = range(1, 8), range(1, 9)


@cache
def grids(nodes: int) -> list[tuple[int, int]]:
    """List the grids p x q of processes that fill a number of nodes."""
    return [(p, q) for p in ROWS for q in COLUMNS if -(-p * q // CORES) == nodes]


def runs(nodes: np.ndarray, rng: np.random.Generator) -> ApplicationRuns:
    """Draw runs of HPL on given numbers of nodes: times in s, and each model's prediction.

    The measured runs of the study are not known. Its better model stands for them, with its own deviation, in sizes and
    blocks between those to which the models were fitted. Draws below a tenth of the model's time are drawn again.
    """
    p, q = np.array([_grid(int(count), rng) for count in nodes], float).reshape(-1, 2).T
    n, nb = rng.choice(SIZES, len(nodes)).astype(float), rng.choice(BLOCKS, len(nodes)).astype(float)
    factor = 1 + SELECTED.deviation * rng.standard_normal(len(nodes))
    while (low := factor < LEAST).any():
        factor[low] = 1 + SELECTED.deviation * rng.standard_normal(int(low.sum()))
    predicted = {one.name: one.model(n, nb, p, q) for one in (SELECTED, THEORETICAL)}
    return ApplicationRuns(nodes, predicted[SELECTED.name] * factor, predicted)


def _grid(nodes: int, rng: np.random.Generator) -> tuple[int, int]:
    known = grids(nodes)
    return known[rng.integers(len(known))]


HPL = Application("HPL", {one.name: one.deviation for one in (SELECTED, THEORETICAL)}, runs)
