"""Models of machines, learned from a table of measured times."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from analyzer.balance.formula import TimeFormula, formula_text, polynomial, reach_text
from analyzer.balance.parts import machine_parts
from analyzer.balance.repository import MachineModel
from analyzer.errors import TracelibError
from analyzer.models.model import Model
from analyzer.models.part_file import PartModels
from analyzer.models.study import fit

SIZE, PROCESSES = "n", "p"
"""Names of the parameters: size of the problem, number of processes."""


def machine_of(name: str, model: Model, features: dict[str, str]) -> MachineModel:
    """Make the model of a machine from a fitted model, with its 95 % interval, which widens beyond the data.

    Args:
        name: Name of the machine.
        model: Model of a time in s, with the parameters n, or n and p. With n alone, T(n, p) = T(n, 1) / p (formula 7).
        features: Features of the machine.

    Raises:
        TracelibError: The model has other parameters.
    """
    if SIZE not in model.parameters or not set(model.parameters) <= {SIZE, PROCESSES}:
        raise TracelibError(
            f"the model of {name} is one of {', '.join(model.parameters)}", "a machine's model is one of n and p", 2
        )
    shared = "" if PROCESSES in model.parameters else f" / {PROCESSES}"
    about = model.whole or model.selected
    value, reach = formula_text(about), reach_text(about)
    low, high = (f"({value} {sign} {reach}){shared}" for sign in "-+") if reach else ("", "")
    return MachineModel(
        name, TimeFormula(f"({formula_text(model.selected)}){shared}"), TimeFormula(low) if low else None,
        TimeFormula(high) if high else None, model.ranges[SIZE], features,
    )  # fmt: skip


def machine_of_parts(name: str, found: PartModels, features: dict[str, str]) -> MachineModel:
    """Make the model of a machine from the models of a program's parts.

    Args:
        name: Name of the machine.
        found: Models of the parts.
        features: Features of the machine.

    Raises:
        TracelibError: The models do not fit for this.
    """
    parts, sizes = machine_parts(found, name)
    texts = [formula.text for part in parts for formula in (part.shared, part.fixed) if formula]
    return MachineModel(
        name, TimeFormula(" + ".join(f"({text})" for text in texts) or "0"), None, None, sizes, features, tuple(parts)
    )


ANOMALY = 3.5
"""Modified z score from which on a repetition is an anomaly (Iglewicz and Hoaglin 1993)."""
_TO_DEVIATION = 0.6745  # of a median absolute deviation
_LEAST_SPREAD = 0.01  # of the median: repetitions this close are all good
_ROUNDING = 1e-9


@dataclass(frozen=True)
class MachineTimings:
    """Measured times on one type of machine. Arrays have the shape (measurements,).

    Attributes:
        n: Size of the problem.
        p: Number of processes.
        time_s: Time, s.
    """

    n: np.ndarray
    p: np.ndarray
    time_s: np.ndarray

    def cells(self) -> list[tuple[float, float, np.ndarray]]:
        """Group the measurements by setting: return n, p and the indices of the measurements, sorted by p, then n."""
        settings = sorted({(p, n) for p, n in zip(self.p.tolist(), self.n.tolist(), strict=True)})
        return [(n, p, np.flatnonzero((self.n == n) & (self.p == p))) for p, n in settings]


def anomalies(times: MachineTimings) -> np.ndarray:
    """Return a mask of the measurements that are far from the median of their setting (n, p), by ANOMALY.

    A setting with 1 or 2 measurements has no anomalies.
    """
    found = np.zeros(len(times.time_s), bool)
    for _, _, rows in times.cells():
        values = times.time_s[rows]
        median = np.median(values)
        spread = max(float(np.median(np.abs(values - median))), _LEAST_SPREAD * abs(median) * _TO_DEVIATION)
        if len(rows) > 2 and spread > 0:
            found[rows] = _TO_DEVIATION * np.abs(values - median) / spread > ANOMALY
    return found


def fit_machine(
    name: str, times: MachineTimings, degree: int, features: dict[str, str], terms: str | None = None
) -> MachineModel:
    """Fit the model of a type of machine. If all times are of one p, T(n, p) = T(n, 1) / p (formula 7).

    Args:
        name: Name of the machine.
        times: All measurements. Anomalies are left out.
        degree: Degree of the polynomial in n.
        features: Features of the machine.
        terms: Candidate terms of n and p in place of the polynomial, as `candidates` reads them. None: the polynomial.

    Raises:
        TracelibError: There are too few sizes, or the terms cannot be fitted.
    """
    dropped = anomalies(times)
    kept = MachineTimings(times.n[~dropped], times.p[~dropped], times.time_s[~dropped])
    formula = TimeFormula(_by_degree(name, kept, degree) if terms is None else _by_terms(kept, terms))
    low, high = (TimeFormula(text) for text in _interval(kept, formula, degree))
    return MachineModel(name, formula, low, high, (float(kept.n.min()), float(kept.n.max())), features)


def _by_terms(kept: MachineTimings, terms: str) -> str:
    """Return the formula of the best model that candidate terms give (formula 1 of any complexity)."""
    import pandas

    one = kept.p[0] if np.ptp(kept.p) == 0 else None
    columns = {SIZE: kept.n, **({PROCESSES: kept.p} if one is None else {})}
    frame = pandas.DataFrame({**columns, "time_s": kept.time_s * (1 if one is None else one)})
    model = fit(frame, "time_s", list(columns), terms)
    return f"({formula_text(model.selected)})" + (f" / {PROCESSES}" if one is not None else "")


def _by_degree(name: str, kept: MachineTimings, degree: int) -> str:
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
    """Fit a polynomial by least squares of relative distances; return coefficients, the lowest power first."""
    scale = sizes.max()
    basis = np.vander(sizes / scale, degree + 1, increasing=True)
    weight = 1 / np.maximum(np.abs(values), np.abs(values).max() * _ROUNDING + np.finfo(float).tiny)
    found, *_ = np.linalg.lstsq(basis * weight[:, None], values * weight, rcond=None)
    return found / scale ** np.arange(degree + 1)


def _in_p(processes: np.ndarray, coefficients: np.ndarray) -> str:
    """Fit each coefficient of n as a + b / p, by least squares over the numbers of processes."""
    if len(processes) == 1:
        return f"({polynomial(coefficients[0] * processes[0])}) / p"
    basis = np.column_stack([np.ones(len(processes)), 1 / processes])
    found, *_ = np.linalg.lstsq(basis, coefficients, rcond=None)
    return polynomial(found.T)


def _interval(times: MachineTimings, formula: TimeFormula, degree: int) -> tuple[str, str]:
    """Return formulas of the lowest and the highest time.

    The largest relative distances from the formula at each size are fitted as a line in n, and moved until all
    measurements are inside.
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
    """Fit a line by least squares, and move it up until no value is above it. It is level if it would fall."""
    scale = sizes.max()
    basis = np.vander(sizes / scale, degree + 1, increasing=True)
    fitted, *_ = np.linalg.lstsq(basis, values, rcond=None)
    if degree and fitted[-1] < 0:
        return _line_above(sizes, values, 0)
    fitted[0] += max(float((values - basis @ fitted).max()), 0.0) + _ROUNDING
    return fitted / scale ** np.arange(degree + 1)


def measured_of(rows: Sequence[tuple[float, float, float]]) -> MachineTimings:
    """Convert rows of (n, p, time in s) to arrays."""
    table = np.array(rows, float).reshape(-1, 3)
    return MachineTimings(table[:, 0], table[:, 1], table[:, 2])


COLUMNS = ("machine", "n", "p", "time_s")


@dataclass(frozen=True)
class LearnedModel:
    """Model of a machine, and the measurements from which it was learned.

    Attributes:
        model: The model.
        runs: Number of measurements.
        dropped: Anomalies, which were left out: n, p, time in s.
        worst: Largest relative distance of a kept time from the model.
    """

    model: MachineModel
    runs: int
    dropped: tuple[tuple[float, float, float], ...]  # anomalies: n, p, s
    worst: float  # largest relative distance of a kept time from the model


def learn(path: str | Path, degree: int, terms: str | None = None) -> list[LearnedModel]:
    """Learn a model for each machine in a CSV file.

    Args:
        path: File with the columns machine, n, p, time_s. Further columns are features of the machine.
        degree: Degree of the polynomials in n.
        terms: Candidate terms of n and p in place of the polynomials. None: the polynomials.

    Raises:
        TracelibError: The file cannot be read, or a line is wrong; the message has its number.
    """
    rows: dict[str, list[tuple[float, float, float]]] = {}
    features: dict[str, dict[str, str]] = {}
    for machine, numbers, more in _lines(path):
        rows.setdefault(machine, []).append(numbers)
        features.setdefault(machine, {}).update({key: value for key, value in more.items() if value})
    return [_learned(machine, rows[machine], degree, features[machine], terms) for machine in rows]


def _lines(path: str | Path) -> list[tuple[str, tuple[float, float, float], dict[str, str]]]:
    hint = "a CSV with the columns machine, n, p, time_s, and any features"
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            table = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except OSError as error:
        raise TracelibError(f"cannot read {path}: {error.strerror}", hint) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise TracelibError(f"{path} is no table: {error}", hint) from error
    names = [name.strip() for name in table[0][1]] if table else []
    if not set(COLUMNS) <= set(names) or len(set(names)) < len(names) or len(table) < 2:
        raise TracelibError(f"{path} has no columns {', '.join(COLUMNS)} with rows below", hint)
    found = []
    for number, row in table[1:]:
        cells = dict(zip(names, (cell.strip() for cell in row), strict=False))
        try:
            n, p, time = (float(cells[key]) for key in COLUMNS[1:])
        except (KeyError, ValueError):
            n = p = time = 0.0
        if not (all(map(isfinite, (n, p, time))) and n > 0 and p > 0 and time > 0) or len(row) != len(names):
            raise TracelibError(f"{path}, line {number}: n, p and time_s are numbers above 0", hint)
        more = {key: cells[key] for key in names if key not in COLUMNS}
        found.append((cells["machine"], (n, p, time), more))
    return found


def _learned(
    machine: str, rows: list[tuple[float, float, float]], degree: int, features: dict[str, str], terms: str | None
) -> LearnedModel:
    times = measured_of(rows)
    dropped = anomalies(times)
    model = fit_machine(machine, times, degree, features, terms)
    kept = np.flatnonzero(~dropped)
    worst = max(abs(times.time_s[k] / model.time(times.n[k], times.p[k]) - 1) for k in kept)
    return LearnedModel(model, len(rows), tuple(rows[k] for k in np.flatnonzero(dropped)), float(worst))
