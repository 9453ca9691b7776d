"""Times of machine types as a table, and the models that they give."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from analyzer.balance.fitting import anomalies, fit_machine, measured_of
from analyzer.balance.repository import MachineModel
from analyzer.errors import TracelibError

COLUMNS = ("machine", "n", "p", "time_s")


@dataclass(frozen=True)
class Learned:
    """A model, and what it was made of."""

    model: MachineModel
    runs: int
    dropped: tuple[tuple[float, float, float], ...]  # anomalies: n, p, s
    worst: float  # largest relative distance of a kept time from the model


def learn(path: str | Path, degree: int, terms: str | None = None) -> list[Learned]:
    """A model for each machine of a CSV: machine, n, p, time_s; further columns are the machine's features.

    degree: of polynomials of n; terms: candidate terms of n and p in their place. Raises TracelibError, with the line
    that is wrong.
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
) -> Learned:
    times = measured_of(rows)
    dropped = anomalies(times)
    model = fit_machine(machine, times, degree, features, terms)
    kept = np.flatnonzero(~dropped)
    worst = max(abs(times.time_s[k] / model.time(times.n[k], times.p[k]) - 1) for k in kept)
    return Learned(model, len(rows), tuple(rows[k] for k in np.flatnonzero(dropped)), float(worst))
