"""Distributions of work as tables and JSON: proposed from a run, planned from models, compared with a run's time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.balance.learning import LearnedModel
from analyzer.balance.parts import COM, CPU, REST
from analyzer.balance.plans import MachineGroup, SizePlan
from analyzer.balance.repository import MachineModel
from analyzer.balance.traced_run import Proposal
from analyzer.report.words import units
from analyzer.report.words.table import plain_table
from tracelib.schema.shares import Expectation, split

_MOST_RANKS = 32
_MOST_DROPPED = 8


def _seconds(value: float) -> str:
    return units.time(value * 1e9)


def expectation_line(expected: Expectation) -> str:
    """Say in one sentence which time a plan expects, with its interval, and the gain over equal shares."""
    return (
        f"Expected: {_seconds(expected.time_s)} ({_seconds(expected.low_s)} to {_seconds(expected.high_s)}); with "
        f"equal shares {_seconds(expected.even_s)}: {units.percent(abs(expected.gain))} "
        f"{'less' if expected.gain >= 0 else 'more'}"
    )


def expectation_json(expected: Expectation) -> dict[str, float]:
    """Return an expectation for JSON. Times are in s; `gain` is a fraction of the time with equal shares."""
    return {
        "time_s": expected.time_s, "low_s": expected.low_s, "high_s": expected.high_s, "even_s": expected.even_s,
        "gain": expected.gain,
    }  # fmt: skip


@dataclass(frozen=True)
class BalanceReport:
    """A proposed distribution of work, with the run and the options from which it was made.

    Attributes:
        items: Number of items to distribute; None: shares only.
        region: Region whose computing counts; None: all.
        cpu_time: Whether computing is measured in CPU time, not in wall-clock time.
        incomplete: What the replay leaves out.
    """

    file: str
    found: Proposal
    items: int | None
    region: str | None
    cpu_time: bool
    machine: str
    incomplete: str  # what the replay leaves out


def proposal_json(asked: BalanceReport) -> dict[str, object]:
    """Return a proposal for JSON. Times are in s."""
    found = asked.found
    return {
        "file": asked.file,
        "region": asked.region,
        "machine": asked.machine,
        "incomplete": asked.incomplete,
        "measured_s": found.measured_ns / 1e9 or None,
        "replayed_s": found.replayed_ns / 1e9,
        "expected": expectation_json(found.expected),
        "ranks": [
            {
                "rank": rank,
                "now": float(found.now[rank]),
                "computing_s": float(found.shared_ns[rank]) / 1e9,
                "cpu_s": None if found.cpu_ns is None else float(found.cpu_ns[rank]) / 1e9,
                "speed": float(found.speeds[rank]),
                "share": float(found.parts[rank]),
                **({"items": split(asked.items, found.speeds.tolist())[rank]} if asked.items else {}),
            }
            for rank in range(len(found.parts))
        ],
    }


def print_proposal(asked: BalanceReport, console: Console) -> None:
    """Print speed and share of each rank, and the times of the run, its replay, and the plan."""
    found = asked.found
    what = f"in {asked.region}" if asked.region else "in all"
    basis = "CPU time" if asked.cpu_time else "time by the clock"
    console.print(f"What ranks computed {what}, as {basis}, on {asked.machine}")
    counts = split(asked.items, found.speeds.tolist()) if asked.items else None
    columns = ["rank", "share now", "computing", "CPU time", "speed", "share", *(["items"] if counts else [])]
    table = plain_table(*columns)
    for rank in range(min(len(found.parts), _MOST_RANKS)):
        cpu = "-" if found.cpu_ns is None else units.time(float(found.cpu_ns[rank]))
        row = [
            str(rank), units.percent(float(found.now[rank])), units.time(float(found.shared_ns[rank])), cpu,
            f"{found.speeds[rank]:.2f}", units.percent(float(found.parts[rank])),
        ]  # fmt: skip
        table.add_row(*row, *([str(counts[rank])] if counts else []))
    console.print(table)
    if len(found.parts) > _MOST_RANKS:
        console.print(f"... {len(found.parts) - _MOST_RANKS} more ranks (--json)")
    taken = f"took {units.time(found.measured_ns)}, " if found.measured_ns else ""
    console.print(f"\nThe run {taken}replayed {units.time(found.replayed_ns)}")
    console.print(expectation_line(found.expected))


@dataclass(frozen=True)
class PlanComparison:
    """Comparison of the time that a plan expects with the time of a run under this plan."""

    file: str
    expected: Expectation
    took_s: float
    replayed: bool = False  # took_s is of a replay with CPU times
    incomplete: str = ""  # what the replay leaves out

    @property
    def inside(self) -> bool:
        """Whether the time of the run is within the expected interval."""
        return self.expected.low_s <= self.took_s <= self.expected.high_s

    @property
    def error(self) -> float:
        """Relative error of the expectation: (taken - expected) / expected."""
        return self.took_s / self.expected.time_s - 1


def compared_json(one: PlanComparison) -> dict[str, object]:
    """Return a comparison for JSON. Times are in s."""
    return {
        "file": one.file, "expected": expectation_json(one.expected), "took_s": one.took_s, "error": one.error,
        "replayed": one.replayed, "incomplete": one.incomplete, "inside": one.inside,
        "gain": 1 - one.took_s / one.expected.even_s,
    }  # fmt: skip


def print_compared(one: PlanComparison, console: Console) -> None:
    """Print the expectation and the comparison as sentences."""
    console.print(expectation_line(one.expected))
    gain = 1 - one.took_s / one.expected.even_s
    took = f"{'Its replay took' if one.replayed else 'Took'} {_seconds(one.took_s)}: {100 * one.error:+.1f} %"
    where = "in" if one.inside else "outside of"
    than = f"{units.percent(abs(gain))} {'less' if gain >= 0 else 'more'} than expected of equal shares"
    console.print(f"{took}, {where} the interval; {than}")


def print_learned(found: list[LearnedModel], console: Console) -> None:
    """Print a line for each learned machine, and the measured times that were dropped as anomalies."""
    table = plain_table("machine", "times", "dropped", "worst error")
    for one in found:
        table.add_row(one.model.name, str(one.runs), str(len(one.dropped)), units.percent(one.worst))
    console.print(table)
    for one in found:
        for n, p, time in one.dropped[:_MOST_DROPPED]:
            console.print(f"{one.model.name}: dropped {_seconds(time)} at n = {n:g}, p = {p:g}")
        if len(one.dropped) > _MOST_DROPPED:
            console.print(f"{one.model.name}: ... {len(one.dropped) - _MOST_DROPPED} more")


def learned_json(found: list[LearnedModel]) -> list[dict[str, object]]:
    """Return learned machine models for JSON."""
    return [
        {
            "machine": one.model.name,
            "times": one.runs,
            "dropped": [{"n": n, "p": p, "time_s": time} for n, p, time in one.dropped],
            "worst_error": one.worst,
            "time": one.model.time.text,
        }
        for one in found
    ]


def print_models(models: dict[str, MachineModel], console: Console) -> None:
    """Print a line for each machine model of a repository."""
    table = plain_table("machine", "fitted to n", "parts", "features")
    for model in models.values():
        sizes = f"{model.sizes[0]:g} to {model.sizes[1]:g}" if model.sizes else "-"
        features = ", ".join(f"{key}: {value}" for key, value in model.features.items())
        table.add_row(model.name, sizes, str(len(model.parts)) if model.parts else "-", features or "-")
    console.print(table)


def models_json(models: dict[str, MachineModel]) -> list[dict[str, object]]:
    """Return machine models for JSON."""
    return [{"machine": m.name, "time": m.time.text, "sizes": m.sizes, "features": m.features} for m in models.values()]


def print_plan(groups: list[MachineGroup], found: list[SizePlan], dynamic: bool, console: Console) -> None:
    """Print a plan: relative performance (g), fractions of work (f) and times, by problem size n."""
    kind = "Dynamic plan: fractions of each size" if dynamic else "Static plan: the same fractions for all sizes"
    console.print(f"{kind}; f of one machine")
    names = [group.model.name for group in groups]
    table = plain_table("n", *(f"g {name}" for name in names[1:]), *(f"f {name}" for name in names), "spread")
    for one in found:
        relative = [f"{g:.2f}" for g in one.relative[1:]]
        table.add_row(str(one.size), *relative, *(f"{f:.4f}" for f in one.fractions), _seconds(one.spread_s))
    console.print(table)
    if any(group.model.parts for group in groups):
        console.print("\nTime of a process by the parts of the program, s")
        console.print(_parts_table(groups, found))
    for one in found:
        console.print(f"n = {one.size}. {expectation_line(one.expected)}")
    for line in _beyond(groups, found):
        console.print(line)


def _parts_table(groups: list[MachineGroup], found: list[SizePlan]) -> Table:
    """Make a table of the time of one process of each machine: shared and repeated computing, communication, rest."""
    table = plain_table("machine", "n", "shared", "repeated", "communication", "all else", "in all")
    for row in _parts_rows(groups, found):
        numbers = [f"{row[key]:.4g}" for key in ("shared_s", "repeated_s", "communication_s", "rest_s", "time_s")]
        table.add_row(str(row["machine"]), str(row["n"]), *numbers)
    return table


def _parts_rows(groups: list[MachineGroup], found: list[SizePlan]) -> list[dict[str, Any]]:
    """Return the times of a process by part for each machine and size, in s.

    A machine without models of parts has shared work only.
    """
    processes = sum(group.count for group in groups)
    rows = []
    for one in found:
        first = 0
        for group in groups:
            share, model = one.counts[first] / one.size, group.model
            fixed = dict.fromkeys((CPU, COM, REST), 0.0)
            for part in model.parts:
                fixed[part.kind] = fixed.get(part.kind, 0.0) + part.fixed_s(one.size, processes)
            rows.append({
                "machine": model.name, "n": one.size, "shared_s": share * model.whole_s(one.size, processes),
                "repeated_s": fixed[CPU], "communication_s": fixed[COM], "rest_s": fixed[REST],
                "time_s": model.process_s(one.size, share, processes),
            })  # fmt: skip
            first += group.count
    return rows


def _beyond(groups: list[MachineGroup], found: list[SizePlan]) -> list[str]:
    """Name the sizes for which a machine's model has no measured data."""
    lines = []
    for model in {group.model.name: group.model for group in groups}.values():
        if model.sizes is None:
            continue
        low, high = model.sizes
        if outside := [str(one.size) for one in found if not low <= one.size <= high]:
            lines.append(f"Beyond the data of {model.name} (n from {low:g} to {high:g}): n = {', '.join(outside)}.")
    return lines


def plan_json(groups: list[MachineGroup], found: list[SizePlan], dynamic: bool) -> dict[str, object]:
    """Return a plan for JSON, with the items and the time (s) of each rank."""
    return {
        "dynamic": dynamic,
        "machines": [{"machine": group.model.name, "count": group.count} for group in groups],
        "beyond": _beyond(groups, found),
        "parts": _parts_rows(groups, found),
        "sizes": [
            {
                "n": one.size, "relative": one.relative, "fractions": one.fractions, "items": one.counts,
                "times_s": one.times_s, "spread_s": one.spread_s, "expected": expectation_json(one.expected),
            }
            for one in found
        ],
    }  # fmt: skip
