"""Cut of a run: some iterations, or a stretch of time, as a run of its own. Its times begin at 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.metrics.regions import VISIT, region_visits
from analyzer.parallel import Team
from analyzer.structure.cut.chosen_iterations import span_of
from analyzer.structure.cut.crossings import Crossing, crossing, shared_collectives
from analyzer.trace import (
    ACCESS,
    CALL,
    MARK,
    REQUEST,
    CallPaths,
    Losses,
    Mark,
    Objects,
    Regions,
    State,
    Trace,
    TracerTime,
)
from analyzer.trace.paraver import EventType
from analyzer.trace.region_labels import is_of_region
from analyzer.writers.run_file import RankRecords, write_run
from tracelib import schema
from tracelib.schema import Peer, RequestKind
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, ROWS_THAT_RECEIVE, ROWS_THAT_SEND, base_name


class CutRecords:
    """Records of a cut run, rank by rank. A call whose other side lies outside keeps its time, but has no partner."""

    def __init__(
        self, trace: Trace, windows: np.ndarray, crossing: Crossing, collectives: dict[int, tuple[int, int]]
    ) -> None:
        self._trace, self._windows, self._crossing, self._collectives = trace, windows, crossing, collectives
        self._origin = int(windows[windows[:, 0] >= 0, 0].min())
        names = [base_name(name) for name in trace.procedures]
        self._sends = np.array([name in ROWS_THAT_SEND for name in names], bool)
        self._receives = np.array([name in ROWS_THAT_RECEIVE for name in names], bool)
        self._counted = np.array([name in BLOCKING_COLLECTIVES for name in names], bool)
        self.left_out = 0  # collectives that not all members have in the cut

    def all(self) -> Iterator[RankRecords]:
        """Yield the records of all ranks, in order of rank."""
        return map(self.rank_records, range(self._trace.size))

    def rank_records(self, rank: int) -> RankRecords:
        """Return the records of one rank."""
        begin, end = self._windows[rank].tolist()
        if begin < 0:
            return RankRecords(np.zeros(0, CALL))
        calls, paths = self._calls(rank, begin, end)
        requests = self._requests(rank, begin, end)
        marks = self._marks(rank, begin, end)
        accesses = joined(list(self._trace.extra(Objects).accesses(rank, begin, end)), ACCESS).copy()
        accesses["enter"] -= self._origin
        tracer = self._trace.extra(TracerTime)
        after = tracer.after_call_ns(rank) if self._trace.origin.tracer_times else 0
        return RankRecords(
            calls, requests, marks, self._events(rank, begin, end), accesses, paths, begin - self._origin, after
        )

    def _calls(self, rank: int, begin: int, end: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return CALL that are entered in the window or go on then, and their paths."""
        known = self._trace.extra(CallPaths)
        paths = known.of(rank, 0, end) if known.known else None
        rows, rows_paths = [], []
        made: dict[int, int] = {}
        for block in self._trace.calls(rank, 0, end):
            path = next(paths) if paths is not None else np.zeros(len(block), np.int64)
            own = block.copy()
            self._only_shared(own, made)
            chosen = (own["exit"] > begin) & (own["enter"] < end)
            rows.append(own[chosen])
            rows_paths.append(path[chosen])
        calls = joined(rows, CALL).copy()
        self._alone(calls, rank, begin)
        earlier = np.maximum(begin - calls["enter"], 0)
        calls["enter"], calls["exit"] = np.maximum(calls["enter"], begin), np.minimum(calls["exit"], end)
        length = np.maximum(calls["exit"] - calls["enter"], 1)
        calls["inside"] = np.where(calls["count"] > 1, np.clip(calls["inside"] - earlier, 0, length), length)
        calls["exit"] = calls["enter"] + length
        for column in ("enter", "exit"):
            calls[column] -= self._origin
        return calls, np.concatenate([np.zeros(0, np.int64), *rows_paths]) if paths is not None else None

    def _only_shared(self, calls: np.ndarray, made: dict[int, int]) -> None:
        """Take the communicator from collectives that not all members have in their windows."""
        at = np.flatnonzero(self._counted[calls["call"]] & (calls["comm"] >= 0))
        for comm in np.unique(calls["comm"][at]).tolist():
            mine = at[calls["comm"][at] == comm]
            numbers = made.get(comm, 0) + np.arange(len(mine))
            made[comm] = made.get(comm, 0) + len(mine)
            low, high = self._collectives.get(comm, (0, 0))
            outside = (numbers < low) | (numbers >= high)
            calls["comm"][mine[outside]], calls["peer"][mine[outside]] = -1, Peer.NONE

    def _alone(self, calls: np.ndarray, rank: int, begin: int) -> None:
        """Make sends and receives whose other side is outside those with MPI_PROC_NULL."""
        for kind, times in ((self._sends, self._crossing.sends), (self._receives, self._crossing.receives)):
            crosses = _are_among(calls["enter"], times.get(rank)) | (calls["enter"] < begin)
            half = kind[calls["call"]] & crosses
            calls["peer"][half] = Peer.PROC_NULL
            calls["sent"][half & self._sends[calls["call"]]] = 0
            calls["received"][half & self._receives[calls["call"]]] = 0
        self.left_out += int((self._counted[calls["call"]] & (calls["comm"] < 0)).sum())

    def _requests(self, rank: int, begin: int, end: int) -> np.ndarray:
        """Return REQUEST of operations that are posted and complete in the window, with both sides there."""
        every = joined(list(self._trace.requests(rank, begin, end + 1)), REQUEST).copy()
        receives = schema.is_one_of(every["what"], _RECEIVES)
        half = np.where(
            receives,
            _are_among(every["posted"], self._crossing.receives.get(rank)),
            _are_among(every["posted"], self._crossing.sends.get(rank)),
        )
        kept = every[(every["posted"] >= begin) & (every["posted"] < end) & ~half]
        started = schema.is_one_of(kept["what"], schema.STARTED)
        kept["posted"] -= self._origin
        kept["completed"] = np.where(started, kept["completed"], kept["completed"] - self._origin)
        return kept

    def _marks(self, rank: int, begin: int, end: int) -> np.ndarray:
        """Return MARK of the regions, cut at the edges."""
        visits = region_visits(self._trace, rank) if self._trace.extra(Regions).names else np.zeros(0, VISIT)
        visits = visits[(visits["end"] > begin) & (visits["begin"] < end)]
        rows = np.zeros(2 * len(visits), MARK)
        first, last = rows[: len(visits)], rows[len(visits) :]
        first["what"], last["what"] = Mark.BEGIN, Mark.END
        first["time"], last["time"] = np.maximum(visits["begin"], begin), np.minimum(visits["end"], end)
        depth = np.concatenate([visits["depth"], -visits["depth"]])
        for half in (first, last):
            half["thread"], half["number"] = visits["thread"], visits["region"] + 1
        order = np.lexsort((depth, rows["what"] == Mark.BEGIN, rows["time"], rows["thread"]))
        rows = rows[order]
        rows["time"] -= self._origin
        return rows

    def _events(self, rank: int, begin: int, end: int) -> np.ndarray:
        """Return events of the program, the times of the tracer, and the end of the rank."""
        regions = self._trace.extra(Regions).events(rank, begin, end)
        regions = regions[~is_of_region(regions["type"])]
        own = np.zeros(len(regions), schema.EVENT)
        for column in ("time", "type", "value", "thread"):
            own[column] = regions[column]
        tracer = self._trace.extra(TracerTime).flushes(rank)
        unrecorded = self._trace.extra(Losses).unrecorded(rank)
        rows = list(
            chain(
                _pairs(tracer[tracer["state"] == State.IO], schema.FLUSH_TYPE, 1, begin, end),
                _pairs(tracer[tracer["state"] == State.OTHERS], schema.SYNC_TYPE, 1, begin, end),
                _pairs(tracer[tracer["state"] == State.PATHS], schema.PATHS_TYPE, 1, begin, end),
                _pairs(unrecorded, schema.TRACING_TYPE, 0, begin, end),
            )
        )
        found = np.concatenate([own, np.array([*rows, (end, 0, EventType.APPLICATION, 0, 0)], schema.EVENT)])
        found["time"] -= self._origin
        return found


_RECEIVES = (
    RequestKind.RECV_STARTED, RequestKind.RECV_DONE, RequestKind.RECV_CANCELLED, RequestKind.RECV_FREED,
    RequestKind.RECEIVED,
    RequestKind.PARTITIONED_RECV_STARTED, RequestKind.PARTITIONED_RECV_DONE,
)  # fmt: skip


def _are_among(times: np.ndarray, some: np.ndarray | None) -> np.ndarray:
    """Mark the times that are among `some`. For most ranks nothing crosses an edge: there is nothing to compare."""
    return np.zeros(len(times), bool) if some is None else np.isin(times, some)


def _pairs(rows: np.ndarray, type_: int, first: int, begin: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Begin and end of each interval (FLUSH) as events, cut at the edges; `first`: the value at the begin."""
    for row in rows[(rows["end"] > begin) & (rows["begin"] < end)]:
        thread = int(row["thread"])
        yield max(int(row["begin"]), begin), first, type_, thread, 0
        yield min(int(row["end"]), end), 1 - first, type_, thread, 0


CLOCK = "cut"
"""Name of the clock of a cut run, which counts ns from the begin of the cut."""


@dataclass(frozen=True)
class RunCut:
    """Extent of a cut, and what was left out of it.

    Attributes:
        begin_ns: Begin in the whole run.
        end_ns: End in the whole run.
        messages: Number of messages with both sides inside.
        messages_in: Number of messages that were sent before and received inside.
        messages_out: Number of messages that were sent inside and received later.
        collectives: Number of calls of collectives that not all members have inside.
    """

    begin_ns: int  # in the whole run
    end_ns: int
    messages: int  # with both sides inside
    messages_in: int  # received inside, sent before
    messages_out: int  # sent inside, received later
    collectives: int  # calls of collectives that not all members have inside


def write_cut(trace: Trace, team: Team, windows: np.ndarray, path: Path, *, called: Path | None = None) -> RunCut:
    """Write what each rank does in its window as the run `path`. Times begin with the cut. Collective over the team.

    A call that goes on over an edge is cut there. A message with one side outside becomes a call with MPI_PROC_NULL
    of the
    same duration. A collective that not all members have inside belongs to no communicator. Counters are left out.

    Args:
        trace: The whole run.
        team: Processes that share the work. The first one writes.
        windows: Begin and end of each rank, ns, int64 of shape (ranks, 2).
        path: Path of the new run.
        called: Path that is named in the run instead of `path`. None: `path`.

    Raises:
        TracelibError: The cut cannot be written.
    """
    windows = windows.copy()
    windows[list(trace.extra(Losses).missing)] = -1
    begin, end = span_of(windows)
    crosses = crossing(trace, windows)
    records = CutRecords(trace, windows, crosses, shared_collectives(trace, team, windows))
    if team.rank == 0:
        said = {"cut_from": str(trace.path), "cut": f"{begin} to {end} ns"}
        write_run(trace, records.all(), path, said, called, CLOCK)
    left_out = team.bcast(records.left_out)
    return RunCut(begin, end, crosses.kept, crosses.messages_in, crosses.messages_out, left_out)
