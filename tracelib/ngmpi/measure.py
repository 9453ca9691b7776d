"""The course of a measurement, as rank 0 sees it: what is measured next, and when it is enough."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tracelib.ngmpi import refine
from tracelib.ngmpi.crew import MeasuringCrew
from tracelib.ngmpi.series import MOST_ROWS, PairSeries
from tracelib.ngmpi.stopping_rules import StoppingLimits, imprecise
from tracelib.schema.net import SizeOrigin


class StopMeasuring(Exception):
    """The user wants no more."""


@dataclass
class SeriesRunner:
    """`tell` is called after each visit with the seconds gone in this series; it may raise StopMeasuring."""

    crew: MeasuringCrew
    limits: StoppingLimits
    tell: Callable[[PairSeries, float], None]

    def run(self, series: PairSeries) -> None:
        """Measure all of a series."""
        self._begin = time.monotonic()
        if self.limits.repetitions:
            self._repeat(series, self.limits.repetitions)
        else:
            self._until_precise(series)

    def _visit(self, series: PairSeries, sizes: Sequence[int], most_rows: int = MOST_ROWS) -> list[int]:
        rows = series.visit(self.crew, sizes, most_rows)
        self.tell(series, self._gone_s)
        return rows

    @property
    def _gone_s(self) -> float:
        return time.monotonic() - self._begin

    @property
    def _time_is_up(self) -> bool:
        return self._gone_s >= self.limits.time_s

    def _repeat(self, series: PairSeries, repetitions: int) -> None:
        """Round by round over all sizes, a few rows each."""
        left = dict.fromkeys(series.sizes, repetitions)
        while left:
            for size in list(left):
                if self._time_is_up:
                    return
                left[size] -= self._visit(series, [size], min(MOST_ROWS, left[size]))[0]
            left = {size: rows for size, rows in left.items() if rows > 0}

    def _until_precise(self, series: PairSeries) -> None:
        """Pass by pass over all sizes that are not precise yet, so that no disturbance hits all rows of one size."""
        shuffle = random.Random(0).shuffle
        pending = sorted(series.sizes, key=_coarse_first)
        while pending:
            for sizes in series.batches(pending):
                if self._time_is_up:
                    return
                self._visit(series, sizes)
            times = series.times()
            new = [size for size in refine.wanted(times) if size not in series.sizes]
            series.sizes |= dict.fromkeys(new, SizeOrigin.REFINED)
            pending = imprecise(series.sizes, times, self.limits)
            shuffle(pending)
            pending = new + pending


def _coarse_first(size: int) -> tuple[int, int]:
    """Order powers of two first, then sizes that halve their distances, and so on.

    Whenever time is up, sizes are spread evenly.
    """
    trailing = (size & -size).bit_length()
    return size.bit_length() - trailing, size
