"""Models of machine types from measured times.

Source: search-and-balance specification, section 2: 40 repetitions over (n, p), anomalies discarded, mean time, least
squares first in n, then in p; the interval from the largest distances between measured and predicted times (DFPT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.balance.fitted_model import PROCESSES, SIZE
from analyzer.balance.formula import Formula, polynomial
from analyzer.balance.member_text import formula_text
from analyzer.balance.repository import MachineModel
from analyzer.errors import TracelibError
from analyzer.models.study import fit

ANOMALY = 3.5
"""Modified z score from which on a repetition is an anomaly (Iglewicz and Hoaglin 1993)."""
_TO_DEVIATION = 0.6745  # of a median absolute deviation
_LEAST_SPREAD = 0.01  # of the median: repetitions this close are all good
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Measured:
    """Repetitions on one type of machine; arrays of shape (n,)."""

    n: np.ndarray
    p: np.ndarray
    time_s: np.ndarray

    def cells(self) -> list[tuple[float, float, np.ndarray]]:
        """(n, p, indices) of each setting, in order of p and n."""
        settings = sorted({(p, n) for p, n in zip(self.p.tolist(), self.n.tolist(), strict=True)})
        return [(n, p, np.flatnonzero((self.n == n) & (self.p == p))) for p, n in settings]


def anomalies(times: Measured) -> np.ndarray:
    """Which repetitions are far from the median of their setting (n, p), bool. Settings of 1 or 2 have none."""
    found = np.zeros(len(times.time_s), bool)
    for _, _, rows in times.cells():
        values = times.time_s[rows]
        median = np.median(values)
        spread = max(float(np.median(np.abs(values - median))), _LEAST_SPREAD * abs(median) * _TO_DEVIATION)
        if len(rows) > 2 and spread > 0:
            found[rows] = _TO_DEVIATION * np.abs(values - median) / spread > ANOMALY
    return found


def fit_machine(
    name: str, times: Measured, degree: int, features: dict[str, str], terms: str | None = None
) -> MachineModel:
    """Fit the model of a type of machine. With times of one process only, T(n, p) = T(n, 1) / p (formula 7).

    Args:
        name: Of the machine.
        times: All repetitions; anomalies are left out.
        degree: Of the polynomial in n.
        features: Of the machine.
        terms: In place of the polynomial, candidate terms of n and p, as `candidates` reads them.

    Raises:
        TracelibError: There are too few sizes, or the terms cannot be fitted.
    """
    dropped = anomalies(times)
    kept = Measured(times.n[~dropped], times.p[~dropped], times.time_s[~dropped])
    formula = Formula(_by_degree(name, kept, degree) if terms is None else _by_terms(kept, terms))
    low, high = (Formula(text) for text in _interval(kept, formula, degree))
    return MachineModel(name, formula, low, high, (float(kept.n.min()), float(kept.n.max())), features)


def _by_terms(kept: Measured, terms: str) -> str:
    """The formula of the best model of the terms (formula 1 of any complexity)."""
    import pandas

    one = kept.p[0] if np.ptp(kept.p) == 0 else None
    columns = {SIZE: kept.n, **({PROCESSES: kept.p} if one is None else {})}
    frame = pandas.DataFrame({**columns, "time_s": kept.time_s * (1 if one is None else one)})
    model = fit(frame, "time_s", list(columns), terms)
    return f"({formula_text(model.selected)})" + (f" / {PROCESSES}" if one is not None else "")


def _by_degree(name: str, kept: Measured, degree: int) -> str:
    cells = kept.cells()
    processes = sorted({p for _, p, _ in cells})
    rows = []
    for count in processes:
        sizes = np.array([n for n, p, _ in cells if p == count])
        if len(sizes) <= degree:
            raise TracelibError(
                f"{name}: {len(sizes)} sizes with {count:g} processes are too few for a polynomial of degree {degree}",
                f"measure {degree + 1} sizes or more, or lower --degree",
            )
        means = np.array([kept.time_s[rows_].mean() for _, p, rows_ in cells if p == count])
        rows.append(_polynomial_fit(sizes, means, degree))
    return _in_p(np.array(processes), np.array(rows))


def _polynomial_fit(sizes: np.ndarray, values: np.ndarray, degree: int) -> np.ndarray:
    """Least squares of relative distances; lowest power first."""
    scale = sizes.max()
    basis = np.vander(sizes / scale, degree + 1, increasing=True)
    weight = 1 / np.maximum(np.abs(values), np.abs(values).max() * _ROUNDING + np.finfo(float).tiny)
    found, *_ = np.linalg.lstsq(basis * weight[:, None], values * weight, rcond=None)
    return found / scale ** np.arange(degree + 1)


def _in_p(processes: np.ndarray, coefficients: np.ndarray) -> str:
    """Each coefficient of n as a + b / p, by least squares over the numbers of processes."""
    if len(processes) == 1:
        return f"({polynomial(coefficients[0] * processes[0])}) / p"
    basis = np.column_stack([np.ones(len(processes)), 1 / processes])
    found, *_ = np.linalg.lstsq(basis, coefficients, rcond=None)
    return polynomial(found.T)


def _interval(times: Measured, formula: Formula, degree: int) -> tuple[str, str]:
    """The lowest and the highest time: the formula, less and plus the largest distances at each size.

    Distances are fitted relative to the predicted time, as a polynomial of n, and moved until all are inside.
    """
    predicted = np.array([formula(n, p) for n, p in zip(times.n, times.p, strict=True)])
    relative = times.time_s / predicted - 1
    sizes = np.unique(times.n)
    found = []
    for sign in (-1, 1):
        largest = np.array([max(float((sign * relative[times.n == n]).max()), 0.0) for n in sizes])
        fitted = _line_above(sizes, largest, min(degree, len(sizes) - 1, 1))
        found.append(f"({formula.text}) * (1 {'+' if sign > 0 else '-'} ({polynomial(fitted)}))")
    return found[0], found[1]


def _line_above(sizes: np.ndarray, values: np.ndarray, degree: int) -> np.ndarray:
    """Least squares, moved up until it is not below any value; level where it would fall, and end below 0."""
    scale = sizes.max()
    basis = np.vander(sizes / scale, degree + 1, increasing=True)
    fitted, *_ = np.linalg.lstsq(basis, values, rcond=None)
    if degree and fitted[-1] < 0:
        return _line_above(sizes, values, 0)
    fitted[0] += max(float((values - basis @ fitted).max()), 0.0) + _ROUNDING
    return fitted / scale ** np.arange(degree + 1)


def measured_of(rows: Sequence[tuple[float, float, float]]) -> Measured:
    """From (n, p, s)."""
    table = np.array(rows, float).reshape(-1, 3)
    return Measured(table[:, 0], table[:, 1], table[:, 2])
