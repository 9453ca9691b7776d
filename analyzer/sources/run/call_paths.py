"""The paths of calls of our own runs (analyzer.trace.extras.CallPaths)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analyzer.places.paths import PathTables, merged_paths
from analyzer.sources.lane import lane as lanes_of
from analyzer.sources.rank_file.rank_file import RankFile
from analyzer.sources.run.cuts import Cuts, Lanes
from analyzer.trace import CallPaths

AT_ONCE = 1024
"""So many ranks' tables are in memory while they become one."""


@dataclass(frozen=True, kw_only=True)
class RunCallPaths(CallPaths):
    """Paths that the runtime recorded."""

    lanes: Lanes
    cuts: Cuts
    files: Mapping[int, RankFile]
    names: tuple[Path, ...]
    merged: _Merged = field(default_factory=lambda: _Merged())

    def tables(self) -> PathTables:
        self.merged.read(self.files)
        return self.merged.tables

    def of(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        if not self.known:
            return
        self.merged.read(self.files)
        numbers = self.merged.rows.get(rank, np.zeros(1, np.int64))
        for low, high in self.cuts.blocks(rank, begin, end):
            rows = lanes_of.paths(self.lanes.get(rank, []), low, high)
            if len(rows):
                yield numbers[np.where(rows < len(numbers), rows, 0)]

    def names_files(self) -> tuple[Path, ...]:
        return self.names


class _Merged:
    """One table of all ranks' paths, made when it is first asked for."""

    def __init__(self) -> None:
        self.tables = PathTables.empty()
        self.rows: dict[int, np.ndarray] | None = None  # of each rank: where its paths are in `tables`

    def read(self, files: Mapping[int, RankFile]) -> None:
        """Read what the files say, once."""
        if self.rows is not None:
            return
        self.rows = {}
        ranks = sorted(files)
        for first in range(0, len(ranks), AT_ONCE):
            some = ranks[first : first + AT_ONCE]
            self._add(some, [_tables_of(files[rank]) for rank in some])

    def _add(self, ranks: list[int], tables: list[PathTables]) -> None:
        assert self.rows is not None
        self.tables, (before, *rows) = merged_paths([self.tables, *tables])
        self.rows = {rank: before[known] for rank, known in self.rows.items()}
        self.rows.update(zip(ranks, rows, strict=True))


def _tables_of(file: RankFile) -> PathTables:
    return PathTables(*(file.read(table, 0, file.lengths[table]) for table in ("paths", "modules", "functions")))


def has_paths(files: Mapping[int, RankFile]) -> bool:
    """Whether any rank recorded where its calls come from."""
    return any(file.lengths["paths"] for file in files.values())
