"""The application whose run times are predicted: runs of it, measured, and what models say of them.

Source: "TIA specification", section 3.7 (2, 6). Any fitted model can be studied: its predictions are a column of a
table beside the measured times.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.models.applied_models import apply_to
from analyzer.models.model import Model

NODES, MEASURED = "nodes", "run_s"
MOST_NODES = 1 << 31


@dataclass(frozen=True)
class ApplicationRuns:
    """Runs of the application; arrays of shape (n,), times in s."""

    nodes: np.ndarray  # int64
    run_s: np.ndarray
    predictions_s: dict[str, np.ndarray]  # by model


@dataclass(frozen=True)
class Application:
    """Source of runs of an application.

    `runs` takes the number of nodes of each run. Where only certain runs are known, the runs say their numbers of
    nodes.
    """

    name: str
    deviations: dict[str, float]  # by model: standard deviation of measured / predicted - 1
    runs: Callable[[np.ndarray, np.random.Generator], ApplicationRuns]


def measured_application(path: str | Path) -> Application:
    """Read runs from a CSV with a row for each: `nodes`, `run_s`, and one column for each model, its prediction in s.

    Workloads take rows at random. A model's deviation is that of the rows. Raises TracelibError, with the line.
    """
    columns = _columns(path)
    return _application(path, columns, [name for name in columns if name not in (NODES, MEASURED)])


def predicted_application(path: str | Path, models: Mapping[str, Model]) -> Application:
    """Read runs from a CSV with a row for each: `nodes`, `run_s`, and the parameters of the models, which predict them.

    A model that depends on the number of nodes has a parameter `nodes`. Raises TracelibError as `measured_application`,
    and where a model has no value above 0.
    """
    columns = _columns(path)
    for name, model in models.items():
        if missing := [parameter for parameter in model.parameters if parameter not in columns]:
            raise TracelibError(f"{path} has no column {', '.join(missing)}, which {name} needs", "add it")
        expected = apply_to(model, columns, None).expected
        if not (np.isfinite(expected) & (expected > 0)).all():
            row = int(np.flatnonzero(~(np.isfinite(expected) & (expected > 0)))[0])
            raise TracelibError(f"{path}, row {row + 1}: {name} expects no time above 0", "it does not hold there")
        columns[name] = expected
    return _application(path, columns, list(models))


def _columns(path: str | Path) -> dict[str, np.ndarray]:
    """Read all columns of the file. Raises TracelibError that names the line."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TracelibError(
            f"cannot read {path}: {error}", "a CSV with the columns nodes, run_s, MODEL, ..."
        ) from error
    names = [name.strip() for name in rows[0]] if rows else []
    if (
        not {NODES, MEASURED} < set(names)
        or not all(name and name.isprintable() for name in names)
        or len(set(names)) < len(names)
        or len(rows) < 2
    ):
        raise TracelibError(f"{path} has no columns nodes, run_s and one or more models, each once, with rows below")
    table = np.array([_numbers(path, line, row, len(names)) for line, row in enumerate(rows[1:], 2) if row])
    return dict(zip(names, table.T, strict=True))


def _application(path: str | Path, columns: Mapping[str, np.ndarray], models: Sequence[str]) -> Application:
    nodes = columns[NODES]
    if (nodes != np.rint(nodes)).any() or nodes.max() > MOST_NODES:
        raise TracelibError(f"{path}: nodes are whole numbers of up to {MOST_NODES}")
    known = ApplicationRuns(nodes.astype(np.int64), columns[MEASURED], {name: columns[name] for name in models})
    with np.errstate(over="ignore"):  # then there is an endless one
        deviations = {name: float(np.sqrt(np.mean((known.run_s / columns[name] - 1) ** 2))) for name in models}
    for name, deviation in deviations.items():
        if not deviation or not isfinite(deviation):
            raise TracelibError(
                f"{path}: {name} has no error to allow for, or an endless one", "columns are predictions"
            )
    return Application(Path(path).stem, deviations, lambda wanted, rng: _drawn(known, len(wanted), rng))


def _numbers(path: str | Path, line: int, row: list[str], columns: int) -> list[float]:
    try:
        found = [float(word) for word in row]
    except ValueError:
        found = []
    if len(found) != columns or not all(isfinite(value) and value > 0 for value in found):
        raise TracelibError(
            f"{path}, line {line}: not {columns} numbers above 0", "nodes, run_s, and one for each model"
        )
    return found


def _drawn(known: ApplicationRuns, count: int, rng: np.random.Generator) -> ApplicationRuns:
    rows = rng.integers(len(known.nodes), size=count)
    return ApplicationRuns(known.nodes[rows], known.run_s[rows], {k: v[rows] for k, v in known.predictions_s.items()})
