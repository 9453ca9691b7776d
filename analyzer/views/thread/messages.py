"""Functions of the messages of threads.

Source: "Dimemas specification", section 1.16.2, "Thread functions, communication group" (last size, last tag), and what
Paraver has beyond it: partners, what is on its way, bandwidths, sums between events. Messages that are received before
they are sent, by clocks that disagree, are never on their way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.trace import MESSAGE
from analyzer.views.function import Function
from analyzer.views.run import Selected
from analyzer.views.steps import Steps
from analyzer.views.thread.later import Later

_PER_S = 10**9
_MEGA = 1e6

SOURCE, DESTINATION = "source", "destination"
Weights = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Whole numbers of MESSAGE and the ns that they last."""


def lane_of(selected: Selected, rows: np.ndarray, side: str) -> np.ndarray:
    """The lane of one side of each message; -1: it could not be read."""
    return selected.lanes.of(rows[side], rows[f"{side}_thread"])


def of_ends(selected: Selected, values: Callable[[np.ndarray], np.ndarray], *sides: str) -> Later:
    """The values of messages, at the time of each of these sides of them."""
    later = Later(selected.run.bounds)
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
class Stretch:
    """Messages count for a thread from one of their times until another."""

    side: str
    begin: str
    end: str
    weights: Weights
    scale: float = 1.0

    def steps(self, selected: Selected) -> Iterator[Steps]:
        """The sum over all messages that count, at each time. Sums are of whole numbers, and so exact."""
        later = Later(selected.run.bounds)
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

    def _time(self, selected: Selected, rows: np.ndarray, which: str) -> np.ndarray:
        """`sent` and `received` are what the filter calls so; the others are columns of MESSAGE."""
        if which in ("sent", "received"):
            return selected.message_times(rows)[which == "received"]
        return rows[which]


def running(steps: Steps, now: np.ndarray) -> np.ndarray:
    """The sum of whole numbers of each row up to each step, int64; `now`: those before, which become those behind."""
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


STRETCHES: dict[str, tuple[Stretch, str]] = {
    "bytes in flight": (Stretch(SOURCE, "sent", "received", _bytes), "bytes"),
    "messages in flight": (Stretch(SOURCE, "sent", "received", _count), "messages"),
    "bytes coming in": (Stretch(DESTINATION, "sent", "received", _bytes), "bytes"),
    "messages coming in": (Stretch(DESTINATION, "sent", "received", _count), "messages"),
    "send bandwidth": (Stretch(SOURCE, "sent", "received", _bytes_a_second, _MEGA), "MB/s"),
    "receive bandwidth": (Stretch(DESTINATION, "sent", "received", _bytes_a_second, _MEGA), "MB/s"),
    "sends queued": (Stretch(SOURCE, "logical_send", "physical_send", _count), "messages"),
    "receives posted": (Stretch(DESTINATION, "logical_receive", "physical_receive", _count), "receives"),
    "messages unexpected": (Stretch(DESTINATION, "physical_send", "logical_receive", _count), "messages"),
    "bytes unexpected": (Stretch(DESTINATION, "physical_send", "logical_receive", _bytes), "bytes"),
}
"""Sums over the messages that are on their way, or wait, by name; and their unit."""


def _last(values: Callable[[np.ndarray], np.ndarray], *sides: str) -> Callable[[Selected, Function], Iterator[Steps]]:
    return lambda selected, _: of_ends(selected, values, *sides).windows()


def _partner(selected: Selected, _: Function) -> Iterator[Steps]:
    """The other rank of the last message that was sent or received, from 1."""
    later = Later(selected.run.bounds)
    for rows in selected.messages():
        for side, other, time in zip(
            (SOURCE, DESTINATION), (DESTINATION, SOURCE), selected.message_times(rows), strict=True
        ):
            lane = lane_of(selected, rows, side)
            keep = lane >= 0
            later.put(lane[keep], time[keep], rows[other][keep] + 1)
    return later.windows()


def _send_duration(selected: Selected, _: Function) -> Iterator[Steps]:
    return of_ends(selected, lambda rows: (rows["physical_send"] - rows["logical_send"]) / 1000, SOURCE).windows()


def _receive_duration(selected: Selected, _: Function) -> Iterator[Steps]:
    values = lambda rows: (rows["physical_receive"] - rows["logical_receive"]) / 1000  # noqa: E731
    return of_ends(selected, values, DESTINATION).windows()


def between_events(
    selected: Selected, values: Callable[[np.ndarray], np.ndarray], side: str, *, rate: bool
) -> Iterator[Steps]:
    """What the messages of a side (whole numbers) add up to between neighbouring events of their thread, from the begin
    of the run to its end; at the later one's own time they count for the time behind it. rate: in 10^6 a second."""
    lanes, bounds = len(selected.lanes), selected.run.bounds
    later, now = Later(bounds), np.zeros(lanes, np.int64)
    since, counted = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)  # of the last event of each lane
    ends = of_ends(selected, values, side).windows()
    for (begin, until), (lane, rows), steps in zip(selected.windows, selected.events(), ends, strict=True):
        before = now.copy()
        total = np.append(0, running(steps, now))
        key = until - begin + 1
        at = np.searchsorted(
            steps.row * key + (steps.time - begin).clip(0, key - 1), lane * key + (rows["time"] - begin)
        )
        same = (at > 0) & (np.append(-1, steps.row)[at] == lane)
        count = np.where(same, total[at], before[lane])
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


def _put_between(
    later: Later, lane: np.ndarray, begin: np.ndarray, end: np.ndarray, value: np.ndarray, *, rate: bool
) -> None:
    if rate:
        length = np.maximum(end - begin, 1)
        later.put(lane, begin, np.where(end > begin, value * (_PER_S / _MEGA) / length, 0.0))
    else:
        later.put(lane, begin, value)


def _between(side: str, what: str, *, rate: bool = False) -> Callable[[Selected, Function], Iterator[Steps]]:
    def steps(selected: Selected, _: Function) -> Iterator[Steps]:
        values = (lambda rows: rows["size"]) if what == "bytes" else (lambda rows: np.ones(len(rows)))
        return between_events(selected, values, side, rate=rate)

    return steps


MESSAGE_FUNCTIONS: dict[str, tuple[Callable[[Selected, Function], Iterator[Steps]], str]] = {
    "last size": (_last(lambda rows: rows["size"], DESTINATION), "bytes"),
    "last tag": (_last(lambda rows: rows["tag"], DESTINATION), ""),
    "last sent size": (_last(lambda rows: rows["size"], SOURCE), "bytes"),
    "last partner": (_partner, "rank from 1"),
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
"""By name, and their unit."""

NO_MESSAGES = np.zeros(0, MESSAGE)
