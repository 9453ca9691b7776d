"""Compares measured and predicted times of calls by the place in the program that the calls come from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from analyzer.pairing.call_paths import calls_with_paths
from analyzer.program.model import Program
from analyzer.replay.predicted import CallTimes
from analyzer.replay.simulate import ReplayPrediction
from analyzer.trace import CallPaths, Trace


@dataclass(frozen=True)
class PlaceComparison:
    """Calls of one procedure from one place: their number, and the time in them, summed over the ranks."""

    place: int  # index in Places; 0: not known
    procedure: str
    count: int
    measured_ns: int
    predicted_ns: int

    @property
    def more_ns(self) -> int:
        """Predicted minus measured time, ns."""
        return self.predicted_ns - self.measured_ns


def changes_by_place(trace: Trace, program: Program, prediction: ReplayPrediction) -> list[PlaceComparison]:
    """Compare the time in calls by place, the largest change first.

    Args:
        trace: The measured run.
        program: Its program.
        prediction: Replay of this program alone, with `times`.
    """
    places = trace.extra(CallPaths).named()
    width = np.int64(max(len(trace.procedures), 1))
    sums: dict[int, np.ndarray] = defaultdict(lambda: np.zeros(3, np.int64))
    for rank in range(trace.size):
        times = CallTimes(program, prediction, rank)
        for calls, paths in calls_with_paths(trace, rank):
            enter, leave = times.next(calls["thread"])
            keys, which = np.unique(places.place[paths] * width + calls["call"], return_inverse=True)
            for column, values in enumerate((calls["count"], calls["inside"], leave - enter)):
                added = np.zeros(len(keys), np.int64)
                np.add.at(added, which, values)
                for key, value in zip(keys.tolist(), added.tolist(), strict=True):
                    sums[key][column] += value
    found = [
        PlaceComparison(key // int(width), trace.procedures[key % int(width)], *map(int, of_key))
        for key, of_key in sums.items()
    ]
    return sorted(found, key=lambda c: (-abs(c.more_ns), c.place, c.procedure))
