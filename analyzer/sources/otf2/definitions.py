"""Definitions of an OTF2 archive: ranks, regions, communicators and the clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.trace import Communicator, Nodes
from analyzer.trace.description import WORLD
from tracelib.schema import Peer


@dataclass(frozen=True)
class Otf2Names:
    """Regions and communicators by OTF2's numbers, the refs."""

    refs: np.ndarray  # refs of regions, ascending
    procedure: np.ndarray  # by region: index of the procedure; -1: a region of the program
    region: np.ndarray  # by region: number of the program's region, from 1; 0: it is a procedure
    comm_refs: np.ndarray  # refs of communicators, ascending
    members: tuple[np.ndarray, ...]  # by communicator: world ranks of its members

    def region_rows(self, refs: np.ndarray) -> np.ndarray:
        """Return for each ref of a region its index in `refs`; -1: it is not defined."""
        return _rows(self.refs, refs)

    def comm_rows(self, refs: np.ndarray) -> np.ndarray:
        """Return for each ref of a communicator its index in `comm_refs`; -1: it is not defined."""
        return _rows(self.comm_refs, refs)

    def world_rank(self, comm: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """Convert ranks within communicators to world ranks.

        Args:
            comm: Index of the communicator in `comm_refs`; -1: unknown.
            rank: Rank in that communicator.

        Returns:
            int64 world ranks; Peer.NONE if the communicator is unknown or has no such rank.
        """
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


@dataclass(frozen=True)
class ArchiveDefinitions:
    """Definitions of an OTF2 archive, converted to the numbers and types of a Trace."""

    ranks: list[list[Any]]  # locations (threads) of each rank; the first is the one in MPI's group
    names: Otf2Names
    procedures: tuple[str, ...]
    regions: tuple[str, ...]
    communicators: tuple[Communicator, ...]
    nodes: Nodes
    begin_ticks: int
    ticks_a_s: int

    def ns(self, time: np.ndarray) -> np.ndarray:
        """Convert ticks of the archive to ns after its begin."""
        ticks = time - np.int64(self.begin_ticks)
        if self.ticks_a_s == 10**9:
            return ticks
        whole, rest = np.divmod(ticks, self.ticks_a_s)
        return whole * 10**9 + np.rint(rest * (1e9 / self.ticks_a_s)).astype(np.int64)


def definitions(otf2: Any, said: Any) -> ArchiveDefinitions:
    """Convert the definitions that the package otf2 gives.

    Args:
        otf2: The package.
        said: Definitions of its reader.

    Raises:
        TracelibError: The archive has no threads.
    """
    ranks = _ranks(otf2, said)
    names, procedures, regions = _names(otf2, said, {one._ref: rank for rank, of in enumerate(ranks) for one in of})
    labels = {comm._ref: comm.name for comm in said.comms}
    communicators = [
        Communicator(1 + at, tuple(members.tolist()), name=labels.get(int(ref), ""))
        for at, (ref, members) in enumerate(zip(names.comm_refs, names.members, strict=True))
    ] or [Communicator(1, tuple(range(len(ranks))), name=WORLD)]
    clock = said.clock_properties
    return ArchiveDefinitions(
        ranks,
        names,
        tuple(procedures),
        tuple(regions),
        tuple(communicators),
        _nodes(ranks),
        int(clock.global_offset),
        int(clock.timer_resolution),
    )


def _ranks(otf2: Any, said: Any) -> list[list[Any]]:
    """Return the locations (threads) of each rank; the first is the one in MPI's group."""
    threads = [one for one in said.locations if one.type == otf2.LocationType.CPU_THREAD]
    if not threads:
        raise TracelibError("the archive has no threads")
    known = [
        group.members
        for group in said.groups
        if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI
    ]
    first = list(known[0]) if known else list({one.group._ref: one for one in reversed(threads)}.values())[::-1]
    return [[one, *(other for other in threads if other.group is one.group and other is not one)] for one in first]


def _names(otf2: Any, said: Any, rank_of: dict[int, int]) -> tuple[Otf2Names, list[str], list[str]]:
    """Return the names by refs, the names of MPI procedures, and the names of the program's regions."""
    procedures: dict[str, int] = {}
    regions: dict[str, int] = {}
    table = []
    for region in sorted(said.regions, key=lambda one: one._ref):
        if region.paradigm == otf2.Paradigm.MPI:
            table.append((region._ref, procedures.setdefault(region.name, len(procedures)), 0))
        else:
            table.append((region._ref, -1, regions.setdefault(region.name, len(regions) + 1)))
    refs, procedure, number = np.array(table, np.int64).reshape(-1, 3).T
    comms = sorted((one for one in said.comms if hasattr(one, "group")), key=lambda one: one._ref)
    members = tuple(np.array([rank_of[of._ref] for of in one.group.members], np.int64) for one in comms)
    comm_refs = np.array([one._ref for one in comms], np.int64)
    return Otf2Names(refs, procedure, number, comm_refs, members), list(procedures), list(regions)


def _nodes(ranks: list[list[Any]]) -> Nodes:
    of_rank = [threads[0].group.system_tree_parent.name for threads in ranks]
    names = list(dict.fromkeys(of_rank))
    cpus = tuple(sum(len(threads) for threads, name in zip(ranks, of_rank, strict=True) if name == n) for n in names)
    return Nodes(tuple(names), cpus, np.array([names.index(name) for name in of_rank], np.int32))
