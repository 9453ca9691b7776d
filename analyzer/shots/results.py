"""Results of a study: outputs of the good shots, and why the other shots have none."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean

import numpy as np

from analyzer.atomic_file import whole_file
from analyzer.errors import TracelibError
from analyzer.montecarlo.spread import ResultSpread, are_known, spread_of
from analyzer.shots.plan import ShotPlan
from analyzer.shots.shot_records import ShotOutcome, ShotRecord


@dataclass(frozen=True)
class HostShare:
    """Number and response time of the shots that one host ran."""

    name: str
    shots: int
    response_s: float  # mean response time of the shots that were not lost; NaN if there are none


@dataclass(frozen=True)
class ShotResults:
    """The shots of a study that count, in the order of their numbers."""

    plan: ShotPlan
    records: Sequence[ShotRecord]

    def __post_init__(self) -> None:
        """Check that at least one shot is good.

        Raises:
            TracelibError: No shot gave a result.
        """
        if not self.good:
            raise TracelibError(
                f"none of {len(self.records)} shots gave a result; shot 1: {self.records[0].error}",
                "look into its folder; --retry runs those shots again",
            )

    @property
    def good(self) -> list[ShotRecord]:
        """The records of the shots that gave all outputs."""
        return [record for record in self.records if record.kind is ShotOutcome.GOOD]

    @property
    def values(self) -> np.ndarray:
        """Variables of the good shots, float64 of shape (good shots, variables)."""
        return self.plan.values[[record.shot - 1 for record in self.good]]

    @property
    def outputs(self) -> np.ndarray:
        """Outputs of the good shots, float64 of shape (good shots, outputs)."""
        return np.array([[record.outputs[output.name] for output in self.plan.outputs] for record in self.good])

    def spreads(self) -> list[ResultSpread]:
        """Compute the spread of each output, and its correlation with each variable."""
        values = self.values
        return [spread_of(values, column) for column in self.outputs.T]

    @property
    def stable(self) -> bool | None:
        """True if the means of all outputs are known to the precision `until`. None: the study has no `until`."""
        return None if self.plan.until is None else are_known(self.outputs, self.plan.until)

    def troubles(self) -> dict[tuple[ShotOutcome, str], list[int]]:
        """Return the numbers of the shots without a result, by outcome and reason."""
        found: dict[tuple[ShotOutcome, str], list[int]] = {}
        for record in self.records:
            if record.kind is not ShotOutcome.GOOD:
                found.setdefault((record.kind, record.error), []).append(record.shot)
        return found

    def hosts(self) -> list[HostShare]:
        """Return the share of each host, hosts with most shots first."""
        counts = Counter(record.host for record in self.records)
        return [
            HostShare(name, shots, fmean(times) if (times := self._times(name)) else nan)
            for name, shots in sorted(counts.items(), key=lambda of: (-of[1], of[0]))
        ]

    def _times(self, host: str) -> list[float]:
        return [
            record.seconds for record in self.records if record.host == host and record.kind is not ShotOutcome.LOST
        ]

    def write_csv(self, path: Path) -> None:
        """Write a CSV table with a line for each shot. Outputs that a shot did not give are empty cells.

        Raises:
            TracelibError: The file cannot be written.
        """
        names = [of.name for of in self.plan.varied], [output.name for output in self.plan.outputs]
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["shot", *names[0], *names[1], "ended", "host", "seconds"])
        for record in self.records:
            drawn = self.plan.named(record.shot, self.plan.values[record.shot - 1], record.host)
            outputs = [record.outputs.get(name, "") for name in names[1]]
            row = [record.shot, *(drawn[name] for name in names[0]), *outputs]
            table.writerow([*row, record.kind.value, record.host, f"{record.seconds:.3f}"])
        with whole_file(path) as file:
            file.write(text.getvalue().encode())
