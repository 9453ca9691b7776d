"""The run that a replay predicts: the calls of the traced run at the times that the simulator gave them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analyzer.metrics.requests import gather_blocks
from analyzer.operations.operation import Flag, Kind, Program
from analyzer.paraver_regions import is_of_region
from analyzer.replay.recorded import in_order, recorded, regions_of
from analyzer.replay.simulate import Prediction
from analyzer.trace import CALL, MARK, REQUEST, Trace
from analyzer.writers.run_file import RankRecords, write_run
from tracelib import schema

_APPLICATION = 40000001
"""Paraver's event "Application"; value 0: it ends here."""


def write_predicted(trace: Trace, program: Program, prediction: Prediction, path: Path, machine: str) -> None:
    """Write the predicted run as `path`, a packed run that `analyze` opens like a measured one.

    A call lasts from the end of the burst before it to the end of its last operation. What happened between calls
    (regions, events of the program) keeps its place in the burst, in proportion. Calls that take no time last 1 ns, so
    that their order is kept; what follows them starts that much later at most, and catches up at the next burst.
    Of a Dimemas trace, which holds no calls, each operation is one.
    prediction: of `program` alone, with `times`. Raises TracelibError where the file cannot be written.
    """
    regions = regions_of(program) if trace.program is not None else ()
    records = (
        _rank(trace, program, prediction, rank)
        if trace.program is None
        else recorded(program, prediction, rank, regions)
        for rank in range(trace.size)
    )
    write_run(trace, records, path, {"predicted_from": trace.path, "machine": machine})


def _rank(trace: Trace, program: Program, prediction: Prediction, rank: int) -> RankRecords:
    assert prediction.times is not None, "simulate(..., times=True)"
    calls = gather_blocks(trace.calls(rank), CALL)
    map_ = TimeMap(calls, *call_times(program, prediction, rank, len(calls)))
    requests = gather_blocks(trace.requests(rank), REQUEST).copy()
    requests["posted"] = map_.entries(requests["posted"])
    started = requests["completed"] <= 0
    requests["completed"] = np.where(started, requests["completed"], map_.exits(requests["completed"]))
    marks = gather_blocks([trace.marks(rank)], MARK).copy()
    marks["time"] = map_.between(marks["time"])
    events = trace.program_events(rank)
    events = events[~is_of_region(events["type"])]
    own = np.zeros(len(events), schema.EVENT)
    own["time"] = map_.between(events["time"])
    for column in ("type", "value", "thread"):
        own[column] = events[column]
    end = max(int(prediction.times["end"][program.offsets[rank + 1] - 1]), int(map_.exit[-1])) if len(calls) else 0
    own = np.append(own, np.array([(end, 0, _APPLICATION, 0, 0)], schema.EVENT))
    moved = calls.copy()
    moved["enter"], moved["exit"] = map_.enter, map_.exit
    moved["inside"] = np.minimum(moved["inside"], moved["exit"] - moved["enter"])
    return RankRecords(moved, requests, marks, own)


def call_times(program: Program, prediction: Prediction, rank: int, calls: int) -> tuple[np.ndarray, np.ndarray]:
    """Predicted entry and exit of the calls of a rank: int64 of shape (calls,), ns."""
    first, last = program.offsets[rank : rank + 2].tolist()
    assert prediction.times is not None, "simulate(..., times=True)"
    ops, times = program.ops[first:last], prediction.times[first:last]
    of_call = ~np.isin(ops["kind"], (Kind.EVENT, Kind.PARALLEL))
    ops, times = ops[of_call], times[of_call]
    begins = np.flatnonzero(ops["flags"] & Flag.FIRST)
    ends = np.append(begins[1:], len(ops)) - 1
    return times["begin"][begins][:calls].copy(), times["end"][ends][:calls].copy()


class TimeMap:
    """Times of a traced rank to those of its prediction."""

    def __init__(self, calls: np.ndarray, enter: np.ndarray, exit_: np.ndarray) -> None:
        enter, exit_ = in_order(enter, exit_)
        self.enter, self.exit = enter, exit_
        self._enter = calls["enter"]
        order = np.argsort(calls["exit"], kind="stable")
        self._exit, self._exit_to = calls["exit"][order], exit_[order]
        from_ = np.concatenate([[0], np.column_stack([calls["enter"], calls["exit"]]).ravel()])
        to = np.concatenate([[0], np.column_stack([enter, exit_]).ravel()])
        self._from, self._to = np.maximum.accumulate(from_), np.maximum.accumulate(to)

    def entries(self, times: np.ndarray) -> np.ndarray:
        """Of times at which calls were entered."""
        return self._exact(times, self._enter, self.enter)

    def exits(self, times: np.ndarray) -> np.ndarray:
        """Of times at which calls ended."""
        return self._exact(times, self._exit, self._exit_to)

    def _exact(self, times: np.ndarray, from_: np.ndarray, to: np.ndarray) -> np.ndarray:
        if not len(from_):
            return times
        at = np.searchsorted(from_, times).clip(max=len(from_) - 1)
        return np.where(from_[at] == times, to[at], self.between(times))

    def between(self, times: np.ndarray) -> np.ndarray:
        """Of any times: in proportion between the nearest entries and exits, at the same distance after the last."""
        beyond = np.maximum(times - self._from[-1], 0)
        return np.rint(np.interp(times, self._from, self._to)).astype(np.int64) + beyond
