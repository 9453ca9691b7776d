"""What limits a run, as tables, in words, and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.metrics.sharing import Sharing
from analyzer.replay.machine import Machine
from analyzer.replay.own_machine import NAME_ONE
from analyzer.replay.parameters import PARAMETERS
from analyzer.report import units
from analyzer.report.eager import Eager
from analyzer.report.findings import crowds
from analyzer.report.names import file_names
from analyzer.report.parameters import INCOMPLETE, value_text
from analyzer.report.plain import plain_table
from analyzer.sensitivity.knees import THRESHOLD
from analyzer.sensitivity.limits import LEAST, Latency, Limits, Loss, speedups
from analyzer.sensitivity.tolerance import Tolerance

_UNEXPLAINED = 0.1
"""A run that took longer than predicted by this share of it was delayed by something else, too."""


class Origin(Enum):
    """Where the machine is from."""

    NAMED = "named"
    RUN = "run"  # as the run's messages show it
    UNKNOWN = "unknown"  # they do not: it has no network costs but those that options name


@dataclass(frozen=True)
class Limited:
    """A run on a machine, what was found, and what it bears (None: not looked for)."""

    file: str
    measured_ns: int  # 0: a Dimemas trace, which has no times
    machine: Machine
    origin: Origin
    eager: Eager
    found: Limits
    tolerance: Tolerance | None
    incomplete: str = ""  # why the replay is not of the whole run
    sharing: tuple[Sharing, ...] = ()  # ranks that had no CPU each


def print_limits(runs: Sequence[Limited], console: Console) -> None:
    """Of each run the networks, where its time goes, and what limits it."""
    faster = speedups([run.found for run in runs])
    names = file_names(run.file for run in runs)
    for number, run in enumerate(runs):
        if number:
            console.print()
        measured = f", {units.time(run.measured_ns)} as measured" if run.measured_ns else ""
        console.print(f"{names[run.file]}: {units.plural(run.found.ranks, 'rank')}{measured}", markup=False)
        console.print(f"Machine: {_machine_text(run.machine)}", markup=False)
        console.print(run.eager.text)
        console.print()
        console.print(_scenarios(run.found, faster[number] if number else None))
        console.print()
        console.print(_losses(run.found))
        console.print()
        for line in _words(run):
            console.print(line, markup=False)


def _words(run: Limited) -> list[str]:
    known = run.origin is not Origin.UNKNOWN
    lines = [verdict(run.found, network_known=known)]
    if not known:
        lines.append(f"The run's messages do not show its network; {NAME_ONE}.")
    if run.incomplete:
        lines.append(INCOMPLETE.format(run.incomplete))
    if run.origin is not Origin.NAMED:
        lines.append(unexplained(run))
    if run.tolerance:
        lines.append(tolerance_text(run.tolerance, network_known=known))
    return [line for line in lines if line]


def _machine_text(machine: Machine) -> str:
    return ", ".join(
        f"{name} {value_text(PARAMETERS[name], PARAMETERS[name].get(machine))}"
        for name in ("latency", "bandwidth", "buses", "links_out", "links_in", "cpus", "speed")
    ).replace("_", " ")


def _scenarios(found: Limits, faster: list[float | None] | None) -> Table:
    """Table 11 of the thesis."""
    table = plain_table("network", "time", "utilisation", "slowdown", *(["speedup"] if faster else []))
    for number, scenario in enumerate(found.scenarios):
        slowdown = scenario.slowdown(found.ideal) if number else None
        cells = [slowdown, *([faster[number]] if faster else [])]
        texts = ["" if cell is None else f"{cell:.2f}" for cell in cells]
        table.add_row(scenario.network, units.time(scenario.end_ns), units.percent(scenario.utilisation), *texts)
    return table


def _losses(found: Limits) -> Table:
    table = plain_table("where the time goes", "time", "share", "gain without it")
    end_ns = found.whole.end_ns
    table.add_row("computation", units.time(found.computing_ns), _share(found.computing_ns, end_ns), "")
    for loss in found.losses:
        if not loss.ns and not loss.gain_ns:
            continue
        gain = "" if loss.gain_ns is None else _signed(loss.gain_ns)
        table.add_row(loss.name, _signed(loss.ns), _share(loss.ns, end_ns), gain)
        if loss.name == "latency":
            table.add_row("  directly", _signed(found.latency.direct_ns), _share(found.latency.direct_ns, end_ns), "")
            table.add_row(
                "  by blocking", _signed(found.latency.induced_ns), _share(found.latency.induced_ns, end_ns), ""
            )
    return table


def _signed(ns: float) -> str:
    return f"-{units.time(-ns)}" if ns < 0 else units.time(ns)


def _share(ns: float, whole_ns: int) -> str:
    if not whole_ns:
        return "-"
    return f"{'-' if ns < 0 else ''}{units.percent(abs(ns) / whole_ns)}"


def verdict(found: Limits, *, network_known: bool = True) -> str:
    """One sentence that names the limit, and what may help against it."""
    end_ns, limit = found.whole.end_ns, found.limit
    if not end_ns:
        return "Nothing limits the run: it takes no time."
    the_run = "The run" if network_known else "Apart from its network, the run"
    if limit is None:
        share = units.percent(found.computing_ns / end_ns)
        largest = max(found.losses, key=lambda loss: loss.ns)
        rest = f", most {largest.name} ({_share(largest.ns, end_ns)})" if largest.ns > 0 else ""
        network = ", a faster network does not" if network_known else ""
        return (
            f"{the_run} is limited by computation: {share} of it; all else takes below {100 * LEAST:.0f} % each{rest}. "
            f"Faster processors or less work help (see analyze efficiency){network}."
        )
    about = f"{units.time(limit.ns)} ({_share(limit.ns, end_ns)}) of {units.time(end_ns)}"
    return f"{the_run} is limited by {limit.name}: {about}{_why(limit, found)}{_gains(limit, found)}"


def _why(limit: Loss, found: Limits) -> str:
    return {
        "load imbalance": f"; rank {found.longest} computes longest. See analyze efficiency, by region.",
        "dependences": "; ranks wait for each other even where messages cost nothing. See analyze waits.",
        "shared CPUs": "; ranks wait for processors. Fewer ranks a node help.",
        "latency": f", {_how(found.latency)}. Fewer, larger messages help.",
        "bandwidth": ". Messages that are smaller, or travel while ranks compute, help.",
        "latency and bandwidth together": ": neither costs as much alone. Fewer or smaller messages help.",
        "contention": f"; up to {units.plural(found.most_waiting, 'message')} wait at once, {found.mean_waiting:.3g} "
        "on average. "
        "More buses and links, or messages at different times, help.",
    }[limit.name]


def _how(latency: Latency) -> str:
    """How latency costs what it does."""
    if latency.induced_ns < LEAST * latency.extra_ns:
        return "spent on CPUs and in collectives"
    return f"{units.time(latency.direct_ns)} directly and {units.time(latency.induced_ns)} by the waiting that follows"


def _gains(limit: Loss, found: Limits) -> str:
    """Which cost to take away, where that is another than the one that adds most."""
    most = max(found.losses, key=lambda loss: loss.gain_ns or 0)
    if limit.gain_ns is None or not most.gain_ns or most.gain_ns <= limit.gain_ns * (1 + LEAST):
        return ""
    more, less = units.time(most.gain_ns), units.time(limit.gain_ns)
    return f" Without the cost of {most.name} the run would be {more} shorter, without that of {limit.name} {less}."


def unexplained(run: Limited) -> str:
    """What the replay does not account for, where that is much."""
    more = run.measured_ns - run.found.whole.end_ns
    if more <= _UNEXPLAINED * run.measured_ns:
        return ""
    longer = f"As measured it took {units.time(more)} longer: "
    if run.sharing:
        return (
            f"{longer}{crowds(run.sharing)}, and wait for one where the replay gives each its own. The rest is what "
            "the replay leaves out, such as MPI_Init, and messages slower than the fastest."
        )
    return (
        f"{longer}what the replay leaves out, such as MPI_Init, processors shared with other programs, and messages "
        "slower than the fastest."
    )


def tolerance_text(of: Tolerance, *, network_known: bool = True) -> str:
    """One sentence: the worst network with which the run is hardly longer."""
    parts = [
        "any latency" if of.latency_s is None else f"a latency up to {_value('latency', of.latency_s)}",
        "any bandwidth" if of.bandwidth is None else f"a bandwidth from {_value('bandwidth', of.bandwidth)}",
    ]
    buses = "one bus is enough" if of.buses is None else f"{of.buses} buses are enough"
    return (
        f"On an ideal network, {' or '.join(parts)} would make it no more than {100 * THRESHOLD:.0f} % longer"
        f"{f'; on this one, {buses}' if network_known else ''}."
    )


def _value(name: str, value: float) -> str:
    return value_text(PARAMETERS[name], value)


def limits_json(runs: Sequence[Limited]) -> list[dict[str, Any]]:
    """Seconds and fractions under stable names."""
    faster = speedups([run.found for run in runs])
    return [_run_json(run, speedup) for run, speedup in zip(runs, faster, strict=True)]


def _run_json(run: Limited, faster: list[float | None]) -> dict[str, Any]:
    found = run.found
    names = ("latency", "bandwidth", "buses", "links_out", "links_in", "cpus", "speed")
    values = {name: PARAMETERS[name].get(run.machine) for name in names}
    return {
        "file": run.file,
        "ranks": found.ranks,
        "measured_s": run.measured_ns / 1e9 if run.measured_ns else None,
        "machine_from": run.origin.value,
        "machine": {name: None if value == float("inf") else value for name, value in values.items()},
        "eager": run.eager.as_json(),
        "scenarios": [
            {
                "network": scenario.network,
                "predicted_s": scenario.end_ns / 1e9,
                "utilisation": scenario.utilisation,
                "slowdown": scenario.slowdown(found.ideal),
                "speedup": speedup,
            }
            for scenario, speedup in zip(found.scenarios, faster, strict=True)
        ],
        "computation_s": found.computing_ns / 1e9,
        "losses": [
            {
                "name": loss.name,
                "time_s": loss.ns / 1e9,
                "gain_s": None if loss.gain_ns is None else loss.gain_ns / 1e9,
            }
            for loss in found.losses
        ],
        "latency": {
            "extra_s": found.latency.extra_ns / 1e9,
            "direct_s": found.latency.direct_ns / 1e9,
            "induced_s": found.latency.induced_ns / 1e9,
        },
        "incomplete": run.incomplete,
        "messages": found.messages,
        "most_waiting": found.most_waiting,
        "mean_waiting": found.mean_waiting,
        "limit": found.limit.name if found.limit else "computation",
        "bears": vars(run.tolerance) if run.tolerance else None,
    }
