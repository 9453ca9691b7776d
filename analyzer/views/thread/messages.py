"""Thread functions of messages.

Source: "Dimemas specification", section 1.16.2, "Thread functions, communication group" (last size, last tag). Paraver
has more: partners, messages in flight, bandwidths, sums between events. A message that is received before it is sent,
because clocks disagree, is never in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.trace import MESSAGE
from analyzer.views.function import Function
from analyzer.views.run import SelectedRecords
from analyzer.views.steps import RowSteps, StepSorter

_PER_S = 10**9
_MEGA = 1e6

SOURCE, DESTINATION = "source", "destination"
Weights = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function of messages (MESSAGE) and the time in ns for which each counts. It returns whole numbers."""


def lane_of(selected: SelectedRecords, rows: np.ndarray, side: str) -> np.ndarray:
    """Return the lane of one side (SOURCE or DESTINATION) of each message; -1: its rank could not be read."""
    return selected.lanes.lane_numbers(rows[side], rows[f"{side}_thread"])


def of_ends(selected: SelectedRecords, values: Callable[[np.ndarray], np.ndarray], *sides: str) -> StepSorter:
    """Collect the values of messages as steps, at their send (SOURCE), their receive (DESTINATION), or both."""
    later = StepSorter(selected.run.bounds)
    for rows in selected.messages():
        sent, received = selected.message_times(rows)
        value = np.asarray(values(rows))
        for side in sides:
            lane = lane_of(selected, rows, side)
            keep = lane >= 0
            time = sent if side == SOURCE else received
            later.put(lane[keep], time[keep], value[keep])
    return later


@dataclass(frozen=True)
class MessageStretch:
    """Rule for a sum over messages: each counts for the thread of one side between two of its times.

    Attributes:
        weights: The number that a message counts.
        scale: Divisor of the sum.
    """

    side: str
    begin: str
    end: str
    weights: Weights
    scale: float = 1.0

    def steps(self, selected: SelectedRecords) -> Iterator[RowSteps]:
        """Yield for each thread the sum over all messages that count at each time. Sums of whole numbers are exact."""
        later = StepSorter(selected.run.bounds)
        for rows in selected.messages():
            lane, begin, end = lane_of(selected, rows, self.side), self._time(selected, rows, self.begin), None
            end = self._time(selected, rows, self.end)
            keep = (lane >= 0) & (end > begin)
            lane, begin, end, rows = lane[keep], begin[keep], end[keep], rows.compress(keep)
            weight = self.weights(rows, end - begin).astype(np.int64)
            later.put(np.concatenate([lane, lane]), np.concatenate([begin, end]), np.concatenate([weight, -weight]))
        now = np.zeros(len(selected.lanes), np.int64)
        for steps in later.windows():
            yield steps._replace(value=running(steps, now) / self.scale)

    def _time(self, selected: SelectedRecords, rows: np.ndarray, which: str) -> np.ndarray:
        """Return a time of each message in ns: a column of MESSAGE, or "sent" or "received" as the filter chooses."""
        if which in ("sent", "received"):
            return selected.message_times(rows)[which == "received"]
        return rows[which]


def running(steps: RowSteps, now: np.ndarray) -> np.ndarray:
    """Return the running sum of the values of each row at each step, int64. The values are whole numbers.

    `now` has the sums before these steps, of shape (rows,), and is updated to the sums after them.
    """
    if not len(steps.row):
        return np.zeros(0, np.int64)
    total = np.cumsum(steps.value.astype(np.int64))
    firsts = np.flatnonzero(np.append(True, steps.row[1:] != steps.row[:-1]))
    lengths = np.diff(np.append(firsts, len(total)))
    before = np.append(0, total)[firsts]
    found = total + np.repeat(now[steps.row[firsts]] - before, lengths)
    now[steps.row[firsts]] = found[np.append(firsts[1:], len(total)) - 1]
    return found


def _count(rows: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.ones(len(rows), np.int64)


def _bytes(rows: np.ndarray, _: np.ndarray) -> np.ndarray:
    return rows["size"]


def _bytes_a_second(rows: np.ndarray, length: np.ndarray) -> np.ndarray:
    return np.rint(rows["size"] * (_PER_S / length))


STRETCHES: dict[str, tuple[MessageStretch, str]] = {
    "bytes in flight": (MessageStretch(SOURCE, "sent", "received", _bytes), "bytes"),
    "messages in flight": (MessageStretch(SOURCE, "sent", "received", _count), "messages"),
    "bytes coming in": (MessageStretch(DESTINATION, "sent", "received", _bytes), "bytes"),
    "messages coming in": (MessageStretch(DESTINATION, "sent", "received", _count), "messages"),
    "send bandwidth": (MessageStretch(SOURCE, "sent", "received", _bytes_a_second, _MEGA), "MB/s"),
    "receive bandwidth": (MessageStretch(DESTINATION, "sent", "received", _bytes_a_second, _MEGA), "MB/s"),
    "sends queued": (MessageStretch(SOURCE, "logical_send", "physical_send", _count), "messages"),
    "receives posted": (MessageStretch(DESTINATION, "logical_receive", "physical_receive", _count), "receives"),
    "messages unexpected": (MessageStretch(DESTINATION, "physical_send", "logical_receive", _count), "messages"),
    "negative messages": (MessageStretch(DESTINATION, "received", "sent", _count), "messages"),
    "negative bytes": (MessageStretch(DESTINATION, "received", "sent", _bytes), "bytes"),
    "bytes unexpected": (MessageStretch(DESTINATION, "physical_send", "logical_receive", _bytes), "bytes"),
}
"""Sums over messages that are in flight or wait, by name: rule, and unit."""


def _last(
    values: Callable[[np.ndarray], np.ndarray], *sides: str
) -> Callable[[SelectedRecords, Function], Iterator[RowSteps]]:
    return lambda selected, _: of_ends(selected, values, *sides).windows()


def _partner(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    """Yield the rank, counted from 1, at the other side of the last message that was sent or received."""
    later = StepSorter(selected.run.bounds)
    for rows in selected.messages():
        for side, other, time in zip(
            (SOURCE, DESTINATION), (DESTINATION, SOURCE), selected.message_times(rows), strict=True
        ):
            lane = lane_of(selected, rows, side)
            keep = lane >= 0
            later.put(lane[keep], time[keep], rows[other][keep] + 1)
    return later.windows()


def _send_duration(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    return of_ends(selected, lambda rows: (rows["physical_send"] - rows["logical_send"]) / 1000, SOURCE).windows()


def _receive_duration(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    values = lambda rows: (rows["physical_receive"] - rows["logical_receive"]) / 1000  # noqa: E731
    return of_ends(selected, values, DESTINATION).windows()


def between_events(
    selected: SelectedRecords, values: Callable[[np.ndarray], np.ndarray], side: str, *, rate: bool
) -> Iterator[RowSteps]:
    """Yield the sums of messages between neighbouring events of a thread.

    The first interval begins with the run, the last one ends with it. A message at the time of an event counts for the
    interval after the event.

    Args:
        selected: The records.
        values: Whole number of each message.
        side: Side at whose time a message counts.
        rate: True: sums are divided by the length of the interval, in 10^6 per second.
    """
    lanes, bounds = len(selected.lanes), selected.run.bounds
    later, now = StepSorter(bounds), np.zeros(lanes, np.int64)
    since, counted = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)  # of the last event of each lane
    ends = of_ends(selected, values, side).windows()
    for window, (lane, rows), steps in zip(selected.windows, selected.events(), ends, strict=True):
        count = _up_to(steps, now, window, lane, rows["time"])
        first = np.append(True, lane[1:] != lane[:-1])[: len(lane)]
        last_time, last_count = np.append(0, rows["time"])[:-1][: len(lane)], np.append(0, count)[:-1]
        last_time[first], last_count[first] = since[lane[first]], counted[lane[first]]
        _put_between(later, lane, last_time, rows["time"], count - last_count, rate=rate)
        final = np.append(first[1:], True)[: len(lane)]
        since[lane[final]], counted[lane[final]] = rows["time"][final], count[final]
    every = np.arange(lanes)
    end = np.full(lanes, selected.run.trace.duration_ns)
    _put_between(later, every, since, end, now - counted, rate=rate)
    return later.windows()


def _up_to(
    steps: RowSteps,
    now: np.ndarray,
    window: tuple[int, int],
    lane: np.ndarray,
    time: np.ndarray,
    *,
    included: bool = False,
) -> np.ndarray:
    """Return for each lane the sum of its steps before a time or, with `included`, up to it.

    `now` has the sums before the window, of shape (lanes,), and is updated to the sums after it.
    """
    before = now.copy()
    total = np.append(0, running(steps, now))
    begin, key = window[0], window[1] - window[0] + 1
    at = np.searchsorted(
        steps.row * key + (steps.time - begin).clip(0, key - 1), lane * key + (time - begin),
        side="right" if included else "left",
    )  # fmt: skip
    same = (at > 0) & (np.append(-1, steps.row)[at] == lane)
    return np.where(same, total[at], before[lane])


def _event_bytes(*sides: str) -> Callable[[SelectedRecords, Function], Iterator[RowSteps]]:
    """Make a function that sums up the bytes of messages from each event of a thread to its next event.

    The value is 0 before the first and after the last event. A message that is sent at the time of an event counts for
    the interval after it, a message that is received then for the interval before it.
    """

    def steps(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
        lanes = len(selected.lanes)
        later, sums = StepSorter(selected.run.bounds), np.zeros((len(sides), lanes), np.int64)
        since, counted, known = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), np.zeros(lanes, bool)
        ends = (of_ends(selected, lambda rows: rows["size"], side).windows() for side in sides)
        for window, (lane, rows), *some in zip(selected.windows, selected.events(), *ends, strict=True):
            parts = zip(sides, some, sums, strict=True)
            counts = [
                _up_to(one, now, window, lane, rows["time"], included=side == DESTINATION) for side, one, now in parts
            ]
            count = np.sum(counts, axis=0)
            first = np.append(True, lane[1:] != lane[:-1])[: len(lane)]
            final = np.append(first[1:], True)[: len(lane)]
            last_time, last_count = np.append(0, rows["time"])[:-1], np.append(0, count)[:-1]
            last_time[first], last_count[first] = since[lane[first]], counted[lane[first]]
            begun = ~first | known[lane]
            later.put(lane[begun], last_time[begun], (count - last_count)[begun])
            since[lane[final]], counted[lane[final]], known[lane[final]] = rows["time"][final], count[final], True
        every = np.flatnonzero(known)
        later.put(every, since[every], np.zeros(len(every)))
        return later.windows()

    return steps


def _last_destination(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    """Yield the thread to which the last message was sent. Threads of the run are counted from 1."""
    return of_ends(selected, lambda rows: _thread_of(selected, rows, DESTINATION), SOURCE).windows()


def _next_source(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
    """Yield, from one receive to the next, the thread from which the next message comes. Threads count from 1.

    The value is 0 before the first and after the last receive. A receive is complete when it has been called and its
    message has arrived.
    """
    later, begun = StepSorter(selected.run.bounds), StepSorter(selected.run.bounds)
    for rows in selected.messages():
        lane = lane_of(selected, rows, DESTINATION)
        keep = lane >= 0
        done = np.maximum(rows["logical_receive"], rows["physical_receive"])
        begun.put(lane[keep], done[keep], _thread_of(selected, rows, SOURCE)[keep])
    since = np.full(len(selected.lanes), -1)
    for steps in begun.windows():
        first = np.append(True, steps.row[1:] != steps.row[:-1])[: len(steps.row)]
        before = np.append(-1, steps.time[:-1])[: len(steps.row)]
        before[first] = since[steps.row[first]]
        known = before >= 0
        later.put(steps.row[known], before[known], steps.value[known])
        last = np.append(first[1:], True)[: len(steps.row)]
        since[steps.row[last]] = steps.time[last]
    every = np.flatnonzero(since >= 0)
    later.put(every, since[every], np.zeros(len(every)))
    return later.windows()


def _thread_of(selected: SelectedRecords, rows: np.ndarray, side: str) -> np.ndarray:
    lane = lane_of(selected, rows, side)
    return np.where(lane >= 0, np.append(selected.lanes.in_run, -1)[lane] + 1, 0)


def _put_between(
    later: StepSorter, lane: np.ndarray, begin: np.ndarray, end: np.ndarray, value: np.ndarray, *, rate: bool
) -> None:
    if rate:
        length = np.maximum(end - begin, 1)
        later.put(lane, begin, np.where(end > begin, value * (_PER_S / _MEGA) / length, 0.0))
    else:
        later.put(lane, begin, value)


def _between(side: str, what: str, *, rate: bool = False) -> Callable[[SelectedRecords, Function], Iterator[RowSteps]]:
    def steps(selected: SelectedRecords, _: Function) -> Iterator[RowSteps]:
        values = (lambda rows: rows["size"]) if what == "bytes" else (lambda rows: np.ones(len(rows)))
        return between_events(selected, values, side, rate=rate)

    return steps


MESSAGE_FUNCTIONS: dict[str, tuple[Callable[[SelectedRecords, Function], Iterator[RowSteps]], str]] = {
    "last size": (_last(lambda rows: rows["size"], DESTINATION), "bytes"),
    "last tag": (_last(lambda rows: rows["tag"], DESTINATION), ""),
    "last sent size": (_last(lambda rows: rows["size"], SOURCE), "bytes"),
    "last partner": (_partner, "rank from 1"),
    "last destination": (_last_destination, "thread from 1"),
    "next source": (_next_source, "thread from 1"),
    "event bytes": (_event_bytes(SOURCE, DESTINATION), "bytes"),
    "event sent bytes": (_event_bytes(SOURCE), "bytes"),
    "last send duration": (_send_duration, "us"),
    "last receive duration": (_receive_duration, "us"),
    "receives between events": (_between(DESTINATION, "messages"), "messages"),
    "received bytes between events": (_between(DESTINATION, "bytes"), "bytes"),
    "receive bandwidth between events": (_between(DESTINATION, "bytes", rate=True), "MB/s"),
    "sends between events": (_between(SOURCE, "messages"), "messages"),
    "sent bytes between events": (_between(SOURCE, "bytes"), "bytes"),
    "send bandwidth between events": (_between(SOURCE, "bytes", rate=True), "MB/s"),
    **{
        name: (lambda selected, _, stretch=stretch: stretch.steps(selected), unit)  # type: ignore[misc]
        for name, (stretch, unit) in STRETCHES.items()
    },
}
"""Thread functions of messages by name: function that yields their steps, and unit."""

NO_MESSAGES = np.zeros(0, MESSAGE)
