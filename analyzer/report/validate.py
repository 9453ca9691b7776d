"""Predictions beside measurements, as text and for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.report.words import units
from analyzer.report.words.eager import Eager
from analyzer.report.words.groups import FEW
from analyzer.report.words.replays import basis_phrase, basis_text
from analyzer.report.words.table import plain_table
from analyzer.report.words.units import file_names
from analyzer.validation import PredictionError, Validation, spread
from tracelib.schema.procedures import POLLS, PROBES, base_name

_MOST = 12
"""Largest number of procedures and of regions in a printed table. The JSON has all."""
_NEAR = 0.10
"""Largest relative error of a good prediction, as in the thesis."""


@dataclass(frozen=True)
class ValidatedRun:
    """One run whose replay is compared with a reference run.

    Attributes:
        measured_ns: Measured time of the run itself.
        calls: Number of calls by procedure.
        cpu_time: Bursts are CPU time (True) or wall-clock time.
        incomplete: What the replay leaves out.
    """

    file: str
    measured_ns: int  # time that the run itself took
    calls: Mapping[str, int]  # number of calls by procedure
    cpu_time: bool  # bursts are CPU time, not wall-clock time
    incomplete: str  # what the replay leaves out
    found: Validation


@dataclass(frozen=True)
class ValidationReport:
    """Replays of several runs, compared with one reference run."""

    against: str
    untraced: bool  # the reference was measured without the tracer
    calls: Mapping[str, int]  # of the reference, by procedure
    eager: Eager  # in the replay of the reference
    runs: Sequence[ValidatedRun]


def print_validation(validated: ValidationReport, console: Console) -> None:
    """Print the runs and what the errors mean. For a single run, print also its ranks, procedures and regions."""
    console.print(_runs(validated))
    for run in validated.runs if len(validated.runs) == 1 else ():
        ranks, outside = _of_ranks(run.found.ranks()), _of_ranks(run.found.outside())
        tables = (("until the end", ranks), ("outside MPI", outside), ("in MPI, all ranks", run.found.procedures()))
        for title, errors in (*tables, ("in the region, all ranks", run.found.regions())):
            if errors:
                console.print()
                console.print(_errors(title, errors))
    console.print()
    for run in validated.runs:
        console.print(f"{_names(validated)[run.file]} is replayed {basis_phrase(cpu_time=run.cpu_time)}.", markup=False)
    console.print(validated.eager.text)
    for line in meaning(validated):
        console.print(line, markup=False)


def _of_ranks(errors: Sequence[PredictionError]) -> dict[str, PredictionError]:
    """Return the errors by name of the rank. Of more than FEW ranks, the largest errors come first."""
    order = list(range(len(errors)))
    if len(errors) > FEW:
        order = sorted(order, key=lambda rank: -abs(errors[rank].total))
    return {f"rank {rank}": errors[rank] for rank in order}


def _runs(validated: ValidationReport) -> Table:
    parts = ("bursts", "model", "tracing") if validated.untraced else ("bursts", "model")
    of_error = f"= {parts[0]}", *(f"+ {name}" for name in parts[1:])
    names = _names(validated)
    table = plain_table("predicted from", "took", "predicted", names[validated.against], "error", *of_error)
    for run in validated.runs:
        whole = run.found.whole
        shares = (_percent(whole.share(getattr(whole, name))) for name in ("total", *parts))
        times = (units.time(ns) for ns in (run.measured_ns, whole.predicted, whole.reference))
        table.add_row(names[run.file], *times, *shares)
    return table


def _errors(title: str, errors: Mapping[str, PredictionError]) -> Table:
    table = plain_table(title, "measured", "predicted", "error", "", "= bursts", "+ model")
    for name, error in list(errors.items())[:_MOST]:
        row = (units.time(error.reference), units.time(error.predicted), _signed(error.total))
        table.add_row(
            name.removeprefix("MPI_"),
            *row,
            _percent(error.share(error.total)),
            _signed(error.bursts),
            _signed(error.model),
        )
    if len(errors) > _MOST:
        table.add_row(f"{len(errors) - _MOST} more")
    return table


def _signed(ns: float) -> str:
    return f"{'-' if ns < 0 else '+'}{units.time(abs(ns))}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:+.1f} %"


def meaning(validated: ValidationReport) -> list[str]:
    """Say in sentences how far predictions are off, where most of the error comes from, and how far runs differ."""
    lines = [_sentence(run, validated) for run in validated.runs if len(validated.runs) == 1]
    took, said = (spread(times) for times in _spreads(validated))
    if took is not None and said is not None:
        lines.append(
            f"The {len(validated.runs)} runs themselves differ by {units.percent(took)} (longest over shortest), the "
            f"predictions from them by {units.percent(said)}."
        )
    for run in validated.runs:
        different = _different(run.calls, validated.calls)
        if different:
            names = _names(validated)
            lines.append(f"{names[run.file]} and {names[validated.against]} make different calls: {different}.")
    return lines


def _names(validated: ValidationReport) -> dict[str, str]:
    return file_names([validated.against, *(run.file for run in validated.runs)])


def _spreads(validated: ValidationReport) -> tuple[list[float], list[float]]:
    return [run.measured_ns for run in validated.runs], [run.found.whole.predicted for run in validated.runs]


def _sentence(run: ValidatedRun, validated: ValidationReport) -> str:
    whole = run.found.whole
    total = whole.share(whole.total)
    if total is None:
        return "There is no measured time to compare with."
    names = _names(validated)
    run_name, other = names[run.file], names[validated.against]
    causes = {
        "bursts": f"the bursts: {run_name} did not compute for the same time as {other}",
        "model": f"the model and the machine: the replay of {other} differs that much from {other} itself",
        "tracing": f"the tracer, which made {other} longer",
    }
    largest = max(causes, key=lambda name: abs(getattr(whole, name)))
    text = (
        f"The prediction is {_percent(total)} off{', which is good' if abs(total) < _NEAR else ''}. "
        f"The largest part of this, {_percent(whole.share(getattr(whole, largest)))}, comes from {causes[largest]}."
    )
    outside, computed = run.found.measured.outside.sum(), run.found.own.outside.sum()
    if outside > (1 + _NEAR) * computed:
        text += (
            f" {other} was outside MPI for {units.time(outside)}, but computed for only {units.time(computed)} of it: "
            "else it waited for a CPU, which the replay does not do, or wrote its trace."
        )
    return text


def _different(a: Mapping[str, int], b: Mapping[str, int]) -> str:
    """Name the procedures that two runs do not call equally often.

    Polls and probes are excluded, because their number depends on time.
    """
    both = [name for name in dict.fromkeys((*a, *b)) if base_name(name) not in POLLS | PROBES]
    names = [name for name in both if a.get(name) != b.get(name)]
    shown = [f"{name} {a.get(name, 0)} and {b.get(name, 0)} times" for name in names[:3]]
    return ", ".join(shown) + (f", {len(names) - 3} more procedures" if len(names) > 3 else "")


def validation_json(validated: ValidationReport) -> dict[str, Any]:
    """Return the comparison for JSON.

    Times are in s, summed over ranks for procedures and regions; errors are fractions.
    """
    took, said = _spreads(validated)
    return {
        "against": validated.against,
        "eager": validated.eager.as_json(),
        "runs": [_run_json(run) for run in validated.runs],
        "spread_measured": spread(took),
        "spread_predicted": spread(said),
    }


def _run_json(run: ValidatedRun) -> dict[str, Any]:
    found = run.found
    return {
        "file": run.file,
        "took_s": run.measured_ns / 1e9,
        "replayed_by": basis_text(cpu_time=run.cpu_time),
        "incomplete": run.incomplete,
        **_error_json(found.whole),
        "tracing_s": found.whole.tracing / 1e9,
        "untraced_s": found.whole.reference / 1e9,
        "ranks": [_error_json(error) for error in found.ranks()],
        "outside_mpi": [_error_json(error) for error in found.outside()],
        "procedures": {name: _error_json(error) for name, error in found.procedures().items()},
        "regions": {name: _error_json(error) for name, error in found.regions().items()},
    }


def _error_json(error: PredictionError) -> dict[str, Any]:
    return {
        "measured_s": error.measured / 1e9,
        "predicted_s": error.predicted / 1e9,
        "predicted_from_itself_s": error.own / 1e9,
        "error": error.share(error.total),
        "error_s": error.total / 1e9,
        "bursts_s": error.bursts / 1e9,
        "model_s": error.model / 1e9,
    }
