"""A prediction as text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from analyzer.operations.operation import Program
from analyzer.replay.simulate import Prediction
from analyzer.report import units

PARTS = {
    "computing": "Computing",
    "overhead": "Sending and receiving (latency on the CPU)",
    "wait_message": "Waiting for messages",
    "wait_send": "Waiting to send",
    "wait_members": "Waiting for others in collectives",
    "collective": "In collectives",
    "wait_access": "Waiting for one-sided operations",
    "wait_semaphore": "Waiting for semaphores",
    "wait_cpu": "Waiting for a CPU",
    "context_switch": "Switching between threads",
    "busy_wait": "Waiting busily",
}
"""Columns of USAGE and what people call them."""


@dataclass(frozen=True)
class Replayed:
    """One replay of one or more runs."""

    files: tuple[str, ...]
    measured_ns: tuple[int, ...]
    programs: tuple[Program, ...]
    prediction: Prediction
    written: Path | None = None


def print_replay(replayed: Replayed, console: Console) -> None:
    """The predicted time beside the measured one, and where it goes."""
    prediction = replayed.prediction
    for file, measured in zip(replayed.files, replayed.measured_ns, strict=True):
        if measured:
            console.print(f"{Path(file).name} took {units.time(measured)}", markup=False)
    console.print(f"Predicted: {units.time(prediction.end_ns)}{_ratio(replayed)}", markup=False)
    console.print()
    console.print(_table(prediction))
    messages = int(prediction.usage["sends"].sum())
    console.print()
    console.print(f"{units.plural(messages, 'message')}, {units.size(int(prediction.usage['bytes'].sum()))}")
    if prediction.most_waiting:
        console.print(f"At most {units.plural(prediction.most_waiting, 'message')} waited for links and buses at once")
    if prediction.unreceived:
        console.print(f"{units.plural(prediction.unreceived, 'message')} nobody received")


def _ratio(replayed: Replayed) -> str:
    if len(replayed.files) != 1 or not replayed.measured_ns[0]:
        return ""
    return f", {replayed.prediction.end_ns / replayed.measured_ns[0]:.3f} of that"


def _table(prediction: Prediction) -> Table:
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


def replay_json(replayed: Replayed) -> dict[str, Any]:
    """Seconds under stable names; the parts as sums over all ranks and by rank."""
    prediction = replayed.prediction
    usage = prediction.usage
    data: dict[str, Any] = {
        "files": list(replayed.files),
        "measured_s": [ns / 1e9 if ns else None for ns in replayed.measured_ns],  # a Dimemas trace has none
        "predicted_s": prediction.end_ns / 1e9,
        "messages": int(usage["sends"].sum()),
        "bytes": int(usage["bytes"].sum()),
        "most_waiting": prediction.most_waiting,
        "unreceived": prediction.unreceived,
        "parts_s": {column: int(usage[column].sum()) / 1e9 for column in PARTS},
        "ranks": [
            {"application": application, "rank": rank, "end_s": int(row["end"]) / 1e9}
            | {column: int(row[column]) / 1e9 for column in PARTS}
            for (application, rank), row in zip(_streams(replayed.programs), usage, strict=True)
        ],
    }
    if len(prediction.runs) > len(replayed.files):
        data["runs"] = [
            {"application": int(r["application"]), "begin_s": int(r["begin"]) / 1e9, "end_s": int(r["end"]) / 1e9}
            for r in prediction.runs
        ]
    if replayed.written:
        data["written"] = str(replayed.written)
    return data


def _seconds(values: Sequence[int] | np.ndarray) -> list[float]:
    return [int(v) / 1e9 for v in values]


def _streams(programs: Sequence[Program]) -> list[tuple[int, int]]:
    return [(number, int(rank)) for number, program in enumerate(programs) for rank in program.rank]
