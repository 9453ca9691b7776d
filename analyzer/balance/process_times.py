"""Times of processes under a plan: measured in a run, and predicted by the plan.

Source: PEMPIs-Het, figures 4 to 6: the distance from prediction time (DFPT) of each process.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.balance.scaled_program import shared_part
from analyzer.errors import TracelibError
from analyzer.operations.program import program_of
from analyzer.parallel import Team
from analyzer.trace import Trace
from tracelib.schema.shares import Expectation


@dataclass(frozen=True)
class ProcessTimes:
    """Times of each process beside those that the plan expected; arrays by rank, s."""

    file: str
    size: float
    predicted_s: np.ndarray
    measured_s: np.ndarray
    low: float  # ends of the plan's interval, as shares of what is predicted
    high: float

    @property
    def distances(self) -> np.ndarray:
        """DFPT: (measured - predicted) / predicted; NaN where nothing is predicted."""
        distance = self.measured_s - self.predicted_s
        return np.divide(distance, self.predicted_s, np.full(len(distance), np.nan), where=self.predicted_s > 0)

    @property
    def inside(self) -> np.ndarray:
        """Mark the processes (bool) whose measured time is inside the predicted interval."""
        return (self.measured_s >= self.low * self.predicted_s) & (self.measured_s <= self.high * self.predicted_s)


def process_times(
    trace: Trace,
    team: Team,
    size: float,
    predicted_s: tuple[float, ...],
    expected: Expectation,
    *,
    region: str | None,
    cpu_time: bool,
) -> ProcessTimes:
    """Measure what each rank computed of what is shared, beside what the plan says.

    Args:
        trace: A run under the plan.
        team: Who reads it.
        size: Of the problem, as the plan calls it.
        predicted_s: By rank.
        expected: By the plan, at this size.
        region: What is shared; None: all computation.
        cpu_time: Measure CPU time, not time by the clock.

    Raises:
        TracelibError: Nothing is computed, or there is no such region.
    """
    _, computed = shared_part(trace, program_of(trace, team, cpu_time=cpu_time), region)
    if len(predicted_s) != len(computed):
        raise TracelibError(f"the plan is of {len(predicted_s)} ranks, and {trace.path} has {len(computed)}")
    known = expected.time_s > 0
    low, high = (expected.low_s / expected.time_s, expected.high_s / expected.time_s) if known else (1.0, 1.0)
    return ProcessTimes(trace.path, size, np.array(predicted_s), computed / 1e9, low, high)
