"""Efficiencies of runs, regions and visits, as tables and for JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from analyzer.efficiency.analysis import Efficiencies, ScalingComparison
from analyzer.efficiency.by_region import RegionEfficiency, VisitEfficiency, typical_ns
from analyzer.efficiency.factors import AdditiveEfficiency, Efficiency
from analyzer.efficiency.scaling import ComputingWork, Scaling
from analyzer.metrics.clusters import RankMeasure
from analyzer.report.look.as_json import efficiency_json, scaling_json
from analyzer.report.look.sentences import MUCH_TRACING
from analyzer.report.words import replays, units
from analyzer.report.words.cpus import cpus_json, waiting_for_cpus
from analyzer.report.words.groups import AlikeRanks, alike_ranks
from analyzer.report.words.place_notes import lost_at_json, uneven_text
from analyzer.report.words.units import file_names
from analyzer.trace.chosen import unreadable

MOST_VISITS = 40
MOST_REGIONS = 40
RUNS_SIDE_BY_SIDE = 5
_WIDTH_OF_NAMES = 29
_WIDTH = 78
_NOTEWORTHY = 0.01
"""Share of the run time from which on a place at which time is lost is named."""
_CALLS_NAMED = 2

ADDITIVE_NOTE = (
    "Additive form (PyPOP): the losses of two factors (100 % minus the factor) add up to the loss of the factor above."
)


def efficiencies_tables(compared: ScalingComparison, *, additive: bool) -> Iterator[Table | Text]:
    """Yield tables of all runs, with RUNS_SIDE_BY_SIDE in each, then of the regions and visits that were asked for."""
    for first in range(0, len(compared.runs), RUNS_SIDE_BY_SIDE):
        yield _tree(compared, range(first, min(first + RUNS_SIDE_BY_SIDE, len(compared.runs))), additive)
    for run in compared.runs if len(compared.runs) == 1 else ():
        if found := ranks_alike(run):
            yield found.table()
            if lines := found.lines():
                yield Text("\n".join(lines))
    if notes := _notes(compared, additive):
        yield Text("\n".join(notes))
    for run, regions, visits in zip(compared.runs, compared.regions, compared.visits, strict=True):
        if run.regions is not None:
            yield _regions_table(run.regions, regions, additive)
        if run.visits is not None:
            yield _visits_table(run.visits, visits, additive)
            if len(run.visits) > 1:
                yield Text(_of_visits(run.visits))


def ranks_alike(run: Efficiencies) -> AlikeRanks | None:
    """Group the ranks by their computing time, which determines load balance. None: there are few ranks."""
    if run.useful_ns is None:
        return None
    present = np.setdiff1d(np.arange(run.ranks), run.missing)
    return alike_ranks(present, RankMeasure("computing", run.useful_ns[present]))


def _notes(compared: ScalingComparison, additive: bool) -> list[str]:
    notes = [ADDITIVE_NOTE] if additive else []
    names = file_names(run.file for run in compared.runs)
    if compared.kind:
        name = names[compared.runs[compared.reference].file]
        notes.append(f"{compared.kind.capitalize()} scaling, relative to {name}.")
    for run in compared.runs:
        name = f"{names[run.file]}: " if len(compared.runs) > 1 else ""
        notes += [f"{name}{line}" for line in _places_of(run)]
        notes += [f"{name}{line}" for line in waiting_for_cpus(run.cpus)]
        if run.transfer_waits_ns:
            notes.append(f"{name}{_of_transfer(run.transfer_waits_ns, run.efficiency)}")
        notes += [f"{name}{line}" for line in replays.ideal_notes(run.efficiency.ideal)]
    return notes


def _places_of(run: Efficiencies) -> list[str]:
    """Say where in the program load balance and communication efficiency lose most."""
    lines, runtime, at = [], run.efficiency.runtime_ns, run.lost_at
    if at.uneven and at.uneven[0].excess_ns >= _NOTEWORTHY * runtime:
        lines.append(f"Load balance is lost most in {uneven_text(at.uneven[0])}.")
    whole = runtime * run.work.threads
    named = [
        f"{one.text} ({units.percent(one.ns / whole)})"
        for one in at.in_calls[:_CALLS_NAMED]
        if whole and one.ns >= _NOTEWORTHY * whole
    ]
    if named:
        lines.append(f"Of the time of all threads most is in calls of {', '.join(named)}.")
    return lines


def _of_transfer(waits_ns: int, efficiency: Efficiency) -> str:
    saved = efficiency.runtime_ns - (efficiency.ideal.runtime_ns or 0)
    return (
        f"Transfer: of the {units.time(saved)} that an ideal network would save, up to {units.time(waits_ns)} is "
        "waiting for a CPU."
    )


def _tree(compared: ScalingComparison, chosen: range, additive: bool) -> Table:
    """Make a table of the factors below each other, for the runs with these numbers side by side."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    runs = [compared.runs[k] for k in chosen]
    scaled = [compared.wholes[k] for k in chosen]
    names = file_names(run.file for run in compared.runs)
    for run in runs:
        table.add_column(
            Text(names[run.file].removesuffix(".gz")),
            justify="right",
            overflow="fold",
            max_width=(_WIDTH - _WIDTH_OF_NAMES) // len(runs),
        )
    effs = [run.efficiency for run in runs]
    shown = [AdditiveEfficiency(e) if additive else e for e in effs]
    times, scales = ("= ", "+ ") if additive else ("= ", "x "), compared.kind is not None

    def row(name: str, values: list[Any], text: Callable[[Any], str] = units.percent) -> None:
        table.add_row(name, *("-" if value is None else text(value) for value in values))

    row("Ranks", runs, _ranks)
    row("Runtime", [e.runtime_ns for e in effs], units.time)
    row("Ideal network, wall-clock", [e.ideal.runtime_ns for e in effs], units.time)
    if any(run.ideal_by_cpu_time.runtime_ns for run in runs):
        row("Ideal network, CPU time", [run.ideal_by_cpu_time.runtime_ns for run in runs], units.time)
    if scales:
        row("Speedup", [s.speedup for s in scaled], "{:.2f}".format)
        row("Global efficiency", [s.global_efficiency for s in scaled])
        row("= Parallel efficiency", [e.parallel_efficiency for e in shown])
    else:
        row("Parallel efficiency", [e.parallel_efficiency for e in shown])
    inner = "  " if scales else ""
    row(f"{inner}{times[0]}Load balance", [e.load_balance for e in shown])
    row(f"{inner}{times[1]}Communication", [e.communication_efficiency for e in shown])
    row(f"{inner}  {times[0]}Serialization", [e.serialization_efficiency for e in shown])
    row(f"{inner}  {times[1]}Transfer", [e.transfer_efficiency for e in shown])
    if any(run.transfer_waits_ns is not None for run in runs):
        row(f"{inner}      waits for CPU, up to", [_transfer_waits(run) for run in runs])
    if scales:
        row("x Computation scalability", [s.computation_scalability for s in scaled])
        row("  = IPC", [s.ipc_scalability for s in scaled])
        row("  x Instructions", [s.instruction_scalability for s in scaled])
        row("  x Frequency", [s.frequency_scalability for s in scaled])
    if any(share is not None and share > MUCH_TRACING for share in map(_tracer, runs)):
        row("Tracer's own share", [_tracer(run) for run in runs])
    row("Casas: micro load balance", [e.micro_load_balance for e in effs])
    row("Casas: real communication", [e.real_communication_efficiency for e in effs])
    row("Instructions per cycle", [run.work.ipc for run in runs], "{:.2f}".format)
    row("Frequency", [run.work.frequency_ghz for run in runs], "{:.2f} GHz".format)
    return table


def _transfer_waits(run: Efficiencies) -> float | None:
    """Return the upper bound of waiting for a CPU within the gain of an ideal network, as a share of the run time."""
    waits, runtime = run.transfer_waits_ns, run.efficiency.runtime_ns
    return None if waits is None or not runtime else waits / runtime


def _tracer(run: Efficiencies) -> float | None:
    """Return the share of the time of all threads that the tracer took. None: the run takes no time."""
    whole = run.duration_ns * run.work.threads
    return int(run.tracer_ns.sum()) / whole if whole else None


def _ranks(run: Efficiencies) -> str:
    return f"{run.ranks - len(run.missing)} of {run.ranks}" if run.missing else str(run.ranks)


def _new_table(*columns: str, scales: bool) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(columns[0], overflow="fold")
    factors = ("parallel", "balance", "comm.", "serial.", "transfer", *(("scaling",) if scales else ()))
    for column in (*columns[1:], *factors):
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _factors(e: Efficiency, scaling: Scaling, scales: bool, additive: bool) -> list[str]:
    shown = AdditiveEfficiency(e) if additive else e
    factors = [
        shown.parallel_efficiency,
        shown.load_balance,
        shown.communication_efficiency,
        shown.serialization_efficiency,
        shown.transfer_efficiency,
        *([scaling.computation_scalability] if scales else []),
    ]
    return ["-" if f is None else units.percent(f) for f in factors]


def _regions_table(regions: list[RegionEfficiency], scalings: list[Scaling], additive: bool) -> Table:
    scales = any(scaling.computation_scalability is not None for scaling in scalings)
    table = _new_table("region", "visits", "threads", "runtime", scales=scales)
    for one, scaling in list(zip(regions, scalings, strict=True))[:MOST_REGIONS]:
        e = one.efficiency
        line = [units.count(one.visits), str(one.threads), units.time(e.runtime_ns)]
        table.add_row(Text(one.name), *line, *_factors(e, scaling, scales, additive))
    if len(regions) > MOST_REGIONS:
        table.add_row(f"{len(regions) - MOST_REGIONS} more")
    return table


def _visits_table(visits: list[VisitEfficiency], scalings: list[Scaling], additive: bool) -> Table:
    """Make a table of the visits that lost most time, at most MOST_VISITS."""
    scales = any(scaling.computation_scalability is not None for scaling in scalings)
    table = _new_table("visit", "begin", "threads", "runtime", "lost", scales=scales)
    rows = sorted(zip(visits, scalings, strict=True), key=lambda row: (-row[0].excess_ns, row[0].number))
    for one, scaling in rows[:MOST_VISITS]:
        begin, runtime = units.time(one.begin_ns), units.time(one.efficiency.runtime_ns)
        lost = f"{'-' if one.excess_ns < 0 else ''}{units.time(abs(one.excess_ns))}"
        line = [str(one.number), begin, str(one.threads), runtime, lost]
        table.add_row(*line, *_factors(one.efficiency, scaling, scales, additive))
    if len(rows) > MOST_VISITS:
        table.add_row(f"{len(rows) - MOST_VISITS} more")
    return table


def _of_visits(visits: list[VisitEfficiency]) -> str:
    """Compare the visit that lost most with the median, and explain the column `lost`."""
    typical, worst = typical_ns(visits), max(visits, key=lambda one: one.excess_ns)
    slow = worst.efficiency.runtime_ns
    times = f", {slow / typical:.2f} times the median of {units.time(typical)}" if typical else ""
    return (
        f"Visit {worst.number} lost most: it takes {units.time(slow)}{times}. Lost: how much longer a visit takes than "
        "the median, times its threads."
    )


def efficiencies_json(compared: ScalingComparison, number: int, *, additive: bool) -> dict[str, Any]:
    """Return the efficiencies of run `number` for JSON. Times are in s, factors are fractions."""
    run = compared.runs[number]
    data: dict[str, Any] = {"file": run.file, "ranks": run.ranks}
    data |= {"missing": unreadable(run.missing, run.chosen), "chosen": run.chosen}
    data |= efficiency_json(run.efficiency, run.transfer_waits_ns, additive=additive) | cpus_json(run.cpus)
    data |= scaling_json(compared.wholes[number]) | _work_json(run.work)
    data |= lost_at_json(run.lost_at)
    data["tracer_s"] = int(run.tracer_ns.sum()) / 1e9
    ideal_ns = run.ideal_by_cpu_time.runtime_ns
    data["ideal_runtime_by_cpu_time_s"] = None if ideal_ns is None else ideal_ns / 1e9
    data["scaling"] = compared.kind
    data["reference"] = compared.runs[compared.reference].file if compared.kind else None
    if run.regions is not None:
        data["regions"] = [
            {"name": one.name, "visits": one.visits, "threads": one.threads}
            | efficiency_json(one.efficiency, additive=additive)
            | scaling_json(scaling)
            for one, scaling in zip(run.regions, compared.regions[number], strict=True)
        ]
    if run.visits is not None:
        data["visits"] = [
            {
                "visit": one.number,
                "begin_s": one.begin_ns / 1e9,
                "end_s": one.end_ns / 1e9,
                "threads": one.threads,
                "lost_s": one.excess_ns / 1e9,
            }
            | efficiency_json(one.efficiency, additive=additive)
            | scaling_json(scaling)
            for one, scaling in zip(run.visits, compared.visits[number], strict=True)
        ]
    return data


def _work_json(work: ComputingWork) -> dict[str, Any]:
    return {
        "threads": work.threads,
        "useful_s": work.useful_ns / 1e9,
        "useful_instructions": work.instructions,
        "ipc": work.ipc,
        "frequency_ghz": work.frequency_ghz,
    }
