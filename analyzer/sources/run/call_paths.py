"""The paths of calls of our own runs (analyzer.trace.extras.CallPaths)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analyzer.places import (
    ModuleNames,
    PathTables,
    Places,
    cached_file,
    merged_paths,
    named_places,
    packed_names,
    places_file,
)
from analyzer.sources.lane import lane as lanes_of
from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.run.cuts import Cuts, Lanes
from analyzer.trace import CallPaths

AT_ONCE = 1024
"""So many ranks' tables are in memory while they become one."""
_NONE = np.zeros(1, np.int64)


@dataclass(frozen=True, kw_only=True)
class RunCallPaths(CallPaths):
    """Paths that the runtime recorded."""

    lanes: Lanes
    cuts: Cuts
    files: Mapping[int, RankFile]
    path: Path  # of the run
    merged: _Merged = field(default_factory=lambda: _Merged())

    def tables(self) -> PathTables:
        return self.merged.read(self.files)

    def of(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        if not self.known:
            return
        self.merged.read(self.files)
        numbers = self.merged.rows.get(rank, _NONE)
        for low, high in self.cuts.blocks(rank, begin, end):
            rows = lanes_of.paths(self.lanes.get(rank, []), low, high)
            if len(rows):
                yield numbers[np.where(rows < len(numbers), rows, 0)]

    def named(self) -> Places:
        if self.merged.places is None:
            first = self.files[min(self.files)]
            packed, files = _packed(first), [cached_file(self.path)]
            if first.group == "/":
                files.insert(0, places_file(first.path.parent))
            ended_ns = max(file.modified_ns for file in self.files.values())
            self.merged.places = named_places(self.tables(), files, ended_ns, packed)
        return self.merged.places


class _Merged:
    """One table of all ranks' paths, made when it is first asked for."""

    def __init__(self) -> None:
        self.tables = PathTables.empty()
        self.rows: dict[int, np.ndarray] = {}  # of each rank: where its paths are in `tables`
        self.places: Places | None = None

    def read(self, files: Mapping[int, RankFile]) -> PathTables:
        """What the files say, read once."""
        ranks = [] if self.rows else sorted(files)
        for first in range(0, len(ranks), AT_ONCE):
            some = ranks[first : first + AT_ONCE]
            self._add(some, [_tables_of(files[rank]) for rank in some])
        return self.tables

    def _add(self, ranks: list[int], tables: list[PathTables]) -> None:
        self.tables, (before, *rows) = merged_paths([self.tables, *tables])
        self.rows = {rank: before[known] for rank, known in self.rows.items()}
        self.rows.update(zip(ranks, rows, strict=True))


def _tables_of(file: RankFile) -> PathTables:
    return PathTables(*(file.read(table, 0, file.lengths[table]) for table in ("paths", "modules", "functions")))


def _packed(file: RankFile) -> Sequence[ModuleNames]:
    """Names that a packed run has brought along."""
    return () if file.group == "/" else packed_names(file.path)


def has_paths(files: Mapping[int, RankFile]) -> bool:
    """Whether any rank recorded where its calls come from."""
    return any(file.lengths["paths"] for file in files.values())
