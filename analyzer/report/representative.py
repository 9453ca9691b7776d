"""Representative parts of a series, and plans and estimates of rotating counters: as tables, in sentences, for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from analyzer.representative.plan import CounterEstimates, CounterPlan
from analyzer.representative.sampling import SamplingErrors
from analyzer.representative.series import StepMetric, StepSeries
from analyzer.representative.subset import RepresentativeSteps, SubsetLength, error

_BEST = 3


@dataclass(frozen=True)
class RepresentativeReport:
    """A series of steps, and the representative subset that was found in it.

    Attributes:
        metrics: The first one was searched for a period, the others are compared.
        subset: The representative subset; None: the metric has no period.
        lengths: Errors by length of the subset.
        sweep: Errors by sampling interval; None: not computed.
    """

    series: StepSeries
    metrics: tuple[StepMetric, ...]  # the first is the one that was analysed
    subset: RepresentativeSteps | None
    lengths: tuple[SubsetLength, ...]
    sweep: tuple[SamplingErrors, ...] | None


def _span(series: StepSeries, steps: float) -> str:
    return units.time(steps * series.step) if series.unit == "ns" else units.plural(round(steps), "step")


def analysed_tables(found: RepresentativeReport) -> Iterator[Table | Text]:
    """Yield the subset with its errors, the errors by length, and the sweep."""
    series, subset = found.series, found.subset
    if subset is None:
        yield Text(
            f"Not Found: {found.metrics[0].text} has no period in {series.name}. No part of it stands for the whole."
        )
        return
    yield Text("\n".join(_of_subset(found, subset)))
    table = plain_table("metric", "representative", "whole", "error")
    for metric in found.metrics:
        values = f"{metric.over(subset.part):.6g}", f"{metric.over(slice(None)):.6g}"
        table.add_row(metric.text, *values, f"{100 * error(metric, subset.part):.2f} %")
    yield table
    yield _lengths(found)
    yield Text(f"The {_BEST} lengths with the smallest errors: {', '.join(f'{n} %' for n in best(found.lengths))}.")
    if found.sweep is not None:
        yield from _sweep(found)


def best(lengths: Sequence[SubsetLength]) -> list[int]:
    """Return the _BEST lengths with the smallest sums of errors, in % of the period, the best first."""
    return [one.share for one in sorted(lengths, key=lambda one: one.sum)[:_BEST]]


def _of_subset(found: RepresentativeReport, subset: RepresentativeSteps) -> list[str]:
    series, whole = found.series, len(found.series)
    said = [
        f"{_span(series, subset.length)} of {_span(series, whole)} stand for the whole, from "
        f"{_span(series, subset.start)} on: 1/{whole / subset.length:.3g} of it."
    ]
    if subset.by_calls:
        said.append(
            f"{found.metrics[0].text} has no period of its own. This is one of the {round(subset.period.repetitions)} "
            f"iterations that the calls of rank 0 show, {_span(series, subset.period.samples)} each."
        )
        return said
    said.append(
        f"{found.metrics[0].text} repeats every {_span(series, subset.period.samples)}, "
        f"{subset.period.repetitions:.3g} times, with a correlation of {subset.period.correlation:.2f}."
    )
    if subset.initialisation:
        said.append(f"Before its periods come {_span(series, subset.initialisation)} of initialisation.")
    if len(subset.levels) > 1:
        inner = ", then ".join(_span(series, length) for length in subset.levels[1:])
        said.append(f"Inside one period {inner} repeats.")
    return said


def _lengths(found: RepresentativeReport) -> Table:
    table = plain_table("% of the period", *(f"{one.share}" for one in found.lengths))
    for number, metric in enumerate(found.metrics):
        errors = [one.errors[number] for one in found.lengths]
        table.add_row(f"{metric.text}, % off", *("-" if e is None else f"{100 * e:.2f}" for e in errors))
    return table


def _sweep(found: RepresentativeReport) -> Iterator[Table | Text]:
    assert found.subset is not None and found.sweep is not None
    period = found.subset.length
    table = plain_table("interval", "MSP % off", "SSP % off", "LSP % off")
    for one in found.sweep:
        if one.steps in {1, period // 2, period, 3 * period // 2, 2 * period}:
            mark = {period: " (R)", 2 * period: " (2R)"}.get(one.steps, "")
            errors = (one.msp, one.ssp, one.lsp)
            table.add_row(f"{one.steps}{mark}", *("-" if e is None else f"{100 * e:.2f}" for e in errors))
    yield table


def analysed_json(found: RepresentativeReport) -> dict[str, Any]:
    """Return the analysis for JSON. Lengths are numbers of steps."""
    subset = found.subset
    data: dict[str, Any] = {"file": found.series.name, "metric": found.metrics[0].text, "steps": len(found.series)}
    data |= {"step_s": found.series.step / 1e9 if found.series.unit == "ns" else None, "found": subset is not None}
    if subset is None:
        return data
    data |= {"start": subset.start, "length": subset.length, "levels": list(subset.levels)}
    data |= {"initialisation": subset.initialisation, "by_calls": subset.by_calls}
    data |= {"period": subset.period.samples, "repetitions": subset.period.repetitions}
    data["metrics"] = {
        metric.text: {
            "representative": metric.over(subset.part),
            "whole": metric.over(slice(None)),
            "error": error(metric, subset.part),
        }
        for metric in found.metrics
    }
    data["lengths"] = [{"percent": one.share, "steps": one.steps, "errors": list(one.errors)} for one in found.lengths]
    data["best_lengths"] = best(found.lengths)
    data["sweep"] = None if found.sweep is None else [asdict(one) for one in found.sweep]
    return data


def plan_tables(plan: CounterPlan) -> Iterator[Table | Text]:
    """Yield a table of when each set of counters is read, and a sentence on what the plan saves."""
    table = plain_table("counters", "from", "to", "for")
    for name, begin, end in zip(plan.sets, plan.moments_ns, plan.moments_ns[1:], strict=False):
        table.add_row(name, *(units.time(ns) for ns in (begin, end, end - begin)))
    yield table
    by = "times after MPI_Init" if plan.collectives is None else "numbers of collectives over MPI_COMM_WORLD"
    yield Text(
        f"{units.plural(len(plan.sets), 'set')} in {units.time(plan.needed_ns)} of the run after MPI_Init "
        f"({units.time(plan.init_ns)}, then an iteration of {units.time(plan.period_ns)} each), instead of "
        f"{units.plural(len(plan.sets), 'run')} of {units.time(plan.length_ns)}: 1/{plan.cost_ratio:.3g} of the cost. "
        f"Turns are by {by}."
    )


def plan_command(plan: CounterPlan, path: str) -> str:
    """Return the command line that records a run by a plan."""
    return f'TRACELIB_COUNTERS="{";".join(plan.sets)}" TRACELIB_ROTATE=file:{path} tracelib run -- mpirun ...'


def plan_json(plan: CounterPlan, path: str) -> dict[str, Any]:
    """Return a plan for JSON. Times are in s after MPI_Init."""
    return {
        "plan": path,
        "sets": list(plan.sets),
        "moments_s": [ns / 1e9 for ns in plan.moments_ns],
        "collectives": None if plan.collectives is None else list(plan.collectives),
        "period_s": plan.period_ns / 1e9,
        "length_s": plan.length_ns / 1e9,
        "needed_s": plan.needed_ns / 1e9,
        "cost_ratio": plan.cost_ratio,
    }


def estimates_tables(found: CounterEstimates) -> Iterator[Table | Text]:
    """Yield a table of the estimate of each counter beside a full run, and a sentence on the costs."""
    unit = "share of the time" if found.iterations is None else f"iterations (of {found.iterations})"
    table = plain_table("counter", "counted", f"in {unit}", "estimate", "full run", "error")
    for one in found.counters:
        full = "-" if one.full is None else units.count(one.full)
        off = "-" if one.error is None else f"{100 * one.error:.2f} %"
        estimate = "-" if one.estimated is None else units.count(one.estimated)
        share = units.percent(one.share) if found.iterations is None else f"{one.share * found.iterations:.3g}"
        table.add_row(one.counter, units.count(one.counted), share, estimate, full, off)
    yield table
    yield Text(
        f"The plan was done {units.time(found.needed_ns)} after MPI_Init. {units.plural(found.runs, 'whole run')} of "
        f"{units.time(found.length_ns)} would cost {found.cost_ratio:.3g} times as much."
    )


def estimates_json(file: str, found: CounterEstimates) -> dict[str, Any]:
    """Return the estimates for JSON. Times are in s."""
    return {
        "file": file,
        "length_s": found.length_ns / 1e9,
        "needed_s": found.needed_ns / 1e9,
        "iterations": found.iterations,
        "runs": found.runs,
        "cost_ratio": found.cost_ratio,
        "counters": {
            one.counter: {
                "counted": one.counted, "read_s": one.read_ns / 1e9, "share": one.share, "estimate": one.estimated,
                "full": one.full, "error": one.error,
            }
            for one in found.counters
        },
    }  # fmt: skip
