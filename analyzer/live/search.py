"""Search for calls and values: where they are, how many there are, and the next one."""

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
    """Intervals by lane that are looked for, in temporary files: how many begin in any stretch, and the next one."""

    def __init__(self, duration_ns: int) -> None:
        self._times, self._bytes = Axis(duration_ns + 1), Axis(duration_ns + 1)

    def append(self, lane: np.ndarray, begin: np.ndarray, inside: np.ndarray, size: np.ndarray) -> None:
        """Append rows by lane and begin (ns); inside: ns that count; size: bytes."""
        self._times.append(lane, begin, inside)
        self._bytes.append(lane, begin, size)

    def close(self) -> None:
        """End the appending."""
        self._times.close()
        self._bytes.close()

    def __len__(self) -> int:
        return len(self._times)

    def between(self, lanes: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return number, ns and bytes of the rows that begin between neighbouring edges: int64 (3, lanes, edges - 1).

        The last moment of the run belongs to the last stretch that ends there.
        """
        edges = np.where(edges >= self._times.length_ns - 1, self._times.length_ns, edges)
        count, inside = self._times.counts(lanes, edges)
        return np.stack([count, inside, self._bytes.counts(lanes, edges)[1]])

    def next(self, rows: RowSet, time: int, row: int, *, forward: bool) -> tuple[int, int] | None:
        """Return the next row in order of time and row, as (time, row).

        Forward it is the first one at (time, row) or later, backward the last one before that. None: there is none.
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
    """The calls that were found: their time in MPI and their bytes."""

    def __init__(self, run: LiveRun, wanted: CallSearch) -> None:
        """Prepare a search. Raises TracelibError if it is for places and the run does not know them."""
        super().__init__(run.trace.duration_ns)
        self.wanted = wanted
        choose = _Choice(run, wanted)
        aside = Spill(_HIT)
        pieces = parts(run.trace, range(run.trace.size))
        while True:
            with run.reading:  # not for longer than a part takes: others want to read, too
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
    """Which calls of a part are wanted. What is quick to tell is asked first."""

    def __init__(self, run: LiveRun, wanted: CallSearch) -> None:
        self._run, self._wanted = run, wanted
        pattern = re.compile(wanted.call, re.IGNORECASE)
        self._calls = np.array([bool(pattern.search(name)) for name in run.trace.procedures], bool)
        self._region = re.compile(wanted.region)
        with run.reading:
            self._paths = PlaceChoice.parse(wanted.place).paths(run.trace) if wanted.place else None

    def chosen_calls(self, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rank, the row of CALL and the bytes of each."""
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
