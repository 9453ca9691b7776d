"""Paths of the calls of tracelib's own runs (analyzer.trace.extras.CallPaths), and samples of code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.places import PathTables, Places, cached_file, merged_paths, named_places, packed_names, places_file
from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.run.cuts import Cuts, Lanes
from analyzer.recording.thread_records import records as lane_records
from analyzer.trace import SAMPLE, CallPaths, CodeSamples
from tracelib import schema
from tracelib.schema import ProcessState

AT_ONCE = 1024
"""Number of ranks whose tables of paths are in memory at the same time while they are merged."""

_NONE = np.zeros(1, np.int64)

Merged = tuple[PathTables, dict[int, np.ndarray]]
"""Merged tables of the paths of some ranks, and for each rank the index in them of each of its own paths."""


class RunPaths:
    """Paths of all ranks as one table, which is read and named at its first use."""

    def __init__(self, path: Path, files: Sequence[RankFile], shared: Merged | None = None) -> None:
        """Prepare the paths.

        Args:
            path: The run.
            files: Files of the ranks.
            shared: Merged paths of all ranks, if a team has read them. None: they are read at their first use.
        """
        self._path, self._files, self._shared = path, files, shared
        self.known = any(file.lengths["paths"] for file in files)

    @property
    def tables(self) -> PathTables:
        """Tables of all paths of the run."""
        return self._merged[0]

    def numbers(self, rank: int) -> np.ndarray:
        """Return for each of a rank's own paths its index in `tables`."""
        return self._merged[1].get(rank, _NONE)

    @cached_property
    def named(self) -> Places:
        """Names of functions, files and lines of all paths."""
        files = [cached_file(self._path)]
        if self._files[0].group == "/":
            files.insert(0, places_file(self._files[0].path.parent))
        ended_ns = max(file.modified_ns for file in self._files)
        return named_places(self.tables, files, ended_ns, _packed(self._files[0]))

    def chain(self, rank: int, row: int) -> str:
        """Return a rank's own path as text, from `row` of its table; "": it is not known."""
        numbers = self.numbers(rank) if self.known else _NONE
        return self.named.chain(int(numbers[row])) if 0 < row < len(numbers) else ""

    def text(self, number: int) -> str:
        """Return a path as text, by its index in `tables`."""
        return self.named.chain(number)

    @cached_property
    def _merged(self) -> Merged:
        return self._shared or _merge(self._files if self.known else ())


def read_paths(path: Path, files: Sequence[RankFile], own: range, team: Team) -> RunPaths:
    """Return the paths of a run. Members of a team each read the tables of their own ranks, and exchange them.

    If a table cannot be read, each member reads all tables at their first use, and raises the error then.
    """
    alone = RunPaths(path, files)
    if team.size == 1 or not alone.known:
        return alone
    mine: Merged | None = None
    with suppress(TracelibError):
        mine = _merge([file for file in files if file.rank in own])
    parts = [part for part in team.allgather(mine) if part is not None]
    if len(parts) < team.size:
        return alone
    tables, numbers = merged_paths([part for part, _ in parts])
    rows = zip(numbers, (of_ranks for _, of_ranks in parts), strict=True)
    merged = tables, {rank: went[own] for went, of_ranks in rows for rank, own in of_ranks.items()}
    return RunPaths(path, files, merged)


def _merge(files: Sequence[RankFile]) -> Merged:
    tables, rows = PathTables.empty(), dict[int, np.ndarray]()
    for first in range(0, len(files), AT_ONCE):
        some = files[first : first + AT_ONCE]
        tables, (before, *new) = merged_paths([tables, *map(_tables_of, some)])
        rows = {rank: before[known] for rank, known in rows.items()}
        rows.update((file.rank, numbers) for file, numbers in zip(some, new, strict=True))
    return tables, rows


def _tables_of(file: RankFile) -> PathTables:
    return PathTables(*(file.read(table, 0, file.lengths[table]) for table in ("paths", "modules", "functions")))


def _packed(file: RankFile) -> Sequence:
    """Return the names of paths that a packed run contains."""
    return () if file.group == "/" else packed_names(file.path)


@dataclass(frozen=True, kw_only=True)
class RunCallPaths(CallPaths):
    """Call paths that the tracer recorded."""

    lanes: Lanes
    cuts: Cuts
    paths: RunPaths

    def tables(self) -> PathTables:
        return self.paths.tables

    def named(self) -> Places:
        return self.paths.named

    def of(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        if not self.known:
            return
        numbers = self.paths.numbers(rank)
        for low, high in self.cuts.blocks(rank, begin, end):
            rows = lane_records.paths(self.lanes.get(rank, []), low, high)
            if len(rows):
                yield numbers[np.where(rows < len(numbers), rows, 0)]


SAMPLES_AT_ONCE = 65536
_LAST = 256
"""Number of last rows among which the latest sample must be: rows are written in rounds of all threads."""
_WHAT = ((schema.SAMPLE_END, 1), (schema.SAMPLE_BEGIN, 2))


def is_by_signal(file: RankFile) -> bool:
    """Return True if a signal took the samples of a rank's code, as the last row tells."""
    n = file.lengths["samples"]
    return bool(n and file.read("samples", n - 1, n)["flags"][0] & schema.SAMPLE_BY_SIGNAL)


def last_sample_ticks(file: RankFile) -> int:
    """Return the ticks of a rank's last sample.

    0: there is none, or it is not needed because the process ended in order and recorded calls.
    """
    n = file.lengths["samples"]
    if not n or (file.attributes["state"] == ProcessState.FINALIZED and file.lengths["calls"]):
        return 0
    return int(file.read("samples", max(n - _LAST, 0), n)["time"].max())


@dataclass(frozen=True, kw_only=True)
class RunCodeSamples(CodeSamples):
    """Code samples that the tracer took."""

    lanes: Lanes
    files: Mapping[int, RankFile]
    paths: RunPaths

    def of(self, rank: int) -> Iterator[np.ndarray]:
        file, lanes = self.files.get(rank), self.lanes.get(rank)
        if file is None or not lanes:
            return
        numbers, clock, n = self.paths.numbers(rank), lanes[0].clock, file.lengths["samples"]
        for first in range(0, n, SAMPLES_AT_ONCE):
            rows = file.read("samples", first, min(first + SAMPLES_AT_ONCE, n))
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
