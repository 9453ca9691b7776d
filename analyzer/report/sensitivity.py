"""Effects of a machine's parameters on the time of a run, as text and for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import incomplete_line
from analyzer.report.words.replays import basis_phrase, basis_text, value_text
from analyzer.sensitivity.knees import THRESHOLD, best_is_low
from analyzer.sensitivity.study import FactorialDesign, FactorialTerm, Sensitivity, SweepEnds

_LEAST_INFLUENCE = 0.001
"""Influence (share of the variation) below which an interaction is not in the table."""
_MOST_INTERACTIONS = 8
_MATTERS = 0.01
"""Relative change of the time below which factors do not matter."""
_MATTERS_ALONE = 0.9


@dataclass(frozen=True)
class SensitivityReport:
    """Sensitivity of one run, with the conditions of its replays.

    Attributes:
        measured_ns: Measured time of the run; 0 for a Dimemas trace.
        left_out: Reasons why default factors were left out.
        incomplete: Why the replays are not of the whole run.
        cpu_time: Bursts are CPU time (True), wall-clock time (False), or as in a Dimemas trace (None).
    """

    file: str
    measured_ns: int  # 0: a Dimemas trace, which has no times
    eager: Eager
    found: Sensitivity
    left_out: tuple[str, ...] = ()
    incomplete: str = ""  # why the replays are not of the whole run
    picture: Path | None = None
    cpu_time: bool | None = False  # see Attributes


def print_sensitivity(studied: SensitivityReport, console: Console) -> None:
    """Print the factors by influence, what they mean, and the sweeps."""
    found = studied.found
    if studied.measured_ns:
        console.print(f"{Path(studied.file).name} took {units.time(studied.measured_ns)}", markup=False)
    console.print(f"Predicted on the machine {basis_phrase(cpu_time=studied.cpu_time)}: {units.time(found.end_ns)}")
    console.print(studied.eager.text)
    if studied.incomplete:
        console.print(incomplete_line(studied.incomplete), markup=False)
    if found.design:
        console.print()
        console.print(_factors_table(found.design))
        console.print()
        console.print(verdict(found.design), markup=False)
    for reason in studied.left_out:
        console.print(f"Left out: {reason}", markup=False)
    for swept in found.sweeps:
        console.print()
        console.print(_sweep_table(swept))
        console.print(sweep_verdict(swept), markup=False)
    if studied.picture:
        console.print(f"\nWritten: {studied.picture}", markup=False, soft_wrap=True)


def _new_table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def _factors_table(design: FactorialDesign) -> Table:
    table = _new_table("factor", "low", "high", "influence", "low to high", "of the time")
    k = len(design.factors)
    mains, interactions = design.found.terms[:k], design.found.terms[k:]
    for term in sorted(mains, key=_by_influence):
        factor = design.factors[term.factors[0]]
        low, high = (value_text(factor.parameter, value) for value in (factor.low, factor.high))
        table.add_row(factor.parameter.name, low, high, *_term_cells(term, design))
    shown = [t for t in sorted(interactions, key=_by_influence) if (t.influence or 0) >= _LEAST_INFLUENCE]
    for term in shown[:_MOST_INTERACTIONS]:
        table.add_row(term_name(term, design), "", "", *_term_cells(term, design))
    rest = [t for t in interactions if t not in shown[:_MOST_INTERACTIONS]]
    if rest and interactions:
        label = units.plural(len(rest), "more interaction" if shown else "interaction")
        table.add_row(label, "", "", _influence(sum(t.influence or 0 for t in rest)), "", "")
    return table


def _by_influence(term: FactorialTerm) -> float:
    return -(term.influence or 0.0)


def _term_cells(term: FactorialTerm, design: FactorialDesign) -> tuple[str, str, str]:
    effect = 2 * term.coefficient
    share = effect / design.found.mean if design.found.mean else 0.0
    sign = "+" if effect > 0 else "-" if effect < 0 else ""
    percent = units.percent(abs(share))
    return _influence(term.influence), f"{sign}{units.time(abs(effect))}", percent if "<" in percent else sign + percent


def _influence(share: float | None) -> str:
    return "-" if share is None else units.percent(share)


def term_name(term: FactorialTerm, design: FactorialDesign) -> str:
    """Return the name of a term by its factors, such as "latency x buses"."""
    return " x ".join(design.factors[j].parameter.name for j in term.factors)


def verdict(design: FactorialDesign) -> str:
    """Say in one paragraph which factor matters most, how much, and whether factors interact."""
    fastest, slowest = min(design.ends_ns), max(design.ends_ns)
    if slowest == fastest:
        return "None of this matters: the run takes the same time in all combinations."
    mains = sorted(design.found.terms[: len(design.factors)], key=_by_influence)
    most = mains[0]
    factor = design.factors[most.factors[0]]
    spread = units.percent(slowest / fastest - 1)
    if slowest < fastest * (1 + _MATTERS):
        fast = f"the fastest ({units.time(fastest)})"
        return f"None of this matters much: the slowest combination takes {spread} longer than {fast}."
    low, high = (value_text(factor.parameter, value) for value in (factor.low, factor.high))
    name, change = factor.parameter.name, 2 * most.coefficient
    longer = "longer" if change > 0 else "shorter"
    text = (
        f"{name[0].upper()}{name[1:]} matters most: it explains {_influence(most.influence)} of the differences; "
        f"from {low} to {high} the run becomes {units.time(abs(change))} {longer}. "
        f"The slowest combination takes {spread} longer than the fastest ({units.time(fastest)})."
    )
    together = sum(t.influence or 0 for t in design.found.terms[len(design.factors) :])
    if together >= 1 - _MATTERS_ALONE:
        text += f" Interactions explain {units.percent(together)}: the effect of one factor depends on the others."
    return text


def _sweep_table(swept: SweepEnds) -> Table:
    table = _new_table(swept.sweep.parameter.name, "time", "of the best")
    best = min(swept.ends_ns)
    for value, end in zip(swept.sweep.values, swept.ends_ns, strict=True):
        table.add_row(value_text(swept.sweep.parameter, value), units.time(end), f"{end / best:.3f}" if best else "-")
    return table


def sweep_verdict(swept: SweepEnds) -> str:
    """Say in one line from which value on a swept parameter makes the run more than THRESHOLD longer."""
    of, values, ends = swept.sweep.parameter, swept.sweep.values, swept.ends_ns
    first, last = (value_text(of, value) for value in (values[0], values[-1]))
    if swept.knee is None:
        spread = units.percent(max(ends) / min(ends) - 1) if min(ends) else "0 %"
        return f"From {first} to {last}, {of.name} changes the time by at most {spread}."
    best = first if best_is_low(ends) else last
    beyond = beyond_knee(swept)
    text = f"{beyond[0].upper()}{beyond[1:]} the run is more than {100 * THRESHOLD:.0f} % longer than at {best}"
    if swept.bend is not None:
        text += f"; the curve bends most at {value_text(of, swept.bend)}"
    return f"{text}."


def beyond_knee(swept: SweepEnds) -> str:
    """Return the range beyond the knee of a sweep, such as "above 5.00 us"."""
    side = "above" if best_is_low(swept.ends_ns) else "below"
    return f"{side} {value_text(swept.sweep.parameter, swept.knee or 0.0)}"


def sensitivity_json(studied: SensitivityReport) -> dict[str, Any]:
    """Return the sensitivity for JSON. Times are in s, values of parameters in their own units."""
    found = studied.found
    data: dict[str, Any] = {
        "file": studied.file,
        "measured_s": studied.measured_ns / 1e9 if studied.measured_ns else None,
        "predicted_s": found.end_ns / 1e9,
        "replayed_by": basis_text(cpu_time=studied.cpu_time),
        "eager": studied.eager.as_json(),
        "factors": [],
        "mean_s": None,
        "terms": [],
        "corners": [],
        "left_out": list(studied.left_out),
        "incomplete": studied.incomplete,
        "sweeps": [_sweep_json(swept) for swept in found.sweeps],
        "picture": str(studied.picture) if studied.picture else None,
    }
    return data | (_design_json(found.design) if found.design else {})


def _design_json(design: FactorialDesign) -> dict[str, Any]:
    names = [f.parameter.name for f in design.factors]
    return {
        "factors": [
            {"name": f.parameter.name, "unit": f.parameter.unit, "low": f.low, "high": f.high} for f in design.factors
        ],
        "mean_s": design.found.mean / 1e9,
        "terms": [
            {
                "factors": [names[j] for j in t.factors],
                "coefficient_s": t.coefficient / 1e9,
                "effect_s": 2 * t.coefficient / 1e9,
                "influence": t.influence,
            }
            for t in design.found.terms
        ],
        "corners": [
            {"high": [name for j, name in enumerate(names) if corner >> j & 1], "predicted_s": end / 1e9}
            for corner, end in enumerate(design.ends_ns)
        ],
    }


def _sweep_json(swept: SweepEnds) -> dict[str, Any]:
    return {
        "name": swept.sweep.parameter.name,
        "unit": swept.sweep.parameter.unit,
        "values": list(swept.sweep.values),
        "predicted_s": [end / 1e9 for end in swept.ends_ns],
        "knee": swept.knee,
        "knee_share": THRESHOLD,
        "bend": swept.bend,
    }
