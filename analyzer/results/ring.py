"""Result of `analyze ring`: the synthetic application of the scheduling studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.report.words import units
from analyzer.results.result import Result, print_lines
from analyzer.scheduling.ring import RingProgram


@dataclass(frozen=True, repr=False)
class RingResult(Result):
    """A ring, and the file that it was written into."""

    _ring: RingProgram
    path: Path

    def to_dict(self) -> dict[str, Any]:
        ring = self._ring
        return {
            "tasks": ring.tasks, "iterations": ring.iterations, "compute_s": ring.compute_ns / 1e9,
            "compute_after_s": ring.after_ns / 1e9, "demand": ring.demand / 100, "cycle_s": ring.cycle_ns / 1e9,
            "size_bytes": ring.size_bytes, "priorities": str(ring.records), "written": str(self.path),
        }  # fmt: skip

    def print(self, console: Console) -> None:
        ring, path = self._ring, self.path
        computes = f"{units.time(ring.compute_ns)} before and {units.time(ring.after_ns)} after sending"
        following = f"analyze replay {path}" if path.suffix == ".dim" else f"analyze {path}"
        lines = [
            f"{path}: {ring.tasks} tasks, {ring.iterations} iterations; a task computes {computes}",
            f"Alone on an ideal machine an iteration takes {units.time(ring.cycle_ns)} "
            f"({1e9 / ring.cycle_ns:.2f} iterations per second)",
            f"Next: {following}",
        ]
        print_lines(console, lines)
