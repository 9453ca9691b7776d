"""Limits of a run (which cost limits its speed): as tables, in words, and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rich.console import Console
from rich.table import Table

from analyzer.efficiency.cpu_use import NOT_KNOWN, CpuSharing
from analyzer.machine.description import Machine
from analyzer.machine.observed_machine import NAME_ONE
from analyzer.machine.parameters import PARAMETERS
from analyzer.metrics.lost_at import NOWHERE, LostAt
from analyzer.report.words import units
from analyzer.report.words.cpus import waiting_for_cpus
from analyzer.report.words.eager import Eager
from analyzer.report.words.left_out import incomplete_line
from analyzer.report.words.place_notes import lost_at_json, uneven_text
from analyzer.report.words.replays import basis_phrase, basis_text, value_text
from analyzer.report.words.table import plain_table
from analyzer.report.words.units import file_names
from analyzer.sensitivity.knees import THRESHOLD
from analyzer.sensitivity.limits import COMPUTATION, LatencyCost, ReplayLimits, TimeLoss, speedups
from analyzer.sensitivity.tolerance import Tolerance

_NOTEWORTHY = 0.1
"""Share of the run from which on the time outside the replay is mentioned."""
_NEXT = 0.05
"""Share of the time from which on the second largest part is mentioned.

A cost of the network with a larger gain is mentioned if its gain is larger by this share.
"""
_CALLS_NAMED = 2
_LEAST_NAMED = 0.01
"""Share of the time of all ranks below which calls at a place are not named."""
_ROUNDED = 0.0005
"""Share of the time within which a negative part is a rounding error."""
OUTSIDE = "outside the replay"
"""Name of the part of a run that its replay does not cover."""


class MachineOrigin(Enum):
    """Origin of the machine on which a run is replayed."""

    NAMED = "named"
    RUN = "run"  # estimated from the run's messages
    UNKNOWN = "unknown"  # not in the messages: only the network costs that options give


@dataclass(frozen=True)
class LimitsReport:
    """A run replayed on a machine, with the costs that limit it.

    Attributes:
        tolerance: The worst network that the run tolerates; None: not searched.
        cpu_time: Bursts are CPU time (True), wall-clock time (False), or as in a Dimemas trace (None).
        starting_ns: Time in MPI_Init and MPI_Finalize of the rank with the least of it.
        incomplete: Why the replay is not of the whole run.
    """

    file: str
    measured_ns: int  # 0: a Dimemas trace, which has no times
    machine: Machine
    origin: MachineOrigin
    eager: Eager
    found: ReplayLimits
    tolerance: Tolerance | None
    cpu_time: bool | None = False  # see Attributes
    incomplete: str = ""  # why the replay is not of the whole run
    cpus: CpuSharing = NOT_KNOWN
    starting_ns: float = 0.0  # in MPI_Init and MPI_Finalize, least of all ranks
    lost_at: LostAt = NOWHERE  # without MPI_Init and MPI_Finalize, which the replay lacks

    @property
    def outside_ns(self) -> int | None:
        """Time in ns by which the run was longer than its replay.

        None: the machine is another one, or nothing was measured.
        """
        if not self.measured_ns or self.origin is MachineOrigin.NAMED:
            return None
        return self.measured_ns - self.found.whole.end_ns

    @property
    def limit(self) -> str:
        """Name of the largest part of the run time."""
        part = self.found.limit
        if self.outside_ns is not None and self.outside_ns > (part.ns if part else 0):
            return OUTSIDE
        return part.name if part else COMPUTATION


def print_limits(runs: Sequence[LimitsReport], console: Console) -> None:
    """Print for each run the networks, the parts of its time, and what limits it."""
    faster = speedups([run.found for run in runs])
    names = file_names(run.file for run in runs)
    for number, run in enumerate(runs):
        if number:
            console.print()
        measured = f", {units.time(run.measured_ns)} as measured" if run.measured_ns else ""
        console.print(
            f"{names[run.file]}: {units.plural(run.found.ranks, 'rank')}{measured}; replayed below "
            f"{basis_phrase(cpu_time=run.cpu_time)}",
            markup=False,
        )
        console.print(f"Machine: {_machine_text(run.machine)}", markup=False)
        console.print(run.eager.text)
        console.print()
        console.print(_scenarios(run.found, faster[number] if number else None))
        console.print()
        console.print(_parts(run))
        console.print()
        for line in _words(run):
            console.print(line, markup=False)


def _words(run: LimitsReport) -> list[str]:
    known, outside = run.origin is not MachineOrigin.UNKNOWN, _outside(run)
    most = run.limit == OUTSIDE
    subject = "The replay" if most else "The run"
    lines = [*(outside if most else ()), verdict(run.found, subject, network_known=known), *below_zero(run)]
    lines += _where(run)
    if not known:
        lines.append(f"The run's messages do not show its network; {NAME_ONE}.")
    if run.incomplete:
        lines.append(incomplete_line(run.incomplete))
    if not most:
        lines += outside
    if run.tolerance:
        lines.append(tolerance_text(run.tolerance, network_known=known))
    return lines


def _where(run: LimitsReport) -> list[str]:
    """Say where in the program the run is limited: places of uneven computing, and calls that take long."""
    lines = []
    at = run.lost_at
    if at.uneven and at.uneven[0].excess_ns >= _NEXT * run.found.whole.end_ns:
        lines.append(f"Most uneven, as measured: {uneven_text(at.uneven[0])}.")
    least = _LEAST_NAMED * run.measured_ns * run.found.ranks
    if long := [one for one in at.in_calls[:_CALLS_NAMED] if one.ns >= least]:
        named = ", ".join(f"{one.text} ({units.time(one.ns)})" for one in long)
        lines.append(f"Longest in calls, as measured, all ranks together: {named}.")
    return lines


def _machine_text(machine: Machine) -> str:
    return ", ".join(
        f"{name} {value_text(PARAMETERS[name], PARAMETERS[name].get(machine))}"
        for name in ("latency", "bandwidth", "buses", "links_out", "links_in", "cpus", "speed")
    ).replace("_", " ")


def _scenarios(found: ReplayLimits, faster: list[float | None] | None) -> Table:
    """Make the table of networks: Table 11 of the thesis, and the inverse of its slowdown."""
    table = plain_table("network", "time", "utilisation", "slowdown", *(["speedup"] if faster else []))
    for number, scenario in enumerate(found.scenarios):
        slowdown = scenario.slowdown(found.ideal) if number else None
        cells = [slowdown, *([faster[number]] if faster else [])]
        texts = ["" if cell is None else f"{cell:.2f}" for cell in cells]
        table.add_row(scenario.network, units.time(scenario.end_ns), units.percent(scenario.utilisation), *texts)
    return table


def _parts(run: LimitsReport) -> Table:
    """Make a table of the parts of the replayed time, the largest first, and of the time outside the replay."""
    table = plain_table("where the time goes", "time", "share", "gain without it")
    found, end_ns = run.found, run.found.whole.end_ns
    for part in found.parts:
        if not part.ns and not part.gain_ns:
            continue
        gain = "" if part.gain_ns is None else _signed(part.gain_ns)
        table.add_row(part.name, _signed(part.ns), _share(part.ns, end_ns), gain)
        if part.name == "latency":
            table.add_row("  directly", _signed(found.latency.direct_ns), _share(found.latency.direct_ns, end_ns), "")
            table.add_row(
                "  by blocking", _signed(found.latency.induced_ns), _share(found.latency.induced_ns, end_ns), ""
            )
    table.add_row("= replayed", units.time(end_ns), _share(end_ns, end_ns), "")
    if run.outside_ns is not None:
        table.add_row(f"+ {OUTSIDE}", _signed(run.outside_ns), "", "")
        table.add_row("= as measured", units.time(run.measured_ns), "", "")
    return table


def _signed(ns: float) -> str:
    return f"-{units.time(-ns)}" if ns < 0 else units.time(ns)


def _share(ns: float, whole_ns: int) -> str:
    if not whole_ns:
        return "-"
    return f"{'-' if ns < 0 else ''}{units.percent(abs(ns) / whole_ns)}"


def verdict(found: ReplayLimits, subject: str = "The run", *, network_known: bool = True) -> str:
    """Name the largest part of the time, what may reduce it, and the second largest part."""
    end_ns, limit = found.whole.end_ns, found.limit
    if limit is None:
        return "Nothing limits the run: it takes no time."
    subject = subject if network_known else f"Apart from its network, {subject[0].lower()}{subject[1:]}"
    text = f"{subject} is limited by {_about(limit, end_ns)} of {units.time(end_ns)}{_why(limit, found)}"
    following = found.parts[1]
    if following.ns < _NEXT * end_ns:
        return f"{text} All other parts take less than {100 * _NEXT:.0f} % each.{_gains(found)}"
    return f"{text} Next {_is(following)} {_about(following, end_ns)}{_why(following, found)}{_gains(found)}"


def _about(part: TimeLoss, end_ns: int) -> str:
    return f"{part.name}: {units.time(part.ns)} ({_share(part.ns, end_ns)})"


def _is(part: TimeLoss) -> str:
    return "are" if part.name in ("dependences", "files", "shared CPUs") else "is"


def _why(part: TimeLoss, found: ReplayLimits) -> str:
    return {
        COMPUTATION: ". Faster processors or less work help: see analyze what-if.",
        "load imbalance": f"; rank {found.longest} computes longest. See analyze waits.",
        "dependences": "; ranks wait for each other even where messages cost nothing. See analyze waits.",
        "files": ". Fewer and larger reads and writes help, and those that go on while ranks compute.",
        "shared CPUs": "; ranks wait for a CPU. Fewer ranks on a node help.",
        "latency": f", {_how(found.latency)}. Fewer, larger messages help.",
        "bandwidth": ". Smaller messages help, and messages that travel while ranks compute.",
        "latency and bandwidth together": ": neither alone costs that much. Fewer or smaller messages help.",
        "contention": f"; up to {units.plural(found.most_waiting, 'message')} wait at once, {found.mean_waiting:.3g} "
        "on average. "
        "More buses and links, or messages at different times, help.",
    }[part.name]


def _how(latency: LatencyCost) -> str:
    """Say whether latency costs time directly, or by the waiting that it causes."""
    if latency.induced_ns < _NEXT * latency.extra_ns:
        return "spent on CPUs and in collectives"
    return f"{units.time(latency.direct_ns)} directly and {units.time(latency.induced_ns)} by the waiting that follows"


def _gains(found: ReplayLimits) -> str:
    """Name the cost of the network whose removal gains most, if it is not the largest part. "": not worth naming."""
    tried = [part for part in found.parts if part.gain_ns is not None]
    most, first = max(tried, key=lambda part: part.gain_ns or 0), tried[0]
    gain, less = most.gain_ns or 0, first.gain_ns or 0
    if gain < _NEXT * found.whole.end_ns or gain <= less * (1 + _NEXT):
        return ""
    return (
        f" Without the cost of {most.name} the run would be {units.time(gain)} shorter, without the cost of "
        f"{first.name} {_signed(less)}."
    )


def below_zero(run: LimitsReport) -> list[str]:
    """Explain the parts below 0, in one line for each reason."""
    found, reasons = run.found, dict[str, list[str]]()
    parts = [
        *found.parts,
        TimeLoss("by blocking", round(found.latency.induced_ns)),
        TimeLoss(OUTSIDE, run.outside_ns or 0),
    ]
    for part in parts:
        if part.ns < -_ROUNDED * found.whole.end_ns:
            reasons.setdefault(_BELOW_ZERO.get(part.name, _ANOMALY), []).append(part.name)
    return [f"Below 0: {', '.join(names)}: {reason}." for reason, names in reasons.items()]


_ANOMALY = "it delays something, so that something else goes first and the run ends sooner"
_BELOW_ZERO = {
    "latency and bandwidth together": "they overlap, so that together they cost less than the sum of both",
    "by blocking": "part of the latency falls into times in which ranks wait anyway",
    OUTSIDE: "the replay takes longer than the run took",
}


def _outside(run: LimitsReport) -> list[str]:
    """Say how much time the replay does not cover, if it is more than _NOTEWORTHY of the run."""
    more = run.outside_ns or 0
    line = outside_text(more, run.measured_ns, largest=run.limit == OUTSIDE)
    if not line:
        return []
    start = min(run.starting_ns, more)
    line += f" MPI_Init and MPI_Finalize take {units.time(start)} of it on each rank"
    if more - start < _NEXT * more:
        return [f"{line}.", *waiting_for_cpus(run.cpus)]
    others = "" if run.cpus.sharing else "processors shared with other programs, "
    line += f"; the rest is {_waits(run)}{others}messages slower than the fastest, "
    return [f"{line}and calls that the replay leaves out.", *waiting_for_cpus(run.cpus)]


def outside_text(outside_ns: int, measured_ns: int, *, largest: bool) -> str:
    """Say how much of a run its replay does not cover. "": at most _NOTEWORTHY of the measured time."""
    if outside_ns <= _NOTEWORTHY * measured_ns:
        return ""
    most = "The largest part of the run is" if largest else "Part of the run is"
    share = _share(outside_ns, measured_ns)
    return f"{most} {OUTSIDE}: {units.time(outside_ns)} ({share}) of the {units.time(measured_ns)} as measured."


def _waits(run: LimitsReport) -> str:
    return "waiting for a CPU (the replay gives each rank its own), " if run.cpus.sharing else ""


def tolerance_text(of: Tolerance, *, network_known: bool = True) -> str:
    """Say with which latency, bandwidth and buses the run is at most THRESHOLD longer."""
    latency = "any latency" if of.latency_s is None else f"a latency of up to {_value('latency', of.latency_s)}"
    least = "" if of.bandwidth is None else _value("bandwidth", of.bandwidth)
    bandwidth = f"a bandwidth of {least} or more" if least else "any bandwidth"
    enough = "one message at a time is" if of.buses is None else f"{units.plural(of.buses, 'message')} at a time are"
    return (
        f"On a network that is otherwise ideal the run would be at most {100 * THRESHOLD:.0f} % longer with {latency}, "
        f"or with {bandwidth}.{f' On this network {enough} enough.' if network_known else ''}"
    )


def _value(name: str, value: float) -> str:
    return value_text(PARAMETERS[name], value)


def limits_json(runs: Sequence[LimitsReport]) -> list[dict[str, Any]]:
    """Return the limits of each run for JSON. Times are in s, shares are fractions."""
    faster = speedups([run.found for run in runs])
    return [_run_json(run, speedup) for run, speedup in zip(runs, faster, strict=True)]


def _run_json(run: LimitsReport, faster: list[float | None]) -> dict[str, Any]:
    found = run.found
    names = ("latency", "bandwidth", "buses", "links_out", "links_in", "cpus", "speed")
    values = {name: PARAMETERS[name].get(run.machine) for name in names}
    return {
        "file": run.file,
        "ranks": found.ranks,
        "measured_s": run.measured_ns / 1e9 if run.measured_ns else None,
        "replayed_by": basis_text(cpu_time=run.cpu_time),
        "outside_replay_s": None if run.outside_ns is None else run.outside_ns / 1e9,
        "starting_s": run.starting_ns / 1e9,
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
        "limit": run.limit,
        **lost_at_json(run.lost_at),
        "bears": vars(run.tolerance) if run.tolerance else None,
    }
