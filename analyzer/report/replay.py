"""The prediction of a replay, as text and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.machine.description import Machine
from analyzer.places import Places
from analyzer.program.model import Program
from analyzer.replay.by_place import PlaceComparison
from analyzer.replay.simulate import ReplayPrediction
from analyzer.report.words import units
from analyzer.report.words.eager import eager_json, eager_text
from analyzer.report.words.left_out import incomplete_line
from analyzer.report.words.replays import basis_phrase, basis_text
from analyzer.report.words.table import plain_table
from analyzer.report.words.units import file_names
from analyzer.scheduling.sharing import SharingTimes

PARTS = {
    "computing": "Computing",
    "overhead": "Sending and receiving (latency on the CPU)",
    "wait_message": "Waiting for messages",
    "wait_send": "Waiting to send",
    "wait_members": "Waiting for others in collectives",
    "collective": "In collectives",
    "wait_access": "Waiting for one-sided operations",
    "wait_file": "Opening, reading and writing files",
    "wait_semaphore": "Waiting for semaphores",
    "wait_cpu": "Waiting for a CPU",
    "context_switch": "Switching between threads",
    "busy_wait": "Busy waiting",
}
"""Names in reports of the columns of USAGE."""

MOST_CHANGES = 10
_TIMES = ("measured_ns", "predicted_ns")

CPU_TIME = "Computing is the CPU time that the ranks used, not the time that passed outside MPI."


@dataclass(frozen=True)
class ReplayReport:
    """One replay of one or several runs.

    Attributes:
        measured_ns: Measured time of each run; 0: a Dimemas trace.
        closed: Times if several runs share the machine and begin again and again.
        lacking: Parts of the runs that are missing, in one line.
        changes: Predicted time of calls by place; empty: not asked for.
        places: Names for `changes`.
    """

    files: tuple[str, ...]
    measured_ns: tuple[int, ...]
    programs: tuple[Program, ...]
    prediction: ReplayPrediction
    machine: Machine
    written: Path | None = None
    closed: SharingTimes | None = None  # if several runs begin again and again
    lacking: str = ""  # parts of the runs that are missing, in one line
    changes: Sequence[PlaceComparison] = ()  # by place; empty: not asked for
    places: Places | None = None  # names of the places of `changes`

    @property
    def begin_again(self) -> bool:
        """Whether applications begin again, so that there are more runs than applications."""
        return len(self.prediction.runs) > len(self.files)


def print_replay(replayed: ReplayReport, console: Console) -> None:
    """Print the predicted and the measured time of each run, the parts of the predicted time, and messages."""
    prediction, names = replayed.prediction, file_names(replayed.files)
    for file, measured in zip(replayed.files, replayed.measured_ns, strict=True):
        if measured:
            console.print(f"{names[file]} took {units.time(measured)}", markup=False)
    console.print(f"Predicted {_by(replayed)}: {units.time(prediction.end_ns)}{_ratio(replayed)}", markup=False)
    console.print()
    console.print(_table(prediction))
    if replayed.changes and replayed.places:
        console.print()
        console.print(_changes_table(replayed.changes, replayed.places))
    messages = int(prediction.usage["sends"].sum())
    console.print()
    if any(program.cpu_time for program in replayed.programs):
        console.print(CPU_TIME)
    console.print(f"{units.plural(messages, 'message')}, {units.size(int(prediction.usage['bytes'].sum()))}")
    console.print(_utilisation(prediction))
    if messages:
        console.print(eager_text(replayed.machine, replayed.programs))
    if prediction.most_waiting:
        most = units.plural(prediction.most_waiting, "message")
        console.print(f"At most {most} waited for links and buses at once, on average {prediction.mean_waiting:.3g}")
    if prediction.unreceived:
        were = units.verb(prediction.unreceived, "was", "were")
        console.print(f"{units.plural(prediction.unreceived, 'message')} {were} never received")
    if replayed.lacking:
        console.print(incomplete_line(replayed.lacking), markup=False)
    if replayed.closed:
        _print_closed(replayed.files, replayed.closed, console)
    elif replayed.begin_again:
        _print_runs(replayed.files, prediction.runs, console)


def _changes_table(changes: Sequence[PlaceComparison], places: Places) -> Table:
    """Make a table of the calls whose time changes most, summed over all ranks."""
    table = plain_table("Time in calls, by place", "MPI_", "calls", "measured", "predicted", "change")
    for c in changes[:MOST_CHANGES]:
        sign = "-" if c.more_ns < 0 else "+" if c.more_ns else ""
        times = (units.time(c.measured_ns), units.time(c.predicted_ns), f"{sign}{units.time(abs(c.more_ns))}")
        table.add_row(Text(places.text(c.place)), c.procedure.removeprefix("MPI_"), units.count(c.count), *times)
    if len(changes) > MOST_CHANGES:
        measured, predicted = (sum(getattr(c, name) for c in changes[MOST_CHANGES:]) for name in _TIMES)
        table.add_row(f"{len(changes) - MOST_CHANGES} more", "", "", units.time(measured), units.time(predicted))
    return table


def _by(replayed: ReplayReport) -> str:
    """Say how bursts are measured, with each way if the runs differ."""
    return " and ".join(dict.fromkeys(basis_phrase(cpu_time=way) for way in _ways(replayed)))


def _ways(replayed: ReplayReport) -> list[bool | None]:
    """Return for each run: True, bursts are CPU time; False, wall-clock time; None, as a Dimemas trace has them."""
    pairs = zip(replayed.programs, replayed.measured_ns, strict=True)
    return [program.cpu_time if measured else None for program, measured in pairs]


def utilisation(usage: np.ndarray, end_ns: int, *columns: str) -> float:
    """Return the share of the time of all threads, from 0 to the end of the last one, in these columns of USAGE."""
    return float(sum(usage[column].sum() for column in columns)) / (len(usage) * end_ns) if end_ns else 0.0


def _utilisation(prediction: ReplayPrediction) -> str:
    usage, end_ns = prediction.usage, prediction.end_ns
    said = f"Utilisation {units.percent(utilisation(usage, end_ns, 'computing'))}"
    if usage["overhead"].any():
        said += f" ({units.percent(utilisation(usage, end_ns, 'computing', 'overhead'))} with latency on the CPU)"
    received, late = int(usage["receives"].sum()), int(usage["late_receives"].sum())
    return f"{said}; {late} of {received} receives were posted after their message had arrived" if received else said


def _ratio(replayed: ReplayReport) -> str:
    if len(replayed.files) != 1 or not replayed.measured_ns[0]:
        return ""
    return f", {replayed.prediction.end_ns / replayed.measured_ns[0]:.3f} times the measured time"


def _table(prediction: ReplayPrediction) -> Table:
    usage = prediction.usage
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("")
    for name in ("share", "mean", "least", "most"):
        table.add_column(name, justify="right", no_wrap=True)
    whole = max(float(usage["end"].sum()), 1.0)
    for column, label in PARTS.items():
        values = usage[column]
        if values.any():
            share = units.percent(float(values.sum()) / whole)
            times = (units.time(float(x)) for x in (values.mean(), values.min(), values.max()))
            table.add_row(label, share, *times)
    return table


def _print_closed(files: Sequence[str], closed: SharingTimes, console: Console) -> None:
    """Print what sharing a machine costs each application, and whether it pays."""
    names = file_names(files)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for name in ("", "alone", "together", "runs", "speed kept"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for file, alone, together, runs, speed in zip(
        files, closed.alone, closed.together, closed.runs, closed.speeds, strict=True
    ):
        times = (units.time(seconds * 1e9) for seconds in (alone, together))
        table.add_row(names[file], *times, str(runs), units.percent(speed))
    console.print()
    console.print(table)
    console.print()
    console.print(
        f"Together they do {closed.shared_throughput:.4g} runs/s, one after the other {closed.batch_throughput:.4g}; "
        f"the speeds kept add up to {closed.gain:.2f}: sharing {'pays' if closed.gain > 1 else 'does not pay'}"
    )
    least = files[closed.speeds.index(min(closed.speeds))]
    share = f"1/{len(files)} of its speed"
    fair = f"Fair: each keeps at least {share}"
    console.print(fair if closed.fair else f"Not fair: {names[least]} keeps less than {share}")


def _print_runs(files: Sequence[str], runs: np.ndarray, console: Console) -> None:
    """Print the times of runs that are not compared with a run alone.

    They belong to one application, or to several that communicate.
    """
    console.print()
    names = file_names(files)
    for number, file in enumerate(files):
        mine = runs[runs["application"] == number]
        mean = units.time(float((mine["end"] - mine["begin"]).mean()))
        console.print(f"{names[file]}: {units.plural(len(mine), 'run')}, on average {mean}", markup=False)
    if len(files) > 1:
        console.print("They send messages to each other, so none can be replayed alone for comparison.")


def replay_json(replayed: ReplayReport) -> dict[str, Any]:
    """Return the prediction for JSON. Times are in s; parts are sums over all ranks, and by rank."""
    prediction = replayed.prediction
    usage = prediction.usage
    data: dict[str, Any] = {
        "files": list(replayed.files),
        "measured_s": [ns / 1e9 if ns else None for ns in replayed.measured_ns],  # a Dimemas trace has none
        "predicted_s": prediction.end_ns / 1e9,
        "replayed_by": [basis_text(cpu_time=way) for way in _ways(replayed)],
        "cpu_time": [program.cpu_time for program in replayed.programs],  # bursts are; else the time that passed
        "eager": eager_json(replayed.machine, replayed.programs),
        "messages": int(usage["sends"].sum()),
        "bytes": int(usage["bytes"].sum()),
        "most_waiting": prediction.most_waiting,
        "mean_waiting": prediction.mean_waiting,
        "unreceived": prediction.unreceived,
        "utilisation": utilisation(usage, prediction.end_ns, "computing"),
        "utilisation_with_latency": utilisation(usage, prediction.end_ns, "computing", "overhead"),
        "received": int(usage["receives"].sum()),
        "received_late": int(usage["late_receives"].sum()),  # after their message arrived
        "incomplete": replayed.lacking,
        "parts_s": {column: int(usage[column].sum()) / 1e9 for column in PARTS},
        "ranks": [
            {"application": application, "rank": rank, "end_s": int(row["end"]) / 1e9}
            | {column: int(row[column]) / 1e9 for column in PARTS}
            for (application, rank), row in zip(_streams(replayed.programs), usage, strict=True)
        ],
    }
    if replayed.begin_again:
        data["runs"] = [
            {"application": int(r["application"]), "begin_s": int(r["begin"]) / 1e9, "end_s": int(r["end"]) / 1e9}
            for r in prediction.runs
        ]
    if replayed.closed:
        data["closed"] = _closed_json(replayed.closed)
    if replayed.changes and replayed.places:
        data["places"] = [
            {"place": replayed.places.location(c.place) or replayed.places.text(c.place),
             "function": replayed.places.function(c.place), "call": c.procedure, "count": c.count,
             "measured_s": c.measured_ns / 1e9, "predicted_s": c.predicted_ns / 1e9}
            for c in replayed.changes
        ]  # fmt: skip
    if replayed.written:
        data["written"] = str(replayed.written)
    return data


def _closed_json(closed: SharingTimes) -> dict[str, Any]:
    return {
        "alone_s": list(closed.alone), "together_s": list(closed.together), "runs": list(closed.runs),
        "speeds": closed.speeds, "gain": closed.gain, "stretch_ratio": closed.ratio, "fair": closed.fair,
        "shared_throughput": closed.shared_throughput, "batch_throughput": closed.batch_throughput,
    }  # fmt: skip


def _streams(programs: Sequence[Program]) -> list[tuple[int, int]]:
    return [(number, int(rank)) for number, program in enumerate(programs) for rank in program.rank]
