"""Times in which threads of tracelib's runs had no CPU (analyzer.trace.extras.CpuUse)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.run.cuts import Lanes
from analyzer.recording.thread_records.thread import ThreadRecords
from analyzer.trace import OFF_CPU, TASK, UNKNOWN, CpuUse
from analyzer.trace.sharing import cpus_of
from tracelib.schema import NOT_READ, OFF_CPU_TYPE, RUN_DELAY_TYPE


@dataclass(frozen=True, kw_only=True)
class RunCpuUse(CpuUse):
    """Use of CPUs as the operating system reported it to the tracer."""

    lanes: Lanes
    files: Mapping[int, RankFile]

    def is_any_known(self) -> bool:
        return any(self.is_known(rank) for rank in self.files)

    def is_known(self, rank: int) -> bool:
        return any(len(off_cpu(lane, 1)) for lane in self.lanes.get(rank, []))

    def of(self, rank: int) -> np.ndarray:
        return joined([off_cpu(lane) for lane in self.lanes.get(rank, [])], OFF_CPU)

    def tasks(self, rank: int) -> np.ndarray:
        file = self.files.get(rank)
        if file is None or not len(file.tasks):
            return super().tasks(rank)
        rows, found = file.tasks, np.zeros(len(file.tasks), TASK)
        columns = {"cpu": "cpu_ns", "delay": "delay_ns", "voluntary": "voluntary", "involuntary": "involuntary"}
        for name, column in columns.items():
            found[name] = np.where(rows[column] == NOT_READ, UNKNOWN, rows[column].astype(np.int64))
        threads = len(self.lanes.get(rank, ()))
        found["thread"] = np.where(rows["thread"] < threads, rows["thread"].astype(np.int32), -1)
        found["cpus"] = [cpus_of(text.decode(errors="replace")) for text in rows["cpus"].tolist()]
        return found


def off_cpu(lane: ThreadRecords, most: int | None = None) -> np.ndarray:
    """Return the times without a CPU (OFF_CPU) of a thread, in order. Times without recording are left out.

    Args:
        lane: The thread.
        most: Stop when this number of rows is found. None: return all.
    """
    parts, rows = [], 0
    for events in _pairs(lane):
        parts.append(_of_pairs(lane, events))
        rows += len(parts[-1])
        if most is not None and rows >= most:
            break
    found = joined(parts, OFF_CPU)
    unrecorded = lane.unrecorded
    at = np.searchsorted(unrecorded["begin"], found["time"], "right") - 1
    inside = (at >= 0) & (found["time"] < unrecorded["end"][at]) if len(unrecorded) else np.zeros(len(found), bool)
    return found[~inside]


def _pairs(lane: ThreadRecords) -> Iterator[np.ndarray]:
    """Yield the events about CPU use, block by block. Two events that belong together are in the same block."""
    left = None
    for block in lane.tables["events"].scan():
        mine = block[(block["type"] == OFF_CPU_TYPE) | (block["type"] == RUN_DELAY_TYPE)]
        mine = mine if left is None else np.concatenate([left, mine])
        left = mine[-1:].copy() if len(mine) and mine["type"][-1] == OFF_CPU_TYPE else None
        yield mine if left is None else mine[:-1]


def _of_pairs(lane: ThreadRecords, events: np.ndarray) -> np.ndarray:
    """Convert pairs of events to times without a CPU (OFF_CPU).

    A RUN_DELAY event belongs to the OFF_CPU event directly before it. An event without the other one is ignored.
    """
    first = np.flatnonzero((events["type"][:-1] == OFF_CPU_TYPE) & (events["type"][1:] == RUN_DELAY_TYPE))
    found = np.zeros(len(first), OFF_CPU)
    found["time"] = lane.clock.times(events["time"][first])
    found["off"] = np.maximum(events["value"][first], 0)
    delay = events["value"][first + 1]
    found["delay"] = np.where(delay < 0, UNKNOWN, np.minimum(delay, found["off"]))
    found["thread"], found["where"] = lane.thread, events["flags"][first]
    return found
