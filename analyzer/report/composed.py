"""Composed models as text and for JSON: the expected value, and the share of each modelled quantity in it.

Source: "TIA specification", sections 1.13 and 3.8 (section 5.3 of the thesis, figure 5.26).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from analyzer.models.composed_models import ComposedModel
from analyzer.models.model import Model, ModelPrediction
from analyzer.report.words.table import plain_table

if TYPE_CHECKING:
    import pandas

_MOST = 30


@dataclass(frozen=True)
class ComposedRow:
    """Prediction of a composed model for one setting of the parameters.

    Attributes:
        at: Value of each parameter.
        quantities: Value of each inner model.
        shares: Share of each quantity in the observable.
        measured: The same shares from measurements; without the quantities that were not measured.
    """

    at: dict[str, float]
    expected: ModelPrediction
    quantities: dict[str, float]
    shares: dict[str, ModelPrediction]  # share of each quantity in the observable
    measured: dict[str, float]  # shares from measurements, where known


def rows_of_table(both: ComposedModel, frame: pandas.DataFrame) -> Iterator[ComposedRow]:
    """Yield a prediction for each setting in a table, beside the mean of what was measured there."""
    names = list(both.parameters)
    wanted = [name for name in (*names, *both.inner, both.observable) if name in frame.columns]
    usable = frame[wanted].dropna()
    for key, rows in usable.groupby(names, sort=True):
        at = dict(zip(names, map(float, key if isinstance(key, tuple) else (key,)), strict=True))
        total = float(rows[both.observable].mean()) if both.observable in rows else math.nan
        measured = {name: _measured(both, at, rows, name, total) for name in both.inner if name in rows}
        yield row_at(both, at, {name: share for name, share in measured.items() if math.isfinite(share)})


def _measured(both: ComposedModel, at: Mapping[str, float], rows: pandas.DataFrame, name: str, total: float) -> float:
    """Return the outer model's part for the measured quantity, divided by the measured observable. NaN: not known."""
    own = {key: value for key, value in at.items() if key in both.outer.parameters}
    own |= {other: float(rows[other].mean()) for other in both.inner if other in rows}
    if set(own) != set(both.outer.parameters) or not total:
        return math.nan
    return both.part(name, **own) / total


def row_at(both: ComposedModel, at: dict[str, float], measured: dict[str, float] | None = None) -> ComposedRow:
    """Predict one setting of the parameters."""
    return ComposedRow(
        at,
        both.prediction(**at),
        {name: both.quantity(name, **at) for name in both.inner},
        {name: both.share_prediction(name, **at) for name in both.inner},
        measured or {},
    )


def print_composed(
    both: ComposedModel, settings: list[ComposedRow], asked: list[ComposedRow], console: Console
) -> None:
    """Print the inner models, and the share of each quantity at the settings of the table and of the user."""
    for name, model in both.inner.items():
        console.print(Text(f"\nWith {name} = {model}" if isinstance(model, Model) else f"\nWith {name} of a function"))
        if not both.has_part(name):
            console.print(Text(f"{name} is not in the selected model of {both.observable}: its part is 0"))
            continue
        if settings:
            console.print(Text(f"Part of {name} in {both.observable}"))
            console.print(_table(both, name, settings[:_MOST]))
        if len(settings) > _MOST:
            console.print(f"... {len(settings) - _MOST} more settings (--json)")
    if asked:
        _print_asked(both, asked, console)


def _table(both: ComposedModel, name: str, rows: list[ComposedRow]) -> object:
    has_measured = any(name in row.measured for row in rows)
    heads = [*both.parameters, name, both.observable, "part", "95 % interval", *(["measured"] if has_measured else [])]
    table = plain_table(*heads)
    for row in rows:
        share = row.shares[name]
        own = [_percent(row.measured[name]) if name in row.measured else "-"] if has_measured else []
        table.add_row(
            *(f"{row.at[key]:g}" for key in both.parameters), f"{row.quantities[name]:.5g}",
            f"{row.expected.value:.5g}", _percent(share.value), _ends(share), *own,
        )  # fmt: skip
    return table


def _print_asked(both: ComposedModel, asked: list[ComposedRow], console: Console) -> None:
    names = list(both.inner)
    table = plain_table("Prediction", "value", "95 % interval", *(f"part of {name}" for name in names))
    for row in asked:
        low, high = row.expected.interval
        at = ", ".join(f"{name} = {value:g}" for name, value in row.at.items())
        shares = [_percent(row.shares[name].value) for name in names]
        table.add_row(at, f"{row.expected.value:.5g}", f"{low:.5g} to {high:.5g}", *shares)
    console.print()
    console.print(table)
    if beyond := dict.fromkeys(said for row in asked for said in both.beyond(**row.at)):
        console.print(Text(f"\nBeyond the data: {'; '.join(beyond)}."))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _ends(share: ModelPrediction) -> str:
    low, high = share.interval
    return f"{100 * low:.1f} to {_percent(high)}" if np.isfinite(low) else "not known: too few rows"


def composed_json(both: ComposedModel, settings: list[ComposedRow], asked: list[ComposedRow]) -> dict[str, Any]:
    """Return the composed model with its predictions for JSON."""
    return {
        "composed": {
            "parameters": list(both.parameters),
            "models": {name: str(model) if isinstance(model, Model) else None for name, model in both.inner.items()},
            "settings": [_row_json(row) for row in settings],
            "predictions": [_row_json(row) | {"beyond": both.beyond(**row.at)} for row in asked],
        }
    }


def _row_json(row: ComposedRow) -> dict[str, Any]:
    return {
        "at": row.at,
        "value": row.expected.value,
        "interval": _finite(row.expected),
        "quantities": row.quantities,
        "shares": {name: {"value": one.value, "interval": _finite(one)} for name, one in row.shares.items()},
        "measured_shares": row.measured,
    }


def _finite(said: ModelPrediction) -> list[float | None]:
    return [end if math.isfinite(end) else None for end in said.interval]
