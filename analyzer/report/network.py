"""The model of a network as tables, in words, and for JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from analyzer.loggp.line_fit import CostLine
from analyzer.loggp.model import SizeInterval
from analyzer.network_measurement.estimate import LineErrors, LinkEstimate, PairModel
from analyzer.network_measurement.intervals.joined_intervals import is_unknown
from analyzer.network_measurement.netfile import NetworkMeasurement
from analyzer.network_measurement.projections import hockney, loggp, logp
from analyzer.report.words import units
from tracelib.schema.levels import PairLevels

PLACES = {"intra": "Within nodes", "inter": "Between nodes"}
US, KB = 1e6, 1024
"""Microseconds per second, and bytes per KB: the units of the thesis's tables (us and us/KB)."""
_MOST_PAIRS = 12
_DIGITS, _MANY_DECIMALS = 5, 4


def print_head(measurement: NetworkMeasurement, console: Console) -> None:
    """Print what was measured, with which MPI, and when."""
    about = measurement.attributes
    mpi = (str(about.get("mpi", "")).splitlines() or ["MPI"])[0].split(",")[0]
    console.print(f"{measurement.path}: {mpi}, {about.get('date', '')}", markup=False, soft_wrap=True)


def print_estimate(of: LinkEstimate, console: Console) -> None:
    """Print the model of a link: the thesis's table, the changes between sizes, the errors, and simpler models."""
    model = of.model
    pairs = units.plural(len(model.about.get("pairs", [0])), "pair")
    sizes = f"{units.plural(len(of.curves.size), 'size')} up to {units.size(int(of.curves.size[-1]))}"
    head = f"{PLACES[model.about['where']]}: {pairs} of ranks, {sizes}, {units.plural(len(of.sample.size), 'row')}"
    console.print(head, style="bold")
    console.print(f"  L {_value(model.latency_s * US, model.latency_ci, US)} us")
    console.print(_parameters(of))
    for line in _words(of):
        console.print(f"  {line}", markup=False, soft_wrap=True)


def _parameters(of: LinkEstimate) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("  bytes", no_wrap=True)
    for name in ("o us", "O us/KB", "g us", "G us/KB"):
        table.add_column(name, justify="right", no_wrap=True)
    for i in of.model.intervals:
        cells = [text for line in (i.overhead, i.gap) for text in _line(line, i)]
        table.add_row(f"  {i.from_bytes} to {i.to_bytes}", *cells)
    return table


def _line(line: CostLine, of: SizeInterval) -> tuple[str, str]:
    if is_unknown(line, of.from_bytes, of.to_bytes) and math.isfinite(line.start_ci[1]):
        return "unknown", "unknown"
    start = "unknown" if line.start_s is None else _value(line.start_s * US, line.start_ci, US)
    return start, _value(line.slope * US * KB, line.slope_ci, US * KB)


def _value(value: float, ci: tuple[float, float], scale: float) -> str:
    """Format a value with half the width of its confidence interval, such as "1.23 ±0.04".

    The half width has two digits, or one if these are many. A value at its lower limit 0 is given by its upper end, as
    "<0.05".
    """
    half = (ci[1] - ci[0]) / 2 * scale
    if not math.isfinite(half):
        return f"{value:.4g} ±?"
    if value == 0 == ci[0]:
        return f"<{ci[1] * scale:.2g}"
    first = -math.floor(math.log10(half)) if half > 0 else _DIGITS
    decimals = min(first + 1, max(first, _MANY_DECIMALS))
    most = _DIGITS - math.floor(math.log10(abs(value))) if value else _DIGITS
    decimals = max(0, min(decimals, most))
    return f"{value:.{decimals}f} ±{half:.{decimals}f}"


def _words(of: LinkEstimate) -> list[str]:
    size = of.curves.size
    lines = [_levels(levels) for levels in of.levels.values() if len(levels.share) > 1][:_MOST_PAIRS]
    if len(of.at_other_levels):
        lines.append(f"Measured only at other levels of speed: {_some(of.at_other_levels)} bytes")
    for change in of.changes:
        last = int(size[change.begin - 1])
        sure = "certain" if change.chance < 1e-9 else f"p = {change.chance:.1g} that it is chance"
        between = f"between {size[change.earliest - 1]} and {size[change.latest]}"
        lines.append(f"Change after {last} bytes ({between}): {sure}")
    for first, last in of.joined:
        lines.append(f"Too narrow to have parameters, joined to a neighbour: {first} to {last} bytes")
    if any("unknown" in _line(line, i) for i in of.model.intervals for line in (i.overhead, i.gap)):
        lines.append("unknown: the line of these sizes says nothing of one byte: it is below 0 there, or unsure")
    if len(of.standing_out):
        lines.append(f"Left out, because far from both neighbouring sizes: {_some(of.standing_out)} bytes")
    named = (("overhead", of.overhead_errors), ("gap", of.gap_errors), ("way", of.way_errors))
    lines.append(f"Error (median, 95 %): {'; '.join(f'{name} {_errors(e)}' for name, e in named)}")
    small, simple, line = logp(of.model), loggp(of.model, of.curves), hockney(of.curves)
    lines.append(f"LogP L {_us(small.latency_s)}, o {_us(small.overhead_s)}, g {_us(small.gap_s)}")
    per_kb = f"{_us(simple.gap_s_per_byte * KB)}/KB"
    off = units.percent(simple.gap_error)
    lines.append(f"LogGP o {_us(simple.overhead_s)}, g {_us(simple.gap_s)}, G {per_kb}: the gap is off by {off}")
    off = units.percent(line.error)
    lines.append(f"Hockney {_us(line.alpha_s)} and {_us(line.beta_s_per_byte * KB)}/KB: the way is off by {off}")
    return lines


def _levels(levels: PairLevels) -> str:
    """Name the levels of speed that the network showed, and the level whose rows are used."""
    each = zip(levels.latency_s, levels.share, strict=True)
    shown = ", ".join(f"{_us(latency_s)} ({units.percent(share)} of the rows)" for latency_s, share in each)
    return f"Levels of speed: L {shown}; only the level with {_us(levels.latency_s[levels.reported])} is used here"


def _some(sizes: np.ndarray) -> str:
    more = f" and {len(sizes) - 5} more" if len(sizes) > 5 else ""
    return ", ".join(str(size) for size in sizes[:5].tolist()) + more


def _us(time_s: float) -> str:
    return f"{time_s * US:.4g} us"


def _errors(errors: LineErrors) -> str:
    if not math.isfinite(errors.median):
        return "?"
    return f"{100 * errors.median:.1f}, {units.percent(errors.most)}"


def print_comparison(found: list[LinkEstimate], console: Console) -> None:
    """Print the results of several detectors of changes side by side."""
    console.print("Detectors: changes after these sizes, and errors of overhead and gap", style="bold")
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("  ", no_wrap=True)
    table.add_column("bytes")
    for name in ("overhead", "95 %", "gap", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for e in found:
        errors = [part for of in (e.overhead_errors, e.gap_errors) for part in (of.median, of.most)]
        cells = [units.percent(part) if math.isfinite(part) else "?" for part in errors]
        after = ", ".join(str(i.to_bytes) for i in e.model.intervals[:-1])
        table.add_row(f"  {e.detector}", after or "none", *cells)
    console.print(table)


def print_pairs(pairs: list[PairModel], console: Console) -> None:
    """Print how pairs of ranks differ from their common model. Of many pairs, the most different ones are printed."""
    if not pairs:
        return
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for column in ("  ranks", "rows", "L", "overhead", "gap"):
        table.add_column(column, justify="left" if column == "  ranks" else "right", no_wrap=True)
    apart = sorted(pairs, key=lambda p: -abs(math.log(max(p.gap, 1e-9))) if math.isfinite(p.gap) else 0.0)
    for pair in sorted(apart[:_MOST_PAIRS], key=lambda p: p.ranks):
        factors = [f"x {part:.2f}" if math.isfinite(part) else "?" for part in (pair.overhead, pair.gap)]
        ranks = f"  {pair.ranks[0]}, {pair.ranks[1]}"
        table.add_row(ranks, units.count(pair.rows), _us(pair.latency_s), *factors)
    most = f", the {_MOST_PAIRS} most different ones" if len(pairs) > _MOST_PAIRS else ""
    console.print(f"  Pairs compared with their common model{most}:")
    console.print(table)


def estimate_json(of: LinkEstimate) -> dict[str, Any]:
    """Return the model as in its file, with the data behind it. Units are s and bytes; None: unknown."""
    size = of.curves.size
    simple, line = loggp(of.model, of.curves), hockney(of.curves)
    errors = {"overhead": of.overhead_errors, "gap": of.gap_errors, "way": of.way_errors}
    return of.model.to_json() | {
        "sizes": len(size),
        "rows": len(of.sample.size),
        "changes": [
            {
                "after_bytes": int(size[c.begin - 1]),
                "from_bytes": int(size[c.earliest - 1]),
                "to_bytes": int(size[c.latest]),
                "chance": c.chance,
            }
            for c in of.changes
        ],
        "joined_bytes": [list(part) for part in of.joined],
        "left_out_bytes": of.standing_out.tolist(),
        "at_other_levels_bytes": of.at_other_levels.tolist(),
        "levels": [_levels_json(levels) for levels in of.levels.values()],
        "errors": {name: {"median": _finite(e.median), "of_95_percent": _finite(e.most)} for name, e in errors.items()},
        "logp": vars(logp(of.model)),
        "loggp": vars(simple),
        "hockney": vars(line),
    }


def _levels_json(levels: PairLevels) -> dict[str, Any]:
    latencies = [_finite(latency_s) for latency_s in levels.latency_s.tolist()]
    return {"latency_s": latencies, "share": levels.share.tolist(), "reported": levels.reported}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
