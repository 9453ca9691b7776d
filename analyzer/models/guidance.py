"""Advice on what to do next with a model (TIA, 3.5, the rules of interpretation; 4.6, bimodal data)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import fdtrc

from analyzer.models.fitting.cross_validation import rows_of, settings_of
from analyzer.models.measurements import Measurements
from analyzer.models.model import Model, formula_text
from analyzer.models.search.selection import ModelSelection
from analyzer.models.two_laws import two_laws

_UNIMPORTANT = 0.5
_LOW_WEIGHT = 0.05
_SURE = 0.001
_REPETITIONS = 8
_GAP = 0.5
"""Least gap between two groups of repetitions, as a share of their whole range.

The gap must also be `_TIMES` (3) times the next largest gap.
"""
_TIMES = 3.0
_LARGE_ERROR = 0.2


def guidance(data: Measurements, model: Model, selection: ModelSelection | None) -> list[str]:
    """Return sentences of advice. Empty if there is no need.

    Args:
        data: The measurements.
        model: The model.
        selection: The models of described terms. None: terms were chosen from the data.
    """
    said = (
        _of_rows(data), _of_parameters(data), _of_terms(selection), _of_residuals(data, model), _of_groups(data),
        _of_values(data, model), _of_laws(data, model, selection),
    )  # fmt: skip
    return [sentence for sentences in said for sentence in sentences]


def _of_rows(data: Measurements) -> Iterator[str]:
    if data.left_out:
        rows = "One row has" if data.left_out == 1 else f"{data.left_out} rows have"
        yield f"{rows} no value of {data.observable} or of a parameter: left out."


def _of_parameters(data: Measurements) -> Iterator[str]:
    """Yield advice on parameters that are a multiple of another parameter in all rows."""
    names = [name for name, column in data.values.items() if np.ptp(column) > 0]
    for k, name in enumerate(names):
        for other in names[:k]:
            ratio = _ratio(data.values[name], data.values[other])
            if ratio is not None:
                how = "the same as" if ratio == 1 else f"{ratio:g} times"
                yield f"{name} is {how} {other} in all rows: which of them matters cannot be told. Leave one out."


def _ratio(column: np.ndarray, other: np.ndarray) -> float | None:
    """Return the factor by which one column is a multiple of another. None: it is no multiple."""
    there = other != 0
    if not there.any() or column[~there].any():
        return None
    ratios = column[there] / other[there]
    return float(ratios[0]) if np.ptp(ratios) <= 1e-12 * abs(ratios[0]) else None


def _of_terms(selection: ModelSelection | None) -> Iterator[str]:
    if selection is None:
        return
    space = selection.space
    for term, why in space.excluded.items():
        yield f"The term {term} {why}: it is left out."
    one = not selection.is_of_several
    for relation in space.dependent[:5]:
        yield f"{relation}: {'it is left out' if one else 'of models that span the same, only the smallest are there'}."
    if one:
        return
    drop = [str(t) for t, w in zip(space.terms, selection.importance, strict=True) if w < _UNIMPORTANT]
    if drop and len(drop) < len(space.terms):
        shown = ", ".join(drop[:12]) + (", ..." if drop[12:] else "")
        yield f"Terms that hardly matter (importance below {_UNIMPORTANT:g}), to be dropped: {shown}."
    if selection.weights[0] < _LOW_WEIGHT and len(selection.models) > 20:
        yield (
            f"The best model has a weight of {selection.weights[0]:.3f} only: many models are about as good, and "
            "some of its terms may fit noise. Drop terms, or measure more settings."
        )
    if selection.best.sum() == min(len(space.terms), space.rows - 3) and len(space.terms) > 3:
        yield "The best model has all terms there are: the candidates may lack a behaviour. Describe more terms."


def _of_residuals(data: Measurements, model: Model) -> Iterator[str]:
    """Yield advice on residuals that differ between values of a parameter, by the analysis of variance."""
    residuals = residuals_of(data, model)
    for name, column in data.values.items():
        levels, level, number = np.unique(column, return_inverse=True, return_counts=True)
        if (number > 1).sum() < 2 or np.ptp(residuals) < 1e-9:
            continue
        several = number[level] > 1
        if _by_chance(residuals[several], np.unique(level[several], return_inverse=True)[1]) < _SURE:
            means = np.bincount(level, residuals) / number
            worst = int(np.abs(means).argmax())
            where = f"at {name} = {levels[worst]:g} they are {100 * means[worst]:+.1f} % on average"
            yield f"Residuals depend on {name} ({where}): a term of {name} is missing."
    error = float(np.sqrt(np.mean(residuals**2)))
    if error > _LARGE_ERROR:
        yield f"The residuals are large ({100 * error:.0f} %): all the candidates may be poor, or the data noisy."


def _by_chance(values: np.ndarray, group: np.ndarray) -> float:
    """Return the probability that groups with the same mean differ this much (analysis of variance, the F test).

    Args:
        values: The values, shape (rows,).
        group: Number of each value's group, from 0.
    """
    number = np.bincount(group)
    mean = np.bincount(group, values) / number
    within = float(((values - mean[group]) ** 2).sum())
    between = float((number * (mean - values.mean()) ** 2).sum())
    free, left = len(number) - 1, len(values) - len(number)
    return float(fdtrc(free, left, between / free / (within / left))) if within > 0 and left > 0 else 1.0


def residuals_of(data: Measurements, model: Model) -> np.ndarray:
    """Return (measured - expected) / measured for each row, shape (rows,).

    Where a measured value is 0, the divisor is the largest measured value.
    """
    member = model.selected
    expected = sum(c * np.asarray(t.value(data.values)) for c, t in zip(member.coefficients, member.terms, strict=True))
    size = np.where(data.observed != 0, np.abs(data.observed), np.abs(data.observed).max())
    return (data.observed - expected) / size


def _of_groups(data: Measurements) -> Iterator[str]:
    places = rows_of(settings_of(data.values))
    split = [rows[0] for rows in places if len(rows) >= _REPETITIONS and in_two_groups(data.observed[rows])]
    enough = sum(len(rows) >= _REPETITIONS for rows in places)
    if split and len(split) >= max(1, enough // 20):
        at = ", ".join(f"{name} = {column[split[0]]:g}" for name, column in data.values.items())
        yield (
            f"Repetitions fall into two groups in {len(split)} of {enough} settings (first: {at}): "
            "model the least and the largest times apart, with --repetitions min and --repetitions max."
        )


def in_two_groups(repetitions: np.ndarray) -> bool:
    """Check whether repetitions form two groups of two or more values, with a gap of over half the range."""
    ordered = np.sort(repetitions)
    gaps = np.diff(ordered)
    place = int(gaps.argmax())
    if not 1 <= place <= len(gaps) - 2 or gaps[place] <= 0.02 * abs(ordered[0]):
        return False
    others = np.delete(gaps, place)
    return bool(gaps[place] > _GAP * np.ptp(ordered) and gaps[place] > _TIMES * others.max())


def _of_laws(data: Measurements, model: Model, selection: ModelSelection | None) -> Iterator[str]:
    """Yield advice if the data follow two laws. Only for terms chosen from the data, and relative errors."""
    found = two_laws(data, model.selected) if selection is None and model.relative else None
    if found is not None:
        name = found.parameter
        yield (
            f"Two laws: up to {name} = {found.last:g} it is {formula_text(found.below)}, from {name} = "
            f"{found.first:g} on {formula_text(found.above)}. The two are {found.closer:.1f} times as close as one "
            f'formula. Predictions beyond are better by the second: --where "{name} >= {found.first:g}".'
        )


def _of_values(data: Measurements, model: Model) -> Iterator[str]:
    if not (data.observed > 0).all():
        return
    member = model.selected
    expected = sum(c * np.asarray(t.value(data.values)) for c, t in zip(member.coefficients, member.terms, strict=True))
    if (np.asarray(expected) < 0).any():
        yield "The model is negative at some of the settings: fit with --physical or --non-negative."
