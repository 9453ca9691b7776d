"""Predicted factors, speedups and times, beside simple baselines: as tables, in sentences, and for JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import expm1
from typing import Any

from rich.table import Table
from rich.text import Text

from analyzer.efficiency.scaling import WEAK
from analyzer.report.speedup import capital, factor_text, left_out_notes
from analyzer.report.words import units
from analyzer.report.words.left_out import left_out_text
from analyzer.report.words.table import plain_table
from analyzer.speedup_model.factors import SpeedupFactor
from analyzer.speedup_model.held_out import MODEL, HeldOutErrors
from analyzer.speedup_model.prediction import CONFIDENCE, PredictedRun, PredictionInterval, SpeedupPrediction

_EXACT, _MOST_CLOSER, _MOST_OFF = 1e-9, 100.0, 10.0
"""Smallest error that is reported, largest factor by which a method is called closer, largest error as a fraction."""


def prediction_tables(found: SpeedupPrediction) -> Iterator[Table | Text]:
    """Yield tables of the factors and of the speedups by all methods, then sentences and notes."""
    yield _factors(found)
    yield _speedups(found)
    yield Text("\n".join(sentence(one) for one in found.predicted))
    yield Text("\n".join(_notes(found)))


def _factors(found: SpeedupPrediction) -> Table:
    """Make a table of the factors, with a column for each measured and each predicted number of ranks."""
    runs = found.fitted.runs
    table = plain_table(
        "factor", *(units.plural(run.ranks, "rank") for run in runs), *(_head(p) for p in found.predicted)
    )
    for number, (factor, _) in enumerate(found.curves):
        measured = [factor_text(factor, factor.of(run) or 0) for run in runs]
        table.add_row(factor.name, *measured, *(_predicted(found, factor, p, number) for p in found.predicted))
    return table


def _head(predicted: PredictedRun) -> str:
    return f"{units.plural(predicted.ranks, 'rank')}, predicted"


def _predicted(found: SpeedupPrediction, factor: SpeedupFactor, predicted: PredictedRun, number: int) -> str:
    value = predicted.factors[number].value.value
    if factor.is_amount:  # relative to the reference; with weak scaling by rank
        value *= (factor.of(found.fitted.reference) or 0) * (predicted.linear if found.fitted.kind == WEAK else 1)
    return factor_text(factor, value)


def _speedups(found: SpeedupPrediction) -> Table:
    """Make a table of speedups, with a row for each method. It has errors where a run was measured."""
    table = plain_table("speedup by", *(units.plural(p.ranks, "rank") for p in found.predicted))
    table.add_row(MODEL, *(_with_error(p, p.speedup.value) for p in found.predicted))
    if any(p.speedup.low is not None for p in found.predicted):
        table.add_row("  from .. to", *(_bounds(p.speedup, "{:.2f}".format) for p in found.predicted))
    for method in ("linear", "quadratic", "log-linear"):
        table.add_row(_method(method), *(_with_error(p, p.baselines[method]) for p in found.predicted))
    if found.held_out:
        table.add_row(
            f"expected: {_method(found.held_out.chosen)}", *(_with_error(p, p.expected.value) for p in found.predicted)
        )
        table.add_row("  from .. to", *(_bounds(p.expected, "{:.2f}".format) for p in found.predicted))
    if any(p.measured for p in found.predicted):
        table.add_row("measured", *("-" if p.measured is None else f"{p.measured:.2f}" for p in found.predicted))
    table.add_row("time", *(units.time(p.period_ns.value) for p in found.predicted))
    if any(p.period_ns.low is not None for p in found.predicted):
        table.add_row("  from .. to", *(_bounds(p.period_ns, lambda ns: units.time(ns, "")) for p in found.predicted))
    return table


def _method(name: str) -> str:
    return name if name == MODEL else f"{name} in ranks"


def _with_error(predicted: PredictedRun, value: float | None) -> str:
    if value is None:
        return "-"
    error = predicted.error(value)
    return f"{value:.2f}" if error is None else f"{value:.2f} ({units.percent(error)} off)"


def _bounds(interval: PredictionInterval, text: Callable[[float], str]) -> str:
    if interval.low is None or interval.high is None:
        return "-"
    return f"{text(interval.low)} .. {text(interval.high)}"


def sentence(predicted: PredictedRun) -> str:
    """Say what speedup is expected at a number of ranks, and which factor will cost most."""
    worst = predicted.worst
    head = f"At {units.plural(predicted.ranks, 'rank')}: {predicted.expected.value:.3g} times, where "
    head += f"{predicted.linear:.3g} would be linear."
    if worst is None:
        return f"{head} No factor will undermine it."
    said = f"{head} {capital(worst.factor.name)} will undermine it most (factor {worst.quotient:.2f})"
    if predicted.observed_worst is None:
        return f"{said}."
    same = predicted.observed_worst == worst.factor.key
    return f"{said}, {'as it does in the measured run' if same else 'but in the measured run another factor does'}."


def _notes(found: SpeedupPrediction) -> list[str]:
    runs = found.fitted.runs
    notes = [
        f"{found.fitted.kind.capitalize()} scaling, relative to {runs[0].file}. "
        f"{units.plural(len(runs), 'run')} fitted: "
        + "; ".join(f"{_name(factor)} = {curve.text()}" for factor, curve in found.curves)
        + ". A problem that appears only at more ranks than were run cannot be foreseen."
    ]
    if found.held_out:
        notes.append(_held_out(found.held_out))
    if found.predicted and found.predicted[0].speedup.low is None:
        notes.append("Two rank counts say nothing of how sure this is: name a third for intervals.")
    else:
        share = units.percent(CONFIDENCE)
        notes.append(f"Intervals hold {share} of what new runs would measure, if the curves are the right ones.")
        if found.held_out:
            notes.append("The interval of the expected speedup is at least as wide as held-out runs were off.")
    notes += [
        f"The curve of {factor.name} would fall below 0 before {units.plural(found.predicted[-1].ranks, 'rank')}: "
        "its logarithm is fitted instead, by a + b ln P."
        for factor in found.bounded
    ]
    notes += [
        f"At {units.plural(predicted.ranks, 'rank')} the curve of {one.factor.name} is almost 0: that is farther than "
        "it reaches."
        for predicted in found.predicted
        for one in predicted.factors
        if one.floored
    ]
    return [*notes, *found.fitted.notes, *left_out_notes(runs)]


def _held_out(shown: HeldOutErrors) -> str:
    """Say how well the smaller runs predict the larger ones, and which method is chosen for that reason."""
    which = f"{', '.join(map(str, shown.ranks[:-1]))}{' and ' if len(shown.ranks) > 1 else ''}{shown.ranks[-1]}"
    off = ", ".join(f"{_method(name)} {_off(expm1(error))}" for name, error in shown.errors.items())
    taken = f"{_method(shown.chosen)} is taken"
    if shown.chosen != MODEL:
        closer = shown.errors[MODEL] / max(shown.errors[shown.chosen], _EXACT)
        taken += f", which was {min(closer, _MOST_CLOSER):.2g} times closer"
    if len(shown.ranks) > 1:
        return f"Held out: the runs at {which} ranks, each predicted from the smaller ones: {off} off; {taken}."
    return f"Held out: the run at {which} ranks, predicted from the smaller ones: {off} off; {taken}."


def _off(share: float) -> str:
    """Format a relative error. A parabola may fall below 0, so its error has no limit."""
    return units.percent(share) if share <= _MOST_OFF else f"more than {units.percent(_MOST_OFF)}"


def _name(factor: SpeedupFactor) -> str:
    return f"{factor.name} (relative)" if factor.is_amount else factor.name


def prediction_json(found: SpeedupPrediction) -> dict[str, Any]:
    """Return the predictions for JSON. Times are in s.

    The value of an amount is relative to the reference; with weak scaling, per rank.
    """
    return {
        "scaling": found.fitted.kind,
        "reference": found.fitted.reference.file,
        "fitted": [
            {
                "file": run.file,
                "ranks": run.ranks,
                "period_s": run.period_ns / 1e9,
                "incomplete": left_out_text(run),
            }
            for run in found.fitted.runs
        ],
        "held_out": None
        if found.held_out is None
        else {
            "ranks": list(found.held_out.ranks),
            "errors": {name: expm1(error) for name, error in found.held_out.errors.items()},
        },
        "bounded": [factor.key for factor in found.bounded],
        "curves": {factor.key: curve.text() for factor, curve in found.curves},
        "notes": list(found.fitted.notes),
        "predicted": [_one_json(one) for one in found.predicted],
    }


def _one_json(one: PredictedRun) -> dict[str, Any]:
    methods = {"model": one.speedup.value, **one.baselines}
    return {
        "ranks": one.ranks,
        "linear_speedup": one.linear,
        "speedup": one.speedup.value,
        "speedup_low": one.speedup.low,
        "speedup_high": one.speedup.high,
        "method": "model" if one.method == MODEL else one.method,
        "expected": one.expected.value,
        "expected_low": one.expected.low,
        "expected_high": one.expected.high,
        "period_s": one.period_ns.value / 1e9,
        "period_low_s": None if one.period_ns.low is None else one.period_ns.low / 1e9,
        "period_high_s": None if one.period_ns.high is None else one.period_ns.high / 1e9,
        "baselines": one.baselines,
        "measured": one.measured,
        "errors": {name: one.error(value) for name, value in methods.items()},
        "worst": one.worst.factor.key if one.worst else None,
        "observed_worst": one.observed_worst,
        "factors": {
            f.factor.key: {
                "value": f.value.value, "low": f.value.low, "high": f.value.high, "quotient": f.quotient,
                "out_of_range": f.floored,
            }
            for f in one.factors
        },
        "sentence": sentence(one),
    }  # fmt: skip
