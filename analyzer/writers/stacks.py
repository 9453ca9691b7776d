"""Stacks and their times in the forms that other tools read: collapsed stacks, and speedscope's JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.whole import whole_file

Frames = Sequence[tuple[str, str]]
"""Innermost first: function, and `file:line` ("": not known)."""

UNKNOWN = "(not known)"


def write_collapsed(path: str | os.PathLike[str], rows: np.ndarray, frames: Mapping[int, Frames]) -> None:
    """One line for each stack, outermost function first, and its time in microseconds: "main;solve;kernel 1500000".
    rows: `path` and `ns`. Raises TracelibError."""
    sums: dict[str, float] = {}
    for of_path, ns in zip(rows["path"].tolist(), rows["ns"].tolist(), strict=True):
        stack = ";".join(_plain(function) for function, _ in reversed(frames[of_path]))
        sums[stack] = sums.get(stack, 0.0) + ns
    with whole_file(path) as file:
        for stack, ns in sorted(sums.items()):
            if round(ns / 1e3):
                file.write(f"{stack} {round(ns / 1e3)}\n".encode())


def write_speedscope(path: str | os.PathLike[str], name: str, rows: np.ndarray, frames: Mapping[int, Frames]) -> None:
    """A profile for each rank (https://www.speedscope.app/file-format-schema.json). rows: `rank`, `path`, `ns`. Raises
    TracelibError."""
    numbers: dict[tuple[str, str], int] = {}
    stacks = {
        of_path: [numbers.setdefault(frame, len(numbers)) for frame in reversed(found)]
        for of_path, found in frames.items()
    }
    profiles: list[dict[str, Any]] = []
    for rank in np.unique(rows["rank"]).tolist():
        mine = rows[rows["rank"] == rank]
        weights = [round(ns) for ns in mine["ns"].tolist()]
        profiles.append(
            {
                "type": "sampled", "name": f"rank {rank}", "unit": "nanoseconds", "startValue": 0,
                "endValue": sum(weights), "samples": [stacks[p] for p in mine["path"].tolist()], "weights": weights,
            }
        )  # fmt: skip
    whole = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": Path(name).name,
        "exporter": "tracelib",
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(*frame) for frame in numbers]},
        "profiles": profiles,
    }
    with whole_file(path) as file:
        file.write(json.dumps(whole).encode())


def _plain(function: str) -> str:
    return " ".join(function.replace(";", ":").split()) or UNKNOWN


def _frame(function: str, where: str) -> dict[str, Any]:
    file, _, line = where.rpartition(":")
    return {"name": function or UNKNOWN} | ({"file": file, "line": int(line)} if file and line.isdigit() else {})
