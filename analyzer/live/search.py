"""Search for calls and values: their places on the axis, their number in a window, and the next hit."""

from __future__ import annotations

import re

import numpy as np

from analyzer.columns.spill import Spill
from analyzer.live.axis import Axis
from analyzer.live.rows import RowSet
from analyzer.live.run import LiveRun
from analyzer.live.selection import CallSearch
from analyzer.pairing.parts import Part, parts
from analyzer.trace.at_places import PlaceChoice

_HIT = np.dtype([("lane", "<i8"), ("enter", "<i8"), ("inside", "<i8"), ("bytes", "<i8")])


class MarkedIntervals:
    """Hits of a search by lane, in temporary files. They can be counted in any window, and stepped through."""

    def __init__(self, duration_ns: int) -> None:
        self._times, self._bytes = Axis(duration_ns + 1), Axis(duration_ns + 1)

    def append(self, lane: np.ndarray, begin: np.ndarray, inside: np.ndarray, size: np.ndarray) -> None:
        """Append hits, sorted by lane and begin.

        Args:
            lane: Lane of each hit.
            begin: Begin of each hit in ns.
            inside: Time of each hit that is summed up, in ns.
            size: Bytes of each hit.
        """
        self._times.append(lane, begin, inside)
        self._bytes.append(lane, begin, size)

    def close(self) -> None:
        """End the appending. Lookups are allowed only after this call."""
        self._times.close()
        self._bytes.close()

    def __len__(self) -> int:
        return len(self._times)

    def between(self, lanes: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Sum up the hits that begin in each window between neighbouring edges (ns).

        A hit at the last moment of the run belongs to the window that ends there.

        Returns:
            Number, time in ns and bytes of hits, int64 of shape (3, lanes, edges - 1).
        """
        edges = np.where(edges >= self._times.length_ns - 1, self._times.length_ns, edges)
        count, inside = self._times.counts(lanes, edges)
        return np.stack([count, inside, self._bytes.counts(lanes, edges)[1]])

    def next(self, rows: RowSet, time: int, row: int, *, forward: bool) -> tuple[int, int] | None:
        """Find the next hit in order of time, then of row.

        Args:
            rows: Rows in which to search.
            time: Time in ns from which to search.
            row: Number of the row from which to search.
            forward: True: the first hit at (time, row) or later. False: the last hit before (time, row).

        Returns:
            (time in ns, row) of the hit. None: there is no further hit.
        """
        axis, lanes = self._times, rows.lanes
        of_lane = np.repeat(np.arange(len(rows)), rows.threads)
        places = lanes * axis.length_ns + min(time, axis.length_ns)
        at = axis.index_at(places - (of_lane >= row)) + forward
        known = (at >= 1) & (at <= len(axis))
        begins = axis.begins[np.where(known, at, 0)] - lanes * axis.length_ns
        found = np.flatnonzero(known & (begins >= 0) & (begins < axis.length_ns))
        if not len(found):
            return None
        order = np.lexsort((of_lane[found], begins[found]))
        chosen = found[order[0 if forward else -1]]
        return int(begins[chosen]), int(of_lane[chosen])


class SearchHits(MarkedIntervals):
    """Calls that a search finds, with their time in MPI and their bytes."""

    def __init__(self, run: LiveRun, wanted: CallSearch) -> None:
        """Search the whole run. The lock of the run is held for one part at a time, so that others can read meanwhile.

        Raises:
            TracelibError: The search is for places, which the run does not know.
        """
        super().__init__(run.trace.duration_ns)
        self.wanted = wanted
        choose = _Choice(run, wanted)
        aside = Spill(_HIT)
        pieces = parts(run.trace, range(run.trace.size))
        while True:
            with run.reading:  # only while one part is read, so that other threads can read too
                part = next(pieces, None)
                if part is None:
                    break
                rank, rows, size = choose.chosen_calls(part)
            hits = np.empty(len(rows), _HIT)
            hits["lane"], hits["enter"] = run.lanes.lane_numbers(rank, rows["thread"]), rows["enter"]
            hits["inside"], hits["bytes"] = rows["inside"], size
            aside.append_each(rank, hits)
        for who in range(run.trace.size):
            found = aside.read(who)
            found = found.take(np.lexsort((found["enter"], found["lane"])))
            self.append(found["lane"], found["enter"], found["inside"], found["bytes"])
        aside.close()
        self.close()


class _Choice:
    """Conditions of a search for calls. Cheap conditions are tested first."""

    def __init__(self, run: LiveRun, wanted: CallSearch) -> None:
        self._run, self._wanted = run, wanted
        pattern = re.compile(wanted.call, re.IGNORECASE)
        self._calls = np.array([bool(pattern.search(name)) for name in run.trace.procedures], bool)
        self._region = re.compile(wanted.region)
        with run.reading:
            self._paths = PlaceChoice.parse(wanted.place).paths(run.trace) if wanted.place else None

    def chosen_calls(self, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rank, record (CALL) and bytes of each call of a part that matches the search."""
        wanted, rank, rows = self._wanted, part.calls.rank, part.calls.rows
        chosen = self._calls[rows["call"]]
        size = np.maximum(rows["sent"], rows["received"])
        if wanted.peer is not None:
            chosen &= rows["peer"] == wanted.peer
        if wanted.least_bytes is not None:
            chosen &= size >= wanted.least_bytes
        if wanted.most_bytes is not None:
            chosen &= size <= wanted.most_bytes
        if self._paths is not None:
            chosen &= self._paths[part.paths]
        at = np.flatnonzero(chosen)
        rank, rows, size = rank[at], rows.take(at), size[at]
        if wanted.region:
            inside = self._in_regions(rank, rows)
            rank, rows, size = rank[inside], rows.compress(inside), size[inside]
        return rank, rows, size

    def _in_regions(self, rank: np.ndarray, rows: np.ndarray) -> np.ndarray:
        inside = np.zeros(len(rows), bool)
        for one in np.unique(rank).tolist():
            mine = np.flatnonzero(rank == one)
            of = self._run.where.region(one, rows["thread"][mine], rows["enter"][mine])
            fits = np.array([bool(self._region.search(text)) for text in of.names], bool)
            inside[mine] = fits[of.codes] & (of.codes > 0)
        return inside
