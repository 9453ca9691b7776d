"""Samples of where threads were, of our own runs (analyzer.trace.extras.CodeSamples)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.run.call_paths import RunPaths
from analyzer.sources.run.cuts import Lanes
from analyzer.trace import SAMPLE, CodeSamples
from tracelib import schema
from tracelib.schema import State

AT_ONCE = 65536
_LAST = 256
"""Rows at the end among which is the last one in time: they are written in rounds of all threads."""
_WHAT = ((schema.SAMPLE_END, 1), (schema.SAMPLE_BEGIN, 2))


def is_by_signal(file: RankFile) -> bool:
    """Whether the samples of a rank were taken by a signal, as its last row says."""
    n = file.lengths["samples"]
    return bool(n and file.read("samples", n - 1, n)["flags"][0] & schema.SAMPLE_BY_SIGNAL)


def last_sample_ticks(file: RankFile) -> int:
    """Of a rank that made no call at its end, or none at all: when it was last seen; else 0."""
    n = file.lengths["samples"]
    if not n or (file.attributes["state"] == State.FINALIZED and file.lengths["calls"]):
        return 0
    return int(file.read("samples", max(n - _LAST, 0), n)["time"].max())


@dataclass(frozen=True, kw_only=True)
class RunCodeSamples(CodeSamples):
    """Samples that the runtime took."""

    lanes: Lanes
    files: Mapping[int, RankFile]
    paths: RunPaths

    def of(self, rank: int) -> Iterator[np.ndarray]:
        file, lanes = self.files.get(rank), self.lanes.get(rank)
        if file is None or not lanes:
            return
        numbers, clock, n = self.paths.numbers(rank), lanes[0].clock, file.lengths["samples"]
        for first in range(0, n, AT_ONCE):
            rows = file.read("samples", first, min(first + AT_ONCE, n))
            found = np.zeros(len(rows), SAMPLE)
            found["time"] = clock.times(rows["time"])
            found["cpu"] = np.minimum(rows["cpu_ns"], np.uint64(1 << 62))
            found["path"] = numbers[np.where(rows["path"] < len(numbers), rows["path"], 0)]
            found["task"] = rows["task"] & 0x7FFFFFFF
            found["lost"] = rows["lost"] & 0x7FFFFFFF
            found["thread"] = np.where(rows["thread"] < len(lanes), rows["thread"].astype(np.int32), -1)
            for flag, what in _WHAT:
                found["what"][rows["flags"] & flag != 0] = what
            yield found
