"""Counters sampled at even steps of instructions or time, from a CSV file, an .npz file or a run."""

from __future__ import annotations

import csv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analyzer.burst_clusters.bursts import bursts, labelled_counters
from analyzer.errors import TracelibError
from analyzer.trace import Counters, Trace

TIME = "computing_ns"
"""Column of a run's series beside its counters: time in ns that all threads computed in the step."""
_FEWEST = 4


@dataclass(frozen=True)
class StepSeries:
    """Counts in equal steps of a run.

    Attributes:
        columns: Counts in each step by the counter's name, each float64 of shape (steps,).
        step: Length of a step in `unit`.
        unit: Unit of the length, "ns", or "" for one sample.
    """

    name: str
    columns: dict[str, np.ndarray]
    step: float = 1.0
    unit: str = ""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class StepMetric:
    """A metric of each step: a column, or the quotient of two columns such as cycles/instructions.

    Attributes:
        above: Dividend in each step, shape (steps,).
        below: Divisor in each step, shape (steps,).
    """

    text: str
    above: np.ndarray
    below: np.ndarray  # ones for a metric without a divisor

    def values(self) -> np.ndarray:
        """Return the metric in each step, shape (steps,). Where the divisor is 0, the value of the whole series."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.above / self.below
        return np.where(self.below > 0, found, self.over(slice(None)))

    def over(self, part: slice) -> float:
        """Return the metric of a part of the series: sum of dividends / sum of divisors. 0 if the divisor is 0."""
        below = float(self.below[part].sum())
        return float(self.above[part].sum()) / below if below else 0.0


def metric_of(series: StepSeries, text: str) -> StepMetric:
    """Parse a metric: the name of a column, or two names with / between them.

    Raises:
        TracelibError: The series has no such column, or the text has more than one /.
    """
    names = text.split("/")
    for name in names:
        if name not in series.columns:
            raise TracelibError(f"{series.name} has no column {name!r}", f"it has {', '.join(series.columns)}")
    if len(names) > 2:
        raise TracelibError(f"{text!r} is no metric", "name a column, or two with / between them")
    above = series.columns[names[0]]
    return StepMetric(text, above, series.columns[names[1]] if len(names) == 2 else np.ones(len(above)))


def default_metric(series: StepSeries) -> str:
    """Return cycles per instruction (the thesis's CPI) if the series has both columns, else its first column."""
    lower = {name.lower(): name for name in series.columns}
    for cycles, instructions in (("cycles", "instructions"), ("papi_tot_cyc", "papi_tot_ins"),
                                 ("perf::cycles", "perf::instructions")):  # fmt: skip
        if cycles in lower and instructions in lower:
            return f"{lower[cycles]}/{lower[instructions]}"
    return next(iter(series.columns))


def read_series(path: Path) -> StepSeries:
    """Read a series from a CSV file or an .npz file.

    A CSV has names in its first line and a line for each step. An .npz has an array for each column.

    Raises:
        TracelibError: The file is missing or not valid, or has fewer than `_FEWEST` (4) steps.
    """
    try:
        columns = _npz(path) if path.suffix == ".npz" else _csv(path)
    except FileNotFoundError as error:
        raise TracelibError(f"{path}: no such file") from error
    except (ValueError, OSError, zipfile.BadZipFile, EOFError, csv.Error, UnicodeDecodeError, KeyError) as error:
        hint = "a CSV with names in the first line and numbers in all others, or an .npz with an array for each name"
        raise TracelibError(f"{path} is no series of counters", hint) from error
    if not columns or len({len(values) for values in columns.values()}) != 1:
        raise TracelibError(f"{path} is no series of counters", "all columns need to be of one length")
    if any(not np.isfinite(values).all() or (values < 0).any() for values in columns.values()):
        raise TracelibError(f"{path}: a count is negative or no number")
    found = StepSeries(str(path), columns)
    if len(found) < _FEWEST:
        raise TracelibError(f"{path} has only {len(found)} steps")
    return found


def _csv(path: Path) -> dict[str, np.ndarray]:
    with path.open(newline="") as file:
        head, *rows = [row for row in csv.reader(file) if row]
    if any(len(row) != len(head) for row in rows) or not all(name.strip() for name in head):
        raise ValueError
    table = np.array(rows, float).reshape(len(rows), len(head))
    return {name.strip(): table[:, k] for k, name in enumerate(head)}


def _npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        found = {name: np.asarray(file[name], float) for name in file.files}
    if any(values.ndim != 1 for values in found.values()):
        raise ValueError
    return found


def series_of_run(trace: Trace, begin_ns: int, end_ns: int, steps: int) -> StepSeries:
    """Sum up the counts of all threads in equal steps of the time [begin_ns, end_ns).

    A burst's count is spread evenly over its time. Bursts whose counter was not read count 0. Each process of a team
    reads all bursts, because sums of parts would depend on the number of processes.

    Args:
        trace: The run.
        begin_ns: Begin of the first step.
        end_ns: End of the last step.
        steps: Number of steps.

    Returns:
        A series with a column for computing time (`TIME`) and for each counter.
    """
    counters = tuple(counter.name for counter in trace.extra(Counters).known) or labelled_counters(trace)
    edges = np.linspace(begin_ns, end_ns, steps + 1)
    until = np.zeros((1 + len(counters), steps + 1))
    for found in bursts(trace, range(trace.size), counters):
        values = np.nan_to_num(found.values)
        if len(values):
            until += _until(found.states["begin"], found.states["end"], values, edges)
    counted = np.diff(until, axis=1)
    columns = dict(zip((TIME, *counters), counted, strict=True))
    return StepSeries(str(trace.path), columns, (end_ns - begin_ns) / steps, "ns")


def _until(begin: np.ndarray, end: np.ndarray, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the sum of each value up to each edge, shape (values, edges).

    The values of a burst are spread evenly from its begin to its end.
    """
    found = np.zeros((values.shape[1], len(edges)))
    rate = values / (end - begin)[:, None]
    for times, sign in ((begin, 1.0), (end, -1.0)):
        order = np.argsort(times, kind="stable")
        at = np.searchsorted(times[order], edges)
        zero = np.zeros((1, values.shape[1]))
        slopes = np.concatenate([zero, np.cumsum(sign * rate[order], axis=0)])[at]
        offsets = np.concatenate([zero, np.cumsum(sign * rate[order] * times[order, None], axis=0)])[at]
        found += (slopes * edges[:, None] - offsets).T
    return found
