"""Results of a Monte Carlo study of any program, as text and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.montecarlo.spread import QUANTILES, ResultSpread
from analyzer.report.words import units
from analyzer.shots.results import ShotResults
from analyzer.shots.shot_records import ShotOutcome

_STRONG, _WEAK = 0.5, 0.2
"""Rank correlation from which on a variable decides an output, and correlation below which it hardly matters."""
_COLUMNS = 3
"""Number of outputs that are printed side by side."""
_NAMED = 8
"""Largest number of shots that a line names."""


def print_results(found: ShotResults, written: Sequence[Path], console: Console) -> None:
    """Print the spread of outputs, what it depends on, shots without a result, and the hosts that ran shots."""
    spreads, varied = found.spreads(), found.plan.varied
    shots = units.plural(len(found.records), "shot")
    good = "all" if len(found.good) == len(found.records) else str(len(found.good))
    console.print(f"{found.plan.path.name}: {shots} of {found.plan.job.where}; {good} gave results", markup=False)
    console.print()
    for first in range(0, len(spreads), _COLUMNS):
        console.print(_spreads(found, spreads, first))
        console.print()
        console.print(_correlations(found, spreads, first))
        console.print()
    for output, of in zip(found.plan.outputs, spreads, strict=True):
        console.print(_meaning(output.name, [v.name for v in varied], of), markup=False)
    for line in _troubles(found):
        console.print(line, markup=False)
    if found.plan.until is not None:
        share = f"{100 * found.plan.until:g} %"
        console.print(
            f"Stopped because each mean is known to {share}." if found.stable
            else f"Not every mean is known to {share} yet: a larger --samples goes on."
        )  # fmt: skip
    console.print()
    console.print(_hosts(found))
    console.print(f"\nWritten: {', '.join(map(str, written))}", markup=False, soft_wrap=True)


def _new_table(*names: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for k, name in enumerate(names):
        table.add_column(name, justify="right" if k else "left", no_wrap=True)
    return table


def number(value: float) -> str:
    """Format a number with four digits, such as "0.00123", "12.3", "1.234e+10"."""
    return f"{value:.4g}"


def _spreads(found: ShotResults, spreads: Sequence[ResultSpread], first: int) -> Table:
    """Make a table of the spreads of up to _COLUMNS outputs, from number `first` on, one per column."""
    some = slice(first, first + _COLUMNS)
    table = _new_table("", *(output.name for output in found.plan.outputs[some]))
    rows = {"mean": [of.mean for of in spreads], "deviation": [of.deviation for of in spreads]}
    rows["least"] = [of.least for of in spreads]
    rows |= {f"{100 * share:.0f} %": [of.quantiles[k] for of in spreads] for k, share in enumerate(QUANTILES)}
    rows["most"] = [of.most for of in spreads]
    for name, values in rows.items():
        table.add_row(name, *map(number, values[some]))
    return table


def _correlations(found: ShotResults, spreads: Sequence[ResultSpread], first: int) -> Table:
    """Make a table of the rank correlations of outputs with variables."""
    some = slice(first, first + _COLUMNS)
    table = _new_table("correlation with", "drawn from", *(output.name for output in found.plan.outputs[some]))
    for k, varied in enumerate(found.plan.varied):
        row = ["-" if isnan(of.correlation[k]) else f"{of.correlation[k]:+.2f}" for of in spreads[some]]
        table.add_row(varied.name, varied.said, *row)
    return table


def _meaning(name: str, variables: Sequence[str], of: ResultSpread) -> str:
    """Say how far an output spreads, and which variables decide."""
    said = f"{name}: 9 of 10 shots give {number(of.quantiles[0])} to {number(of.quantiles[-1])}"
    if not isnan(of.mean_within):
        said += f"; the mean is known to ±{number(of.mean_within)}"
    known = [(abs(c), v) for c, v in zip(of.correlation, variables, strict=True) if not isnan(c)]
    strong = [v for share, v in sorted(known, reverse=True) if share >= _STRONG]
    weak = [v for share, v in known if share < _WEAK]
    if strong:
        said += f". {' and '.join(strong)} {units.verb(len(strong), 'decides', 'decide')} it"
    if weak:
        said += f". {' and '.join(weak)} hardly {units.verb(len(weak), 'matters', 'matter')}"
    return f"{said}."


_TROUBLE = {ShotOutcome.FAILED: "failed", ShotOutcome.HUNG: "hung", ShotOutcome.LOST: "lost"}


def _troubles(found: ShotResults) -> list[str]:
    lines = []
    for (kind, error), shots in found.troubles().items():
        named = ", ".join(map(str, shots[:_NAMED])) + (", ..." if len(shots) > _NAMED else "")
        said = f"{units.plural(len(shots), 'shot')} {_TROUBLE[kind]} ({named})"
        lines.append(f"{said}: {error}")
    return lines


def _hosts(found: ShotResults) -> Table:
    table = _new_table("host", "shots", "mean response")
    for host in found.hosts():
        table.add_row(host.name, str(host.shots), "-" if isnan(host.response_s) else units.time(1e9 * host.response_s))
    return table


def results_json(found: ShotResults, written: Sequence[Path]) -> dict[str, Any]:
    """Return the results of a study for JSON."""
    plan = found.plan
    return {
        "study": str(plan.path),
        "design": plan.design,
        "seed": plan.seed,
        "shots": len(found.records),
        "good": len(found.good),
        "until": plan.until,
        "stable": found.stable,
        "outputs": [
            {
                "name": output.name,
                "mean": of.mean,
                "deviation": of.deviation,
                "mean_within": None if isnan(of.mean_within) else of.mean_within,
                "least": of.least,
                "most": of.most,
                "quantiles": {f"{share:g}": x for share, x in zip(QUANTILES, of.quantiles, strict=True)},
                "correlation": {
                    v.name: None if isnan(c) else c for v, c in zip(plan.varied, of.correlation, strict=True)
                },
            }
            for output, of in zip(plan.outputs, found.spreads(), strict=True)
        ],
        "variables": [{"name": v.name, "drawn_from": v.said, "whole": v.whole} for v in plan.varied],
        "without_result": [
            {"kind": kind.value, "error": error, "shots": shots} for (kind, error), shots in found.troubles().items()
        ],
        "hosts": [
            {"name": of.name, "shots": of.shots, "response_s": None if isnan(of.response_s) else of.response_s}
            for of in found.hosts()
        ],
        "written": [str(path) for path in written],
    }
