"""A machine whose parameters were fitted to runs, as text and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.montecarlo.distribution import LOG, UNIFORM
from analyzer.montecarlo.fit import FoundMachine
from analyzer.montecarlo.region import ParameterKnowledge
from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.replays import basis_text, value_text
from analyzer.report.words.table import plain_table
from analyzer.report.words.units import file_names

_WIDE = 0.8
"""Share of the range tried from which on a fitted range says little."""
_END = 0.001
"""Distance of the best value from an end of the range, as a share of the range, below which the end is reported."""


@dataclass(frozen=True)
class MachineFit:
    """A fitted machine, with the runs and options from which it was made.

    Attributes:
        cpu_time: How bursts of each run are measured, as in `basis_text`.
        incomplete: What the replays of each run leave out.
        eager: The eager limit of each run; empty: it is fitted.
    """

    files: Sequence[str]
    cpu_time: Sequence[bool | None]  # of each run, as in `basis_text`
    incomplete: Sequence[str]  # what the replays of each run leave out
    fit: FoundMachine
    design: str
    seed: int
    written: Sequence[Path]
    eager: Sequence[Eager]  # of each run; (): it is fitted


def print_fit(fitted: MachineFit, console: Console) -> None:
    """Print the runs, the fitted parameters, and what they mean."""
    found = fitted.fit
    console.print(_runs(fitted))
    console.print()
    console.print(_parameters(found))
    console.print()
    misfit = units.percent(float(found.wanted.misfit(found.best.times)))
    drawn = units.plural(len(found.samples.values), "machine")
    console.print(
        f"{found.region.count} of {drawn} drawn in {units.plural(found.rounds, 'round')} predict every run within "
        f"{_within(found)}; the best fit is {misfit} off.",
        markup=False,
    )
    for line in dict.fromkeys(eager.text for eager in fitted.eager):
        console.print(line)
    for line in meaning(found):
        console.print(line, markup=False)
    if found.samples.failed:
        console.print(f"{units.plural(found.samples.failed, 'machine')} could not replay a run: {found.samples.error}")
    if fitted.written:
        console.print(f"\nWritten: {', '.join(map(str, fitted.written))}", markup=False, soft_wrap=True)


def _within(found: FoundMachine) -> str:
    return f"{100 * found.wanted.tolerance:g} %"


def _runs(fitted: MachineFit) -> Table:
    found = fitted.fit
    errors = found.wanted.errors(found.best.times)
    table = plain_table("", "measured", "best fit", "replayed by", "error", "weight")
    names = file_names(fitted.files)
    for k, file in enumerate(fitted.files):
        table.add_row(
            names[file],
            units.time(float(found.wanted.measured_ns[k])),
            units.time(found.best.times_ns[k]),
            basis_text(cpu_time=fitted.cpu_time[k]),
            f"{100 * errors[k]:+.1f} %",
            units.percent(float(found.wanted.weights[k])),
        )
    return table


def _parameters(found: FoundMachine) -> Table:
    table = plain_table("", "drawn from", "best fit", "least", "most", "width", "known")
    for k, of in enumerate(found.samples.varied):
        row = [of.name, of.said, value_text(of.parameter, found.best.values[k])]
        if found.region.ranges:
            range_ = found.region.ranges[k]
            row += [value_text(of.parameter, range_.low), value_text(of.parameter, range_.high)]
            row += [units.percent(range_.width), "together" if found.region.tied(k) else range_.known.value]
        table.add_row(*row)
    return table


def meaning(found: FoundMachine) -> list[str]:
    """Say what the machines that predict the runs well have in common: one sentence for each parameter."""
    if found.region.ranges:
        return [*(_sentence(found, k) for k in range(len(found.samples.varied))), *_at_an_end(found)]
    if found.wanted.worst(found.best.times) < found.wanted.tolerance:
        return ["Too few of the machines drawn are near: draw more machines (-n), or draw them from narrower ranges."]
    return [
        f"No machine drawn predicts the runs within {_within(found)}. Try wider ranges or other parameters. The error "
        "may also come from something that no parameter of the machine describes."
    ]


def _sentence(found: FoundMachine, k: int) -> str:
    varied, range_ = found.samples.varied, found.region.ranges[k]
    of = varied[k]
    values = f"{value_text(of.parameter, range_.low)} to {value_text(of.parameter, range_.high)}"
    tied = " and ".join(varied[other].name for other in found.region.tied(k))
    if range_.known is ParameterKnowledge.TOO_FEW:
        return f"{of.name} is {values}; too few machines are near to say more."
    if tied:
        return (
            f"{of.name} is {values}, but it is known only together with {tied}: if one makes the run slower, the other "
            "can make up for it. Add a run that uses the network in another way to tell them apart."
        )
    if range_.known is ParameterKnowledge.NO:
        return f"{of.name} is not determined: all values tried fit equally well, so these runs do not depend on it."
    return f"{of.name} is {values}{', which is most of the range tried' if range_.width > _WIDE else ''}."


def _at_an_end(found: FoundMachine) -> list[str]:
    """Say which parameters have their best value at an end of the range tried, one line each."""
    lines = []
    for of, value, range_ in zip(found.samples.varied, found.best.values, found.region.ranges, strict=True):
        if of.law not in (UNIFORM, LOG) or of.whole or of.a == of.b or range_.known is ParameterKnowledge.NO:
            continue
        share = of.share(value)
        if min(share, 1 - share) < _END:
            end = "lower" if share < 0.5 else "upper"
            lines.append(f"The best {of.name} is at the {end} end of the range tried: a better one may lie outside it.")
    return lines


def fit_json(fitted: MachineFit) -> dict[str, Any]:
    """Return the fit for JSON. Values are in units of the parameters, times in s, errors are fractions."""
    found = fitted.fit
    errors = found.wanted.errors(found.best.times)
    return {
        "runs": [
            {
                "file": file,
                "measured_s": float(found.wanted.measured_ns[k]) / 1e9,
                "predicted_s": found.best.times_ns[k] / 1e9,
                "replayed_by": basis_text(cpu_time=fitted.cpu_time[k]),
                "incomplete": fitted.incomplete[k],
                "error": float(errors[k]),
                "weight": float(found.wanted.weights[k]),
            }
            for k, file in enumerate(fitted.files)
        ],
        "eager": [eager.as_json() for eager in fitted.eager],
        "design": fitted.design,
        "seed": fitted.seed,
        "rounds": found.rounds,
        "drawn": len(found.samples.values),
        "failed": found.samples.failed,
        "tolerance": found.wanted.tolerance,
        "near": found.region.count,
        "misfit": float(found.wanted.misfit(found.best.times)),
        "parameters": [_parameter_json(found, k) for k in range(len(found.samples.varied))],
        "correlation": [[None if isnan(x) else x for x in row] for row in found.region.correlation.tolist()],
        "written": [str(path) for path in fitted.written],
    }


def _parameter_json(found: FoundMachine, k: int) -> dict[str, Any]:
    of = found.samples.varied[k]
    range_ = found.region.ranges[k] if found.region.ranges else None
    return {
        "name": of.name,
        "unit": of.parameter.unit,
        "drawn_from": of.said,
        "best": found.best.values[k],
        "least": range_.low if range_ else None,
        "most": range_.high if range_ else None,
        "width": range_.width if range_ else None,
        "known": None
        if range_ is None or range_.known is ParameterKnowledge.TOO_FEW
        else range_.known is ParameterKnowledge.YES,
        "tied_to": [found.samples.varied[other].name for other in found.region.tied(k)],
    }
