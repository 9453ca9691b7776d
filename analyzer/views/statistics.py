"""Statistics of the cells of a histogram, and the sums from which they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from analyzer.views.function import Function
from analyzer.views.lanes import ViewRows
from analyzer.views.run import SelectedRecords
from analyzer.views.steps import StepSorter
from analyzer.views.thread.messages import DESTINATION, SOURCE, lane_of

_NS = 1e9


class StatisticCells:
    """Sums over the pieces of time and the messages of each cell, for cells of shape (planes, rows, columns)."""

    def __init__(self, shape: tuple[int, int, int], interval_ns: int, *, of_messages: bool) -> None:
        self._shape, self.interval = shape, interval_ns
        cells = int(np.prod(shape))
        size, messages = (0, cells) if of_messages else (cells, 0)
        self.time, self.integral, self.count, self.total = np.zeros((4, size))
        self.controlled, self.nonzero, self.nonzero_count = np.zeros((3, size))  # control, or data, is not 0
        self.mean, self.squares = np.zeros((2, size))  # lengths of pieces: mean, sum of squared deviations
        self.highest, self.lowest = np.full(size, -inf), np.full(size, inf)
        self.number, self.bytes, self.largest = np.zeros((3, 2, messages))  # messages, received and sent
        self.smallest = np.full((2, messages), inf)

    def add(
        self, plane: np.ndarray, row: np.ndarray, column: np.ndarray, length: np.ndarray, control: np.ndarray,
        value: np.ndarray,
    ) -> None:  # fmt: skip
        """Add pieces of time to their cells.

        Args:
            plane: Plane of each piece; -1: the piece does not count.
            row: Row of each piece.
            column: Column of each piece; -1: the piece does not count.
            length: Length of each piece in ns.
            control: Value of the control view in each piece.
            value: Value of the data view in each piece.
        """
        inside = (plane >= 0) & (column >= 0)
        at = self._at(plane, row, column)[inside]
        length, value, size = length[inside].astype(np.float64), value[inside], len(self.time)
        self.controlled += np.bincount(at, np.where(control[inside] != 0, length, 0.0), size)
        self.time += np.bincount(at, length, size)
        self.integral += np.bincount(at, length * value, size)
        self.nonzero += np.bincount(at, np.where(value != 0, length, 0.0), size)
        self.nonzero_count += np.bincount(at, value != 0, size)
        self.total += np.bincount(at, value, size)
        np.maximum.at(self.highest, at, value)
        np.minimum.at(self.lowest, at, value)
        count = np.bincount(at, minlength=size)
        mean = np.bincount(at, length, size) / np.maximum(count, 1)
        squares = np.bincount(at, (length - mean[at]) ** 2, size)
        both, apart = self.count + count, mean - self.mean
        share = count / np.maximum(both, 1)
        self.squares += np.where(count > 0, squares + apart**2 * self.count * share, 0.0)
        self.mean += np.where(count > 0, apart * share, 0.0)
        self.count = both

    def add_messages(
        self, plane: np.ndarray, row: np.ndarray, column: np.ndarray, size: np.ndarray, *, is_send: bool
    ) -> None:
        """Add messages that are sent (`is_send`) or received while a row is in a cell.

        Args:
            plane: Plane of each message; -1: the message does not count.
            row: Row of each message.
            column: Column of each message; -1: the message does not count.
            size: Bytes of each message.
            is_send: True: the messages are sent. False: they are received.
        """
        inside = (plane >= 0) & (column >= 0)
        at, size, side = self._at(plane, row, column)[inside], size[inside], int(is_send)
        self.number[side] += np.bincount(at, minlength=len(self.number[side]))
        self.bytes[side] += np.bincount(at, size, len(self.bytes[side]))
        np.maximum.at(self.largest[side], at, size)
        np.minimum.at(self.smallest[side], at, size)

    def values(self, statistic: str) -> np.ndarray:
        """Return a statistic of each cell, float64 of shape (planes, rows, columns). NaN: not defined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(STATISTICS[statistic].of(self), np.float64).reshape(self._shape)

    def share_of_row(self, values: np.ndarray) -> np.ndarray:
        """Return values as percentages of the sum over the columns of the same row and plane."""
        cube = values.reshape(self._shape)
        whole = cube.sum(axis=2, keepdims=True)
        return np.where(whole > 0, 100 * cube / np.where(whole > 0, whole, 1.0), 0.0).ravel()

    def _at(self, plane: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        return (plane * self._shape[1] + row) * self._shape[2] + column


@dataclass(frozen=True)
class ViewStatistic:
    """A statistic: its formula from StatisticCells, and its unit; "value" stands for the unit of the data view."""

    of: Callable[[StatisticCells], np.ndarray]
    unit: str = ""
    messages: bool = False
    adds: bool = True  # whether adding its values over rows makes sense


def _known(count: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.where(count > 0, values, np.nan)


def _of_messages(name: str, side: int) -> dict[str, ViewStatistic]:
    verb = ("received", "sent")[side]
    return {
        name: ViewStatistic(lambda c: c.number[side], "", messages=True),
        f"bytes {verb}": ViewStatistic(lambda c: c.bytes[side], "bytes", messages=True),
        f"average bytes {verb}": ViewStatistic(
            lambda c: _known(c.number[side], c.bytes[side] / c.number[side]), "bytes", messages=True, adds=False
        ),
        f"minimum bytes {verb}": ViewStatistic(
            lambda c: _known(c.number[side], c.smallest[side]), "bytes", messages=True, adds=False
        ),
        f"maximum bytes {verb}": ViewStatistic(
            lambda c: _known(c.number[side], c.largest[side]), "bytes", messages=True, adds=False
        ),
    }


STATISTICS: dict[str, ViewStatistic] = {
    "time": ViewStatistic(lambda c: c.time / _NS, "s"),
    "% time": ViewStatistic(lambda c: c.share_of_row(c.time), "%", adds=False),
    "% time not zero": ViewStatistic(lambda c: c.share_of_row(c.controlled), "%", adds=False),
    "% window time": ViewStatistic(lambda c: 100 * c.time / c.interval, "%", adds=False),
    "bursts": ViewStatistic(lambda c: c.count),
    "bursts not zero": ViewStatistic(lambda c: c.nonzero_count),
    "% bursts": ViewStatistic(lambda c: c.share_of_row(c.count), "%", adds=False),
    "integral": ViewStatistic(lambda c: c.integral / _NS, "value s"),
    "average value": ViewStatistic(lambda c: _known(c.time, c.integral / c.time), "value", adds=False),
    "average value not zero": ViewStatistic(lambda c: _known(c.nonzero, c.integral / c.nonzero), "value", adds=False),
    "maximum": ViewStatistic(lambda c: _known(c.count, c.highest), "value", adds=False),
    "minimum": ViewStatistic(lambda c: _known(c.count, c.lowest), "value", adds=False),
    "average burst time": ViewStatistic(lambda c: _known(c.count, c.mean / _NS), "s", adds=False),
    "deviation of burst time": ViewStatistic(
        lambda c: _known(c.count, np.sqrt(c.squares / c.count) / _NS), "s", adds=False
    ),
    "average per burst": ViewStatistic(lambda c: _known(c.count, c.total / c.count), "value", adds=False),
    "average per burst not zero": ViewStatistic(
        lambda c: _known(c.nonzero_count, c.total / c.nonzero_count), "value", adds=False
    ),
    "sum of bursts": ViewStatistic(lambda c: c.total, "value"),
    **_of_messages("sends", 1),
    **_of_messages("receives", 0),
}
"""Statistics of a histogram by name.

A burst of a cell is a piece of time of a row in which neither the control nor the data view changes. Bursts that are
cut by the window count, too.
"""


def statistic_of(name: str) -> ViewStatistic:
    """Return the statistic of this name.

    Raises:
        TracelibError: There is no such statistic.
    """
    return Function(name).found(STATISTICS, "statistic")  # type: ignore[no-any-return]


class WindowEnds(NamedTuple):
    """Sends, or receives, in one window as columns, ordered by row and time."""

    is_send: bool
    row: np.ndarray
    time: np.ndarray
    size: np.ndarray
    partner: np.ndarray  # row of the other side; -1: its rank could not be read


class MessageEnds:
    """Sends and receives of the messages of a view's rows, window by window."""

    def __init__(self, selected: SelectedRecords, rows: ViewRows, begin: int, end: int) -> None:
        bounds = selected.run.bounds
        ends = {is_send: (StepSorter(bounds), StepSorter(bounds)) for is_send in (True, False)}
        for messages in selected.messages():
            times = selected.message_times(messages)
            lanes = lane_of(selected, messages, SOURCE), lane_of(selected, messages, DESTINATION)
            row, other = (np.where(lane >= 0, rows.of_lane[lane], -1) for lane in lanes)
            for is_send, mine, partner, time in ((True, row, other, times[0]), (False, other, row, times[1])):
                keep = (mine >= 0) & (time >= begin) & (time < end)
                for later, values in zip(ends[is_send], (messages["size"], partner), strict=True):
                    later.put(mine[keep], time[keep], values[keep])
        self._windows = {is_send: tuple(later.windows() for later in both) for is_send, both in ends.items()}

    def of_next_window(self) -> Iterator[WindowEnds]:
        """Yield the sends of the next window, and then its receives."""
        for is_send, both in self._windows.items():
            (row, time, size), (_, _, partner) = (next(windows) for windows in both)
            yield WindowEnds(is_send, row, time, size, partner.astype(np.int64))
