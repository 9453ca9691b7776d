"""Sends without a receive and receives without a send. They are summed as they are found, so that memory is bounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.parallel import Team
from analyzer.recording.matching.half_message import HALF
from analyzer.trace import Unmatched

CUT_OFF = np.dtype([("rank", "<i4"), ("is_send", "?"), ("half", HALF)])
"""Send or receive (HALF) that has no other side, with its rank."""

_SIDES = ("receive", "send")
_KEY = 7
"""Number of key columns: rank, is_send, call, peer, tag, comm, path. Columns for bytes and count follow."""

PathsAt = Callable[[int, int, np.ndarray], np.ndarray]
"""Function that returns the paths of calls (rows of CallPaths.tables).

Its arguments are rank, thread, and the entries of the calls in ns, ascending.
"""


def no_paths(_rank: int, _thread: int, times: np.ndarray) -> np.ndarray:
    """Return 0 for each time. It stands for `PathsAt` where paths are not known."""
    return np.zeros(len(times), np.int64)


@dataclass(frozen=True)
class Reach:
    """Ranks and communicators for which a message may lack its other side although nothing is wrong with the trace."""

    unfinished: np.ndarray  # bool by rank: True if it did not end in order, so that last calls are missing
    outside: np.ndarray  # bool by communicator: True if it has members of another run
    unchosen: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  # bool by rank: not chosen

    def is_cut_off(self, ranks: np.ndarray, peers: np.ndarray) -> np.ndarray:
        """Return a mask of the messages of which one rank did not end in order.

        Peers may be invalid (damaged files).
        """
        found = self.unfinished[ranks]
        there = (peers >= 0) & (peers < len(self.unfinished))
        found[there] |= self.unfinished[peers[there]]
        return found

    def is_unchosen(self, halves: np.ndarray) -> np.ndarray:
        """Return a mask of the halves (HALF) whose other side belongs to a rank that was not chosen."""
        peers = halves["peer"]
        there = (peers >= 0) & (peers < len(self.unchosen))
        found = np.zeros(len(halves), bool)
        found[there] = self.unchosen[peers[there]]
        return found

    def is_elsewhere(self, halves: np.ndarray) -> np.ndarray:
        """Return a mask of the halves (HALF) whose other side belongs to another run."""
        known = halves["comm"] >= 0
        found = np.zeros(len(halves), bool)
        found[known] = self.outside[halves["comm"][known]]
        return found & (halves["peer"] < 0)


def cut_off(ranks: np.ndarray, is_send: bool, halves: np.ndarray) -> np.ndarray:
    """Convert halves (HALF) without other side to CUT_OFF. `ranks` has the rank of each half."""
    found = np.zeros(len(halves), CUT_OFF)
    found["rank"], found["is_send"], found["half"] = ranks, is_send, halves
    return found


class Leftovers:
    """Counts and bytes of sends and receives without other side.

    They are summed by rank, side, call, peer, tag, communicator and path.
    """

    def __init__(self, stranger: str = "an unknown rank", paths_at: PathsAt = no_paths) -> None:
        """Start with no leftovers.

        Args:
            stranger: Text for a peer that is no rank of the run.
            paths_at: Returns the paths of calls.
        """
        self._stranger, self._paths_at = stranger, paths_at
        self._table = np.zeros((0, _KEY + 2), np.int64)

    def add(self, ranks: np.ndarray, is_send: bool, halves: np.ndarray) -> None:
        """Add halves (HALF) that have no other side. `ranks` has the rank of each half."""
        if len(halves):
            columns = [halves[name] for name in ("call", "peer", "tag", "comm", "bytes")]
            of_all = np.full((2, len(halves)), [[is_send], [1]])
            columns.insert(-1, self._paths(ranks, halves))
            new = np.stack([ranks, of_all[0], *columns, of_all[1]], axis=1, dtype=np.int64, casting="unsafe")
            self._sum([self._table, new])

    def _paths(self, ranks: np.ndarray, halves: np.ndarray) -> np.ndarray:
        """Return the paths of the calls that posted the halves."""
        found = np.zeros(len(halves), np.int64)
        order = np.lexsort((halves["posted"], halves["thread"], ranks))
        new = (np.diff(ranks[order]) != 0) | (np.diff(halves["thread"][order]) != 0)
        for rows in np.split(order, np.flatnonzero(new) + 1):
            found[rows] = self._paths_at(int(ranks[rows[0]]), int(halves["thread"][rows[0]]), halves["posted"][rows])
        return found

    def merge(self, team: Team) -> None:
        """Give each member the sums of all members. All members of the team must call this method."""
        self._sum(team.allgather(self._table))

    def _sum(self, tables: Sequence[np.ndarray]) -> None:
        rows = np.concatenate(tables)
        rows = rows[np.lexsort(rows[:, :_KEY].T[::-1])]
        first = np.flatnonzero(np.r_[True, (rows[1:, :_KEY] != rows[:-1, :_KEY]).any(axis=1)][: len(rows)])
        sums = np.add.reduceat(rows[:, _KEY:], first) if len(rows) else rows[:, _KEY:]
        self._table = np.concatenate([rows[first, :_KEY], sums], axis=1)

    def table(self, procedures: Sequence[str], chain: Callable[[int], str] = lambda _: "") -> list[Unmatched]:
        """Return the sums, in order of rank, side, call, peer, tag, communicator and path.

        Args:
            procedures: Names of the MPI procedures, by number.
            chain: Function that returns a path as text.
        """
        return [
            Unmatched(
                rank,
                _name(procedures, call, is_send),
                max(peer, -1),
                tag,
                comm,
                size,
                count,
                _SIDES[int(is_send)],
                self._stranger,
                chain(path) if path else "",
                path,
            )
            for rank, is_send, call, peer, tag, comm, path, size, count in self._table.tolist()
        ]


def _name(procedures: Sequence[str], call: int, is_send: int) -> str:
    """Return the name of the posting call. If the row of the call was lost, it is named by the kind of operation."""
    if call >= 0:
        return procedures[call]
    return "MPI_Start" if is_send else "MPI_Irecv"
