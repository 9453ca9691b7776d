"""A run as views read it: windows of time, lanes, and the records that a filter chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from analyzer.errors import TracelibError
from analyzer.frames.where import Where
from analyzer.structure.events import WithIterations
from analyzer.trace import CallPaths, Trace
from analyzer.trace.at_places import PlaceChoice
from analyzer.trace.event_types import EventType
from analyzer.views.filters import EVERY, Filter, Numbers
from analyzer.views.labels import call_numbers, type_numbers, value_numbers
from analyzer.views.lanes import ViewLanes
from analyzer.waits.region_paths import OUTSIDE, path_at

_NAMED = 8


class ViewRun:
    """A trace with the data that several views need. They are found once for all views."""

    def __init__(self, trace: Trace) -> None:
        if not trace.has_call_times:
            raise TracelibError(f"{trace.path} has operations only, no times", "look at the run that it was made of")
        self.trace, self.lanes = trace, ViewLanes(trace)
        self.where = Where(trace, in_iterations=True)
        self.bounds = np.asarray(trace.windows(), np.int64)

    @property
    def windows(self) -> list[tuple[int, int]]:
        """Begin and end of each window in ns, in order. Together the windows cover the run."""
        return list(pairwise(self.bounds.tolist()))

    @cached_property
    def with_iterations(self) -> Trace:
        """The trace with iterations as events.

        Raises:
            TracelibError: No iterations were found.
        """
        if int(EventType.ITERATION) in self.trace.event_labels:
            return self.trace
        found = self.where.iterations
        if found is None:
            raise TracelibError(f"{self.trace.path}: no iterations were found", "analyze structure says what there is")
        return WithIterations(self.trace, found)

    def at_where(self, wanted: Filter, rank: np.ndarray, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return a mask of the moments that are in the region and in the iterations of a filter.

        Args:
            wanted: The filter.
            rank: Rank of each moment.
            thread: Thread of each moment.
            time: Time of each moment in ns.
        """
        chosen = np.ones(len(rank), bool)
        if not wanted.has_where:
            return chosen
        for one in np.unique(rank).tolist():
            mine = np.flatnonzero(rank == one)
            if wanted.region:
                path = self._path(one, thread[mine], time[mine])
                chosen[mine] &= self._in_region(wanted.region)[path]
            if wanted.iterations != EVERY:
                number = self.where.iteration(one, time[mine])["iteration"]
                chosen[mine] &= (number >= 0) & Numbers.parse(wanted.iterations).matches(number)
        return chosen

    def _in_region(self, wanted: str) -> np.ndarray:
        """Return a mask of the paths of regions that contain a region or a chain such as "solve/exchange"."""
        found = np.array([f"/{wanted}/" in f"/{path}/" for path in self.where.paths.texts], bool)
        if not found.any():
            known = sorted({name for path in self.where.paths.texts for name in path.split("/") if name})
            hint = f"there are {', '.join(known[:_NAMED])}" if known else "it has no regions"
            raise TracelibError(f"{self.trace.path}: no region {wanted!r}", hint, 2)
        return found

    def _path(self, rank: int, thread: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Return the path of regions that threads of a rank are in at each time (ns)."""
        found = np.full(len(time), OUTSIDE)
        for number, changes in enumerate(self._changes[rank]):
            mine = thread == number
            found[mine] = path_at(changes, time[mine])
        return found

    @cached_property
    def _changes(self) -> dict[int, list[tuple[np.ndarray, np.ndarray]]]:
        """Times in ns at which the threads of each rank change the path of regions, by rank.

        They stay in memory because every window needs them, and reading regions takes as long as reading calls.
        """
        return {rank: self.where.paths.changes(rank) for rank in self.lanes.ranks.tolist()}


class SelectedRecords:
    """Reader of the states, events, calls and messages of a run that a filter chooses."""

    def __init__(self, run: ViewRun, wanted: Filter) -> None:
        self.run, self.wanted = run, wanted
        self.lanes, self.windows = run.lanes, run.windows

    def states(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield lanes and records (STATE) of the states that begin in each window, by lane and time."""
        trace, every = self.run.trace, range(self.run.trace.size)
        for begin, end in self.windows:
            rows = trace.rank_states(begin, end, every)
            yield self._of_lanes(rows, rows["rank"], rows["thread"])

    def events(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield lanes and records (EVENT) of the events in each window, by lane and time."""
        trace = self._event_trace
        types, values = self._types, self._values
        read: Callable[[int, int], np.ndarray] = trace.events
        if isinstance(trace, WithIterations) and types is not None and set(types.tolist()) == {EventType.ITERATION}:
            read = trace.iteration_events
        for begin, end in self.windows:
            rows = read(begin, end)
            if types is not None:
                rows = rows.compress(np.isin(rows["type"], types))
            if values is not None:
                rows = rows.compress(values(rows))
            if self.wanted.has_where:
                rows = rows.compress(self.run.at_where(self.wanted, rows["rank"], rows["thread"], rows["time"]))
            yield self._of_lanes(rows, rows["rank"], rows["thread"])

    def calls(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield lanes and records (CALL) of the calls that are entered in each window, by lane and entry."""
        for begin, end in self.windows:
            rank, rows, paths = self._calls_and_paths(begin, end)
            keep = self._chosen_calls(rank, rows, paths)
            if not keep.all():
                rank, rows = rank[keep], rows.compress(keep)
            yield self._of_lanes(rows, rank, rows["thread"])

    def messages(self) -> Iterator[np.ndarray]:
        """Yield the messages (MESSAGE) in pieces. They are in no particular order."""
        trace, wanted = self.run.trace, self.wanted
        trace.match()
        for begin, end in pairwise(trace.message_windows().tolist()):
            rows = trace.unordered_messages(begin, end)
            keep = np.ones(len(rows), bool)
            for name, numbers in (("source", wanted.source), ("destination", wanted.destination),
                                  ("size", wanted.size), ("tag", wanted.tag)):  # fmt: skip
                if numbers != EVERY:
                    keep &= Numbers.parse(numbers).matches(rows[name])
            if wanted.communicators:
                keep &= np.isin(rows["comm"], self._comms)
            rows = rows.compress(keep) if not keep.all() else rows
            where = self.run.at_where(wanted, rows["source"], rows["source_thread"], rows["logical_send"])
            yield rows if where.all() else rows.compress(where)

    def message_times(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the times (ns) at which each message is sent and received, logical or physical as the filter chooses.

        By logical times, a message is received when its data have arrived and its receive has been called, whichever is
        later, as in Paraver.
        """
        if self.wanted.logical:
            return rows["logical_send"], np.maximum(rows["logical_receive"], rows["physical_receive"])
        return rows["physical_send"], rows["physical_receive"]

    def _of_lanes(self, rows: np.ndarray, rank: np.ndarray, thread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lane = self.lanes.lane_numbers(rank, thread)
        if len(lane) and lane.min() < 0:
            rows, lane = rows.compress(lane >= 0), lane[lane >= 0]
        if (lane[1:] < lane[:-1]).any():
            small = lane.astype(np.uint16) if len(self.lanes) <= 1 << 16 else lane
            order = np.argsort(small, kind="stable")
            rows, lane = rows.take(order), lane[order]
        return lane, rows

    @cached_property
    def _types(self) -> np.ndarray | None:
        return type_numbers(self.run.trace, self.wanted.types) if self.wanted.types else None

    @cached_property
    def _values(self) -> Callable[[np.ndarray], np.ndarray] | None:
        wanted = self.wanted.values
        if isinstance(wanted, tuple) and wanted:
            return value_numbers(self.run.trace, self._types, tuple(map(str, wanted)))
        numbers = Numbers.parse(wanted)  # type: ignore[arg-type]
        return None if numbers == EVERY else lambda rows: numbers.matches(rows["value"])

    @cached_property
    def _event_trace(self) -> Trace:
        asked = self._types is not None and int(EventType.ITERATION) in self._types
        return self.run.with_iterations if asked else self.run.trace

    @cached_property
    def _comms(self) -> list[int]:
        known = [one.label for one in self.run.trace.communicators]
        if unknown := [name for name in self.wanted.communicators if name not in known]:
            raise TracelibError(
                f"{self.run.trace.path}: no communicator {unknown[0]!r}", f"there are {', '.join(known[:8])}", 2
            )
        return [number for number, name in enumerate(known) if name in self.wanted.communicators]

    def _calls_and_paths(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return rank, record (CALL) and path of all calls of a window.

        The paths are None if the filter has no place.
        """
        trace, every = self.run.trace, range(self.run.trace.size)
        rows, counts = trace.rank_calls(every, begin, end)
        rank = np.repeat(np.arange(trace.size), counts)
        if not self.wanted.place:
            return rank, rows, None
        paths = (block for one in every for block in trace.extra(CallPaths).of(one, begin, end))
        return rank, rows, np.concatenate([np.zeros(0, np.int64), *paths])

    @cached_property
    def _paths(self) -> np.ndarray:
        """Mask of the call paths that the filter's place matches."""
        return PlaceChoice.parse(self.wanted.place).paths(self.run.trace)

    @cached_property
    def _calls(self) -> np.ndarray:
        """Mask of the procedures that the filter chooses."""
        return call_numbers(self.run.trace.procedures, self.wanted.calls)

    def _chosen_calls(self, rank: np.ndarray, rows: np.ndarray, paths: np.ndarray | None) -> np.ndarray:
        wanted, keep = self.wanted, np.ones(len(rows), bool)
        if wanted.calls:
            keep &= self._calls[rows["call"]]
        if paths is not None:
            keep &= self._paths[paths]
        if wanted.size != EVERY:
            keep &= Numbers.parse(wanted.size).matches(np.maximum(rows["sent"], rows["received"]))
        for name, numbers in (("tag", wanted.tag), ("peer", wanted.peer)):
            if numbers != EVERY:
                keep &= (rows[name] >= 0) & Numbers.parse(numbers).matches(rows[name])
        if wanted.communicators:
            keep &= np.isin(rows["comm"], self._comms)
        if wanted.has_where:
            keep &= self.run.at_where(wanted, rank, rows["thread"], rows["enter"])
        return keep
