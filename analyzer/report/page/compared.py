"""What several runs differ in: a table of their main numbers, with differences from the first run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from analyzer.report.page.gather import Run
from analyzer.report.words import units

MARKED = 0.05
"""A difference of this share of the first run's number, and more, is marked; of a share one of so many points."""


def _numbers(run: Run) -> dict[str, tuple[float | None, Callable[[float], str]]]:
    of, factors = run.summary, run.summary.efficiency
    messages = of.messages
    return {
        "Run time": (float(run.trace.duration_ns), units.time),
        "Ranks": (float(run.trace.size), units.count),
        "Computing, all ranks": (float(of.useful.by_rank()[of.present].sum()), units.time),
        "In MPI, all ranks": (float(of.profile.mpi_ns().sum()), units.time),
        "Waiting for others, all ranks": (float(of.waits.total_ns), units.time),
        "Parallel efficiency": (factors.parallel_efficiency, units.percent),
        "Load balance": (factors.load_balance, units.percent),
        "Communication efficiency": (factors.communication_efficiency, units.percent),
        "Serialization efficiency": (factors.serialization_efficiency, units.percent),
        "Transfer efficiency": (factors.transfer_efficiency, units.percent),
        "Messages": (float(messages.count), units.count),
        "Bytes in messages": (float(messages.bytes), units.size),
        "MPI calls": (float(of.profile.count.sum()), units.count),
    }


def table(runs: Sequence[Run]) -> str:
    """HTML; "" of one run."""
    if len(runs) < 2:
        return ""
    every = [_numbers(run) for run in runs]
    head = "".join(f"<th scope=col>{escape(run.name)}</th>" for run in runs)
    rows = []
    for name in every[0]:
        first = every[0][name][0]
        cells = "".join(_cell(*numbers[name], first if k else None) for k, numbers in enumerate(every))
        rows.append(f"<tr><th scope=row>{escape(name)}</th>{cells}</tr>")
    body = f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<div class=wide><table class=compared>{body}</table></div>"


def _much(more: float, *, points: bool) -> str:
    return units.percent(more).replace("%", "points" if points else "%")


def _cell(value: float | None, form: Callable[[float], str], first: float | None) -> str:
    if value is None:
        return "<td>not known</td>"
    text = escape(form(value))
    if first is None or value == first:
        return f"<td>{text}</td>"
    points = form is units.percent  # of a share its difference: 40 % and 50 % differ in 10 points
    more = value - first if points else (value - first) / first if first else float("inf")
    by = "new" if np.isinf(more) else f"{'+' if more > 0 else '-'}{_much(abs(more), points=points)}"
    sign = "&#9650;" if more > 0 else "&#9660;"
    marked = " class=marked" if abs(more) >= MARKED else ""
    return f"<td{marked}>{text} <span>{sign} {escape(by)}</span></td>"
