"""HPL on the cluster of the scheduling study, with two models of its run time.

Source: "TIA specification", sections 4.7 (Eq. 5.4) and 2 (F26, F27, Eq. 5.6); regression values in section 8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from analyzer.jobs.application import Application, ApplicationRuns

CORES = 8
"""Number of CPU cores of a node. HPL runs one process on each."""

Model = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def selected_s(n: np.ndarray, nb: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the run time by the model that model selection gave (T_AIC), s.

    Args:
        n: Order of the n x n matrix.
        nb: Size of a block.
        p: Rows of the grid of processes.
        q: Columns of the grid of processes.
    """
    squared, cubed = n**2, n**3
    return (
        1.812 - 2.749e-12 * cubed + 1.974e-7 * squared - 29.65 / nb - 3.239 / q + 48.49 / (nb * q) + 7.099 / (q * p)
        - 7.903e-7 * squared / nb + 8.228e-8 * squared / q + 4.059e-12 * cubed / p - 2.706e-7 * squared / p
        + 7.940e-10 * cubed / (nb * p) - 5.817e-7 * squared / (nb * p) + 1.613e-10 * cubed / (q * p)
        - 1.666e-10 * cubed / (nb * q * p)
    )  # fmt: skip


def theoretical_s(n: np.ndarray, nb: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the run time by the fitted model of HPL's authors (T_theo), s, with logarithms to base 2.

    Arguments are as in `selected_s`.
    """
    flops, elements, messages = 3.195e-10, 1.015e-7, 2.823e-4
    return (
        flops * 2 * n**3 / (3 * p * q)
        + elements * n**2 * (3 * p + q) / (2 * p * q)
        + messages * n * ((nb + 1) * np.log2(p) + p) / nb
    )


@dataclass(frozen=True)
class HplPredictor:
    """Model of HPL's run time, with its error.

    Attributes:
        name: Name of the model.
        deviation: Standard deviation of (measured / predicted - 1).
        model: Function that computes the time.
    """

    name: str
    deviation: float
    model: Model


SELECTED = HplPredictor("T_AIC", 0.136, selected_s)
THEORETICAL = HplPredictor("T_theo", 0.291, theoretical_s)

SIZES = (9216, 15360, 21504, 27648, 33792)
BLOCKS = (8, 9, 10, 12, 14, 20)
LEAST = 0.1
"""Smallest run time that is drawn, relative to the model's time."""
ROWS, COLUMNS = range(1, 8), range(1, 9)


@cache
def grids(nodes: int) -> list[tuple[int, int]]:
    """List the grids p x q of processes that fill a number of nodes."""
    return [(p, q) for p in ROWS for q in COLUMNS if -(-p * q // CORES) == nodes]


def runs(nodes: np.ndarray, rng: np.random.Generator) -> ApplicationRuns:
    """Draw random runs of HPL: their times in s, and the prediction of each model.

    The measured runs of the study are not known. Its better model stands for them, with its own deviation, for sizes
    and
    blocks between those to which the models were fitted. Times below a tenth of the model's time are drawn again.

    Args:
        nodes: Number of nodes of each run.
        rng: Generator of random numbers.
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
