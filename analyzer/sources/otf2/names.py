"""What the numbers of an OTF2 archive's definitions mean here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracelib.schema import Peer


@dataclass(frozen=True)
class Names:
    """Regions and communicators by OTF2's numbers ("refs")."""

    refs: np.ndarray  # of regions, ascending
    procedure: np.ndarray  # of each: index of the procedure; -1: it is a region of the program
    region: np.ndarray  # of each: number of the region, from 1; 0: it is a procedure
    comm_refs: np.ndarray  # of communicators, ascending
    members: tuple[np.ndarray, ...]  # of each: world ranks

    def region_rows(self, refs: np.ndarray) -> np.ndarray:
        """Where each region stands in `refs`; -1: it is not defined."""
        return _rows(self.refs, refs)

    def comm_rows(self, refs: np.ndarray) -> np.ndarray:
        """The index of each communicator; -1: it is not defined."""
        return _rows(self.comm_refs, refs)

    def world_rank(self, comm: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """World ranks of ranks in communicators (indices here; -1: unknown); Peer.NONE of who is none."""
        found = np.full(len(comm), Peer.NONE, np.int64)
        for one in np.unique(comm[comm >= 0]).tolist():
            members = self.members[one]
            mine = np.flatnonzero((comm == one) & (rank < len(members)))
            found[mine] = members[rank[mine]]
        return found


def _rows(known: np.ndarray, refs: np.ndarray) -> np.ndarray:
    if not len(known):
        return np.full(len(refs), -1)
    at = np.searchsorted(known, refs).clip(max=len(known) - 1)
    return np.where(known[at] == refs, at, -1)
