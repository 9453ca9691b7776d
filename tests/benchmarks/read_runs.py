"""The rows of a run's files as h5py reads them, with names in the place of numbers."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np


@dataclass(frozen=True)
class RankRows:
    """Rows of one rank; times are ticks."""

    calls: np.ndarray
    requests: np.ndarray
    names: np.ndarray  # of each call
    tables: dict[str, np.ndarray]
    attributes: dict[str, object]

    def of(self, *names: str) -> np.ndarray:
        """Its calls of these procedures."""
        return self.calls[np.isin(self.names, names)]


def read_ranks(run: Path) -> list[RankRows]:
    """All ranks, through the links of run.h5."""
    with h5py.File(run) as file:
        return [_read(file["ranks"][name]) for name in sorted(file["ranks"])]


def _read(group: h5py.Group) -> RankRows:
    tables = {name: data[:] for name, data in group.items() if name != "procedures"}
    names = group["procedures"].asstr()[:]
    return RankRows(tables["calls"], tables["requests"], names[tables["calls"]["call"]], tables, dict(group.attrs))
