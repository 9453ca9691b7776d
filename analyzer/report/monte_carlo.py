"""Spread of predicted times over random machines, as text and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.montecarlo.samples import MachineSamples
from analyzer.montecarlo.spread import QUANTILES, ResultSpread, is_stable, spread
from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.replays import basis_phrase, basis_text, value_text
from analyzer.report.words.units import file_names

_STRONG, _WEAK = 0.5, 0.2
"""Rank correlation from which on a parameter decides the time, and correlation below which it hardly matters."""


@dataclass(frozen=True)
class MonteCarloReport:
    """A Monte Carlo study of replays, with its runs and options.

    Attributes:
        cpu_time: How bursts of each run are measured, as in `basis_text`.
        incomplete: What the replays of each run leave out.
        eager: The eager limit of each run; empty: it is varied.
        until: Relative precision to which each mean was to be known.
    """

    files: Sequence[str]
    measured_ns: Sequence[float | None]  # None: the file does not say
    cpu_time: Sequence[bool | None]  # of each run, as in `basis_text`
    incomplete: Sequence[str]  # what the replays of each run leave out
    samples: MachineSamples
    design: str
    seed: int
    written: Sequence[Path]
    eager: Sequence[Eager]  # of each run; (): it is varied
    until: float | None = None  # relative precision of each mean; None: not asked for

    @property
    def stable(self) -> bool | None:
        """Whether all means are known to the precision `until`. None: no precision was asked for."""
        return None if self.until is None else is_stable(self.samples, self.until)

    def spreads(self) -> list[ResultSpread]:
        """Return the spread of the predicted times of each run."""
        return [spread(self.samples, run) for run in range(len(self.files))]


def print_spread(found: MonteCarloReport, console: Console) -> None:
    """Print the spread of each run, what it depends on, and what it means."""
    names = file_names(found.files)
    for k, of in enumerate(found.spreads()):
        drawn = units.plural(len(found.samples.values), "machine")
        measured = found.measured_ns[k]
        took = f"; the run took {units.time(measured)}" if measured is not None else ""
        replayed = f"replayed on {drawn} {basis_phrase(cpu_time=found.cpu_time[k])}"
        console.print(f"{names[found.files[k]]} {replayed}{took}", markup=False)
        console.print()
        console.print(_times(of))
        if found.samples.varied:
            console.print()
            console.print(_parameters(found.samples, of))
        console.print()
        console.print(meaning(found.samples, of), markup=False)
    for line in dict.fromkeys(eager.text for eager in found.eager):
        console.print(line)
    if found.until is not None:
        console.print(_stopped(found, found.until))
    if found.samples.failed:
        console.print(f"{units.plural(found.samples.failed, 'machine')} could not replay a run: {found.samples.error}")
    if found.written:
        console.print(f"\nWritten: {', '.join(map(str, found.written))}", markup=False, soft_wrap=True)


def _stopped(found: MonteCarloReport, until: float) -> str:
    if found.stable:
        return f"Stopped because each mean is known to {100 * until:g} %."
    return f"Not every mean is known to {100 * until:g} % yet: a larger --samples goes on."


def _times(of: ResultSpread) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    columns = {"mean": of.mean, "deviation": of.deviation, "least": of.least}
    columns |= {f"{100 * share:.0f} %": value for share, value in zip(QUANTILES, of.quantiles, strict=True)}
    for name in (*columns, "most"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row(*(units.time(value) for value in (*columns.values(), of.most)))
    return table


def _parameters(samples: MachineSamples, of: ResultSpread) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("", "drawn from", "least", "most", "correlation"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for k, varied in enumerate(samples.varied):
        values = samples.values[:, k]
        ends = (value_text(varied.parameter, float(value)) for value in (values.min(), values.max()))
        correlation = "-" if isnan(of.correlation[k]) else f"{of.correlation[k]:+.2f}"
        table.add_row(varied.name, varied.said, *ends, correlation)
    return table


def meaning(samples: MachineSamples, of: ResultSpread) -> str:
    """Say how far the predicted times of a run spread, and which parameters decide."""
    low, high = of.quantiles[0], of.quantiles[-1]
    said = f"On 9 of 10 machines the run takes {units.time(low)} to {units.time(high)}"
    if not isnan(of.mean_within):
        said += f"; the mean is known to ±{units.time(of.mean_within)}"
    known = [(abs(c), v.name) for c, v in zip(of.correlation, samples.varied, strict=True) if not isnan(c)]
    strong = [name for share, name in sorted(known, reverse=True) if share >= _STRONG]
    weak = [name for share, name in known if share < _WEAK]
    if strong:
        said += f". {' and '.join(strong)} {'decides' if len(strong) == 1 else 'decide'} the time"
    if weak:
        said += f". {' and '.join(weak)} hardly {'matters' if len(weak) == 1 else 'matter'}"
    return f"{said}."


def spread_json(found: MonteCarloReport) -> dict[str, Any]:
    """Return the study for JSON. Times are in s, values in units of the parameters."""
    samples = found.samples
    return {
        "eager": [eager.as_json() for eager in found.eager],
        "design": found.design,
        "seed": found.seed,
        "samples": len(samples.values),
        "until": found.until,
        "stable": found.stable,
        "failed": samples.failed,
        "runs": [
            {
                "file": found.files[k],
                "replayed_by": basis_text(cpu_time=found.cpu_time[k]),
                "incomplete": found.incomplete[k],
                "measured_s": None if measured is None else measured / 1e9,
                "mean_s": of.mean / 1e9,
                "deviation_s": of.deviation / 1e9,
                "mean_within_s": None if isnan(of.mean_within) else of.mean_within / 1e9,
                "least_s": of.least / 1e9,
                "most_s": of.most / 1e9,
                "quantiles_s": {f"{share:g}": x / 1e9 for share, x in zip(QUANTILES, of.quantiles, strict=True)},
                "correlation": {
                    v.name: None if isnan(c) else c for v, c in zip(samples.varied, of.correlation, strict=True)
                },
            }
            for k, (of, measured) in enumerate(zip(found.spreads(), found.measured_ns, strict=True))
        ],
        "parameters": [{"name": v.name, "unit": v.parameter.unit, "drawn_from": v.said} for v in samples.varied],
        "written": [str(path) for path in found.written],
    }
