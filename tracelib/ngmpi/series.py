"""Series of measurements of pairs that are treated as one, and the sizes to measure next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tracelib.ngmpi.crew import MOST_ROUNDS, MeasuringCrew
from tracelib.ngmpi.loop import COLUMNS, MeasuringOrder
from tracelib.ngmpi.pairs import Pair, PairGroup
from tracelib.schema import net
from tracelib.schema.net import RowFlag, SizeOrigin
from tracelib.schema.prtt import SizeTimes, size_times

VISIT_S, MOST_ROWS = 0.01, 5
"""Time in s that a visit of one size takes, and its largest number of rows.

A disturbance of some milliseconds, or a change of the network's speed, so affects many sizes a little and none much."""
ROW_S, LEAST_ROW_S = 0.008, 0.0002
"""Trains are shortened where a row would take longer than the first time, because long rows are disturbed more often.
Where other processes use the processors, this time is lowered until rows succeed, but not below the second one."""
MOST_HIT, SHORTER, LONGER = 0.5, 0.7, 1.1
"""If more than the first share of a visit's rows is disturbed, rows become shorter by the second factor; while none is,
they become longer by the third."""
LEAST_TRAIN, LEAST_DISTURBED_TRAIN = 4, 2
LONGEST_WARM_UP_S = 0.02
"""A row that takes longer than this, in s, needs no warm-up."""
OUT_OF_PROPORTION = 3
"""A PRTT(1,0,s) of at least this many times the shortest one does not determine the delay."""
FIRST_DELAY_S, SLOW_S_PER_BYTE = 0.002, 2e-8
"""Longest delay while no PRTT is known, and longest round trip of a byte while no PRTT of the size is known. Without
these, a PRTT in which a rank lost its processor would make the delays take seconds."""


@dataclass
class _Visit:
    """Plan for pairs that measure one size at the same time."""

    pairs: list[Pair]
    order: MeasuringOrder  # of each, but for who it is
    warm_up: int  # rows that do not count
    row_s: float  # what a row is expected to take

    def orders(self) -> list[MeasuringOrder]:
        """Return one order for each pair."""
        return [replace(self.order, first=first, second=second) for first, second in self.pairs]


@dataclass
class PairSeries:
    """Measured rows of one group of pairs. `numbers` has the row of each pair in the file's table `pairs`."""

    group: PairGroup
    numbers: dict[Pair, int]
    sizes: dict[int, SizeOrigin]
    train: int
    may_shorten: bool
    warm_up: int
    receiver: bool = False  # measured as well
    parts: list[np.ndarray] = field(default_factory=list)
    receiver_parts: list[np.ndarray] = field(default_factory=list)
    _one_s: dict[int, float] = field(default_factory=dict)  # the best of each size
    _row_s: float = ROW_S  # how long a row may take, as things are
    _counts: dict[tuple[Pair, int], int] = field(default_factory=dict)

    def batches(self, sizes: Iterable[int]) -> Iterator[list[int]]:
        """Yield groups of sizes to visit together.

        A size that was not measured yet comes alone, because its time decides how it is measured.
        """
        batch: list[int] = []
        for size in sizes:
            if batch and (len(batch) == MOST_ROUNDS or size not in self._one_s):
                yield batch
                batch = []
            batch.append(size)
            if size not in self._one_s:
                yield batch
                batch = []
        if batch:
            yield batch

    def visit(self, crew: MeasuringCrew, sizes: Sequence[int], most_rows: int = MOST_ROWS) -> list[int]:
        """Measure each size a few times, one size after the other.

        Returns:
            For each size, the number of rows of a pair that count.
        """
        visits = [self._visit(size, most_rows) for size in sizes]
        for visit, results in zip(visits, crew.carry_out([visit.orders() for visit in visits]), strict=True):
            for pair, values in zip(visit.pairs, results, strict=True):
                self._take(pair, _rows(self.numbers[pair], visit.order, values), visit.warm_up, visit.row_s)
        if self.receiver:
            for visit in visits:
                visit.order = replace(visit.order, receiver=True, most_delay_s=2 * self._one_s[visit.order.size])
            for visit, results in zip(visits, crew.carry_out([visit.orders() for visit in visits]), strict=True):
                for pair, values in zip(visit.pairs, results, strict=True):
                    rows = _rows(self.numbers[pair], visit.order, values)
                    rows["flags"][: visit.warm_up] |= np.uint32(RowFlag.WARM_UP)
                    self.receiver_parts.append(rows)
        return [visit.order.rows - visit.warm_up for visit in visits]

    def _visit(self, size: int, most_rows: int) -> _Visit:
        """Plan how a size is measured next, and by which pairs."""
        one_s = self._expected_one_s(size)
        train = self._train(one_s)
        row_s = one_s * (3 * train - 1.5) if one_s else VISIT_S / 5
        warm_up = self.warm_up if row_s < LONGEST_WARM_UP_S else 0
        rows = warm_up + int(np.clip(VISIT_S / row_s, 1, most_rows))
        most_delay_s = 2 * OUT_OF_PROPORTION * one_s or FIRST_DELAY_S
        return _Visit(self.group.next(), MeasuringOrder(0, 0, size, train, rows, False, most_delay_s), warm_up, row_s)

    def _take(self, pair: Pair, rows: np.ndarray, warm_up: int, row_s: float) -> None:
        size = int(rows["size"][0])
        before = self._counts.get((pair, size), 0)
        self._counts[pair, size] = before + len(rows)
        rows["repetition"] = before + np.arange(len(rows))
        rows["flags"][:warm_up] |= np.uint32(RowFlag.WARM_UP)
        self.parts.append(rows)
        kept = rows[warm_up:]
        self._one_s[size] = min(self._one_s.get(size, np.inf), float(kept["one_s"].min()))
        hit = (kept["flags"] & (RowFlag.HIT_TRAIN | RowFlag.HIT_DELAYED) > 0).mean()
        if hit > MOST_HIT:
            self._row_s = max(LEAST_ROW_S, SHORTER * min(self._row_s, row_s))
        elif not hit:
            self._row_s = min(ROW_S, LONGER * self._row_s)

    def _expected_one_s(self, size: int) -> float:
        """Return the expected PRTT(1,0,s); 0: unknown.

        For a size that was not measured it is the next smaller one's, in proportion, or at the rate of a slow network
        if that is less.
        """
        known = max((s for s in self._one_s if s <= size), default=0)
        if not known:
            return 0.0
        return min(self._one_s[known] * size / known, self._one_s[known] + SLOW_S_PER_BYTE * (size - known))

    def _train(self, one_s: float) -> int:
        """Return the messages of a train.

        A row with n of them takes about 3 n - 1.5 times PRTT(1,0,s), most of that in delays.
        """
        if not self.may_shorten or not one_s:
            return self.train
        least = LEAST_TRAIN if self._row_s == ROW_S else LEAST_DISTURBED_TRAIN
        return min(self.train, max(least, int((self._row_s / one_s + 1.5) / 3)))

    def times(self) -> SizeTimes:
        """Return overhead T_o and gap T_g of each size, from all rows so far."""
        return size_times(np.concatenate(self.parts))


def _rows(pair: int, order: MeasuringOrder, values: np.ndarray) -> np.ndarray:
    """Return rows of the file, but for `repetition`, from the loop's measurements."""
    rows = np.zeros(len(values), net.RECEIVER if order.receiver else net.ROW)
    rows["pair"], rows["size"], rows["train"] = pair, order.size, order.train
    for name, column in zip(COLUMNS[order.receiver], values.T, strict=True):
        rows["flags" if name == "flags" else f"{name}_s"] = column
    rows["waited_s"] /= order.train - 1
    return rows
