"""A fitted model as text and for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from analyzer.models.applied_models import apply_to
from analyzer.models.averaging import WeightedModel
from analyzer.models.described_terms import fitted_as
from analyzer.models.model import CHOSEN, Model, ModelPrediction, formula_text
from analyzer.models.search.selection import ModelSelection
from analyzer.models.study import Coefficient, ModelStudy
from analyzer.report.genetic import print_search, search_json
from analyzer.report.words.table import plain_table

Predicted = Sequence[tuple[dict[str, float], ModelPrediction]]
_OTHERS = 5
_TERMS = 30


def print_fit(file: str, found: ModelStudy, predictions: Predicted, console: Console) -> None:
    """Print a model, its quality, other likely models, predictions, and advice."""
    model, data = found.model, found.measurements
    console.print(Text(f"{Path(file).name}: {data.observable}, {len(data.observed)} rows"))
    console.print(Text(f"\n{model.observable} = {model}\n"))
    for line in _quality(found):
        console.print(Text(line))
    if found.coefficients:
        _print_stated(found.coefficients, console)
    else:
        _print_coefficients(model, console)
    _print_others(found, console)
    if found.selection and found.selection.dropped:
        _print_elimination(found.selection, console)
    elif found.selection and found.selection.is_of_several:
        _print_selection(found.selection, console)
    if found.found:
        print_search(found.found, console)
    if predictions:
        _print_predictions(model, predictions, console)
    for sentence in found.guidance:
        console.print(Text(f"\n{sentence}"))


def print_compared(found: ModelStudy, models: Mapping[str, Model], console: Console) -> None:
    """Print how far measurements are from the fitted model, and from stored models."""
    table = plain_table("Model", "formula", "measured / expected", "root mean square")
    for name, away, model in _compared(found, models):
        mean, rms = (f"{100 * away.mean():+.1f} %", _percent(_rms(away))) if len(away) else ("-", "-")
        table.add_row(name, str(model), mean, rms)
    console.print()
    console.print(table)


def _compared(found: ModelStudy, models: Mapping[str, Model]) -> list[tuple[str, np.ndarray, Model]]:
    """List each model by name with the relative differences of the measurements from it, where they are known."""
    every = []
    for name, model in {"this one": found.model, **models}.items():
        away = apply_to(model, found.measurements.values, found.measurements.observed).differences
        every.append((name, away[np.isfinite(away)], model))
    return every


def _rms(away: np.ndarray) -> float:
    return float(np.sqrt(np.mean(away**2)))


def compared_json(found: ModelStudy, models: Mapping[str, Model]) -> dict[str, Any]:
    """Return the mean and the root mean square of these differences for JSON. Empty: no stored models."""
    if not models:
        return {}
    rows = [
        {"name": name, "model": str(model), "mean": float(away.mean()) if len(away) else None}
        | {"rms": _rms(away) if len(away) else None}
        for name, away, model in _compared(found, models)
    ]
    return {"compared": rows}


def _quality(found: ModelStudy) -> list[str]:
    model = found.model
    name, value = model.criterion
    lines = []
    if name == CHOSEN:
        lines.append(f"Weight of this model {value:.3f}, of {len(model.members)} likely models")
    else:
        lines.append(f"{name.upper()} {value:.2f}, {_among(found)}")
    if model.relative:
        lines.append(f"Relative error {_percent(model.selected.sigma)} (residual standard deviation)")
    lines.append(f"Cross-validation: {_percent(model.cross_validation_error)}, each setting from the others")
    lines.append(f"Hold-out: {_percent(found.hold_out_error)}, the largest settings from the smaller ones")
    return lines


def _among(found: ModelStudy) -> str:
    """Say among how many models the model was selected."""
    selection = found.selection
    if selection is None or selection.is_of_several:
        return f"weight {found.weights[0]:.3g} among all models"
    return f"left after {selection.tried - 1} terms were dropped" if selection.dropped else "the only model"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if math.isfinite(share) else "not known: too few settings"


def _print_coefficients(model: Model, console: Console) -> None:
    table = plain_table("Term", "coefficient", "standard error")
    selected = model.selected
    for term, value, error in zip(selected.terms, selected.coefficients, selected.standard_errors, strict=True):
        table.add_row(str(term), f"{value:.5g}", f"{error:.2g}" if math.isfinite(error) else "not known: too few rows")
    console.print()
    console.print(table)


def _print_stated(coefficients: Sequence[Coefficient], console: Console) -> None:
    table = plain_table("Coefficient", "of", "value", "standard error")
    for one in coefficients:
        if one.value is None or one.standard_error is None:
            table.add_row(one.name, str(one.term), "not known: others make up for it", "")
            continue
        known = math.isfinite(one.standard_error)
        error = f"{one.standard_error:.2g}" if known else "not known: too few rows"
        table.add_row(one.name, str(one.term), f"{one.value:.5g}", error)
    console.print()
    console.print(table)


def _print_others(found: ModelStudy, console: Console) -> None:
    members = found.model.members
    if len(members) < 2:
        return
    table = plain_table("Other models", "weight")
    for member, weight in list(zip(members, found.weights, strict=True))[1 : 1 + _OTHERS]:
        table.add_row(formula_text(member), f"{weight:.3g}")
    console.print()
    console.print(table)


def _print_selection(selection: ModelSelection, console: Console) -> None:
    table = plain_table("Importance of terms", "all models", "90 % set")
    order = sorted(range(len(selection.importance)), key=lambda k: -selection.importance[k])
    for k in order[:_TERMS]:
        importance = selection.importance[k], selection.importance_90[k]
        table.add_row(str(selection.space.terms[k]), *(f"{value:.3f}" for value in importance))
    console.print()
    console.print(table)
    table = plain_table("Best of each size", "terms", "error", "score")
    for model, score, _ in selection.per_size:
        best = fitted_as(selection, model)
        table.add_row(formula_text(best), str(len(best.terms)), _percent(best.sigma), f"{score:.2f}")
    console.print()
    console.print(table)
    console.print(f"\n{selection.tried} models of {len(selection.space.terms)} terms")


def _print_elimination(selection: ModelSelection, console: Console) -> None:
    table = plain_table("Dropped", "relative error", "left", "score before")
    before = list(reversed(selection.per_size))
    scores = {int(model.sum()): score for model, score, _ in before}
    left = int(selection.best.sum()) + len(selection.dropped)
    for term, error in selection.dropped:
        shown = f"{100 * error:.3g} %" if error < 1e6 else "not known"
        table.add_row(str(term), shown, str(left - 1), f"{scores[left]:.2f}" if left in scores else "-")
        left -= 1
    console.print()
    console.print(table)


def _print_predictions(model: Model, predictions: Predicted, console: Console) -> None:
    table = plain_table("Prediction", "value", "95 % interval")
    for point, found in predictions:
        low, high = found.interval
        at = ", ".join(f"{name} = {value:g}" for name, value in point.items())
        table.add_row(at, f"{found.value:.5g}", f"{low:.5g} to {high:.5g}")
    console.print()
    console.print(table)
    if beyond := dict.fromkeys(said for point, _ in predictions for said in model.beyond(**point)):
        console.print(Text(f"\nBeyond the data: {'; '.join(beyond)}."))


def print_model(file: str, model: Model, predictions: Predicted, console: Console) -> None:
    """Print a stored model: its formula, the ranges of its measurements, and predictions."""
    console.print(Text(f"{Path(file).name}: {model.observable} = {model}"))
    measured = "; ".join(f"{name} from {low:g} to {high:g}" for name, (low, high) in model.ranges.items())
    console.print(Text(f"\nMeasured: {measured}"))
    if predictions:
        _print_predictions(model, predictions, console)


def model_json(file: str, model: Model, predictions: Predicted) -> dict[str, Any]:
    """Return a stored model with predictions for JSON."""
    return {
        "file": file,
        "observable": model.observable,
        "parameters": list(model.parameters),
        "model": str(model),
        "ranges": {name: list(ends) for name, ends in model.ranges.items()},
        "predictions": _predictions_json(model, predictions),
    }


def _predictions_json(model: Model, predictions: Predicted) -> list[dict[str, Any]]:
    return [
        {
            "at": point,
            "value": _finite(made.value),
            "interval": [_finite(end) for end in made.interval],
            "beyond": model.beyond(**point),
        }
        for point, made in predictions
    ]


def fit_json(file: str, found: ModelStudy, predictions: Predicted, written: Sequence[Path]) -> dict[str, Any]:
    """Return a fitted model with its selection, errors and predictions for JSON."""
    model = found.model
    selected = model.selected
    return {
        "file": file,
        "observable": model.observable,
        "parameters": list(model.parameters),
        "rows": len(found.measurements.observed),
        "model": str(model),
        "terms": model.terms,
        "coefficients": selected.coefficients.tolist(),
        "standard_errors": [_finite(error) for error in selected.standard_errors],
        **(_stated_json(found.coefficients) if found.coefficients else {}),
        "criterion": {"name": model.criterion[0], "value": model.criterion[1]},
        "weight": found.weights[0],
        "error": _finite(selected.sigma),
        "cross_validation_error": _finite(model.cross_validation_error),
        "hold_out_error": _finite(found.hold_out_error),
        "models": [
            {"model": formula_text(member), "weight": weight}
            for member, weight in zip(model.members, found.weights, strict=True)
        ],
        **(_selection_json(found.selection) if found.selection else {}),
        **(search_json(found.found) if found.found else {}),
        "guidance": list(found.guidance),
        "predictions": _predictions_json(model, predictions),
        "written": [str(path) for path in written],
    }


def _stated_json(coefficients: Sequence[Coefficient]) -> dict[str, Any]:
    return {
        "formula": [
            {
                "coefficient": one.name,
                "term": str(one.term),
                "value": one.value,
                "standard_error": None if one.standard_error is None else _finite(one.standard_error),
            }
            for one in coefficients
        ]
    }


def _selection_json(selection: ModelSelection) -> dict[str, Any]:
    return {
        "candidates": [
            {"term": str(term), "importance": float(full), "importance_90": float(within)}
            for term, full, within in zip(
                selection.space.terms, selection.importance, selection.importance_90, strict=True
            )
        ],
        "excluded": dict(selection.space.excluded),
        "per_size": [_of_size(fitted_as(selection, model), score) for model, score, _ in selection.per_size],
        "models_tried": selection.tried,
        "dropped": [{"term": str(term), "relative_error": _finite(error)} for term, error in selection.dropped],
    }


def _of_size(member: WeightedModel, score: float) -> dict[str, Any]:
    return {
        "terms": [str(term) for term in member.terms],
        "coefficients": member.coefficients.tolist(),
        "standard_errors": [_finite(error) for error in member.standard_errors],
        "score": score,
        "error": _finite(member.sigma),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
