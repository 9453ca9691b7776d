"""Profile: calls, time and bytes of each procedure on each rank, as profilers such as mpiP print."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np

from analyzer.columns.arrays import by_index
from analyzer.in_notebook import InNotebook
from analyzer.metrics.sums import Sums, add_up
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.recording.thread_records.burst_mode import SUMMED_PROCEDURE
from analyzer.trace import SummedCalls, Trace
from tracelib.schema.procedures import TESTS, WAITS, base_name

_COLUMNS = ("count", "inside", "sent", "received")


@dataclass(frozen=True)
class Profile(InNotebook):
    """Calls, time and bytes by rank and procedure. All arrays are int64 of shape (ranks, procedures)."""

    procedures: tuple[str, ...]  # names of the procedures that were called
    count: np.ndarray  # number of calls; each failing poll counts
    inside_ns: np.ndarray  # time inside MPI in ns
    sent: np.ndarray  # bytes handed to MPI
    received: np.ndarray  # bytes taken from MPI; nonblocking receives count at the call that posted them

    @property
    def called(self) -> frozenset[str]:
        """Return the names of the procedures that were called."""
        return frozenset(compress(self.procedures, (self.count.sum(axis=0) > 0).tolist()))

    def mpi_ns(self) -> np.ndarray:
        """Return the time inside MPI of each rank in ns, int64 of shape (ranks,)."""
        return self.inside_ns.sum(axis=1)

    def by_time(self) -> list[int]:
        """Return the indices of the procedures that were called, the longest total time first."""
        used = np.flatnonzero(self.count.sum(axis=0))
        return sorted(used.tolist(), key=lambda p: (-int(self.inside_ns[:, p].sum()), self.procedures[p]))


def profile(trace: Trace, team: Team) -> Profile:
    """Sum calls, time inside MPI and bytes of each procedure on each rank. Collective."""
    return add_up(trace, team, ProfileSums(trace))


class ProfileSums(Sums[Profile]):
    """Sums of a Profile.

    Bytes of a nonblocking or persistent operation count at the call that posted or started it (MPI_Irecv, MPI_Start,
    ...), as in mpiP. The time of waiting stays with MPI_Wait and its kin.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._completes = completing(trace)
        self._sums: dict[int, np.ndarray] = {}  # by procedure that was called, (4, ranks)

    def add(self, part: Part) -> None:
        rank, calls = part.calls
        sent, received = bytes_of_calls(part, self._completes)
        width = len(self._trace.procedures)
        key, shape = (rank - part.ranks.start) * width + calls["call"], (len(part.ranks), width)
        columns = (calls["count"], calls["inside"], sent, received)
        tables = [by_index(key, column, int(np.prod(shape))).reshape(shape) for column in columns]
        for call in np.unique(calls["call"]).tolist():
            of_call = self._of(call)[:, part.ranks.start : part.ranks.stop]
            of_call += np.array([table[:, call] for table in tables])

    def _of(self, call: int) -> np.ndarray:
        if call not in self._sums:
            self._sums[call] = np.zeros((4, self._trace.size), np.int64)
        return self._sums[call]

    def total(self, team: Team) -> Profile:
        for rank in self._trace.share(team):
            self._complete(rank)
        parts = team.allgather(self._sums)
        called = sorted({call for part in parts for call in part})
        names = tuple(self._trace.procedures[call] for call in called)
        none = np.zeros((4, self._trace.size), np.int64)
        sums = [sum((part[call] for part in parts if call in part), none) for call in called]
        return Profile(names, *(np.stack(sums, axis=2) if sums else np.zeros((4, self._trace.size, 0), np.int64)))

    def _complete(self, rank: int) -> None:
        """Replace the folded rows of calls that were not recorded one by one by the known sums of each procedure."""
        rows = self._trace.extra(SummedCalls).of(rank)
        if not len(rows):
            return
        self._of(self._trace.procedures.index(SUMMED_PROCEDURE))[:, rank] = 0
        for row in rows:
            self._of(int(row["call"]))[:, rank] += [row[column] for column in _COLUMNS]


def completing(trace: Trace) -> np.ndarray:
    """Return a mask of the procedures of a trace that complete operations posted by other calls: MPI_Wait, ...."""
    return np.array([base_name(p) in WAITS | TESTS for p in trace.procedures], bool)


def bytes_of_calls(part: Part, completes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes that each call of a part hands to MPI, and the bytes that it takes from MPI.

    Bytes of nonblocking and persistent operations count at the call that posted or started them.

    Args:
        part: The part.
        completes: Mask of procedures from `completing`.
    """
    calls = part.calls.rows
    sent, received = part.posted_bytes
    # A started send may be in its own row too; a Wait's row repeats the bytes of its receive.
    return np.maximum(calls["sent"], sent), received + np.where(completes[calls["call"]], 0, calls["received"])
