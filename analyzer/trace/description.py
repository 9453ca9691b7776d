"""Descriptions that a `Trace` has besides records: origin, nodes, communicators, clocks, counters, problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analyzer.trace.system import NodeSamples


_MOST_STRETCHES = 3


def ranks_text(ranks: Sequence[int]) -> str:
    """Return a short text of a list of numbers, such as "0-6:2,9" for 0, 2, 4, 6, 9.

    A stretch "first-last:step" stands for numbers at equal distance (":1" is left out). After _MOST_STRETCHES (3)
    stretches follows "...".
    """
    parts: list[str] = []
    at = 0
    while at < len(ranks):
        if len(parts) == _MOST_STRETCHES:
            return ",".join([*parts, "..."])
        step = ranks[at + 1] - ranks[at] if at + 1 < len(ranks) else 0
        last = at
        while last + 1 < len(ranks) and ranks[last + 1] - ranks[last] == step:
            last += 1
        if last - at < 2 and step != 1:
            last = at
        text = str(ranks[at]) if last == at else f"{ranks[at]}-{ranks[last]}"
        parts.append(text + (f":{step}" if last > at and step != 1 else ""))
        at = last + 1
    return ",".join(parts)


def ranks_named(ranks: Sequence[int]) -> str:
    """Return the ranks as words of a sentence, such as "rank 3" or "ranks 0-6:2,9"."""
    return f"rank{'s' if len(ranks) > 1 else ''} {ranks_text(ranks)}"


WORLD, SELF = "MPI_COMM_WORLD", "MPI_COMM_SELF"
"""Names of the communicators that every run has. Each rank has its own MPI_COMM_SELF."""


@dataclass(frozen=True)
class Origin:
    """Origin of a trace: the program, the tool and the kind of source.

    It determines what the times of the trace mean.
    """

    command: str = ""  # program and its arguments, if the source knows them
    date: datetime | None = None  # start of the run, by its own machine's clock
    applications: tuple[int, ...] = ()  # number of ranks of each application, in order of rank; (): one application
    imported: bool = False  # True for a trace such as a .prv, which does not say all that our own runs do
    predicted: bool = False  # True if our simulator predicted it
    has_states: bool = True  # False: events only, so that it is not known when threads compute
    tracer_times: bool = True  # True if the tracer's time is known; False: figures count it as computation


@dataclass(frozen=True)
class Nodes:
    """Nodes of a run, and the node on which each rank ran."""

    names: tuple[str, ...]
    cpus: tuple[int, ...]  # number of CPUs of each node, as .prv counts them
    of_rank: np.ndarray  # (size,) index in names
    affinity: tuple[frozenset[int], ...] = ()  # CPUs of its node that each rank could use; empty: not known
    samples: tuple[NodeSamples, ...] = ()  # samples of load, memory, network and disk, by node

    def of(self, ranks: range) -> Nodes:
        """Return these nodes with only the given ranks, renumbered from 0; without affinity and samples."""
        return Nodes(self.names, self.cpus, self.of_rank[ranks.start : ranks.stop])

    @classmethod
    def on_one_node(cls, ranks: int, cpus: int, name: str = "node1") -> Nodes:
        """Return one node, `name`, with a number of CPUs, on which all `ranks` ranks are."""
        return cls((name,), (cpus,), np.zeros(ranks, np.int32))


@dataclass(frozen=True)
class Communicator:
    """Communicator with the world ranks of its members.

    Attributes:
        id: Number of the communicator in .prv and .dim files, from 1 (MPI_COMM_WORLD).
        members: World ranks in order; of an intercommunicator the first group.
        remote: World ranks of the other group of an intercommunicator; (): no intercommunicator.
        name: Name that the program or MPI gave it; "": none.
        outside: Number of processes in its groups that do not belong to the run.
    """

    id: int
    members: tuple[int, ...]
    remote: tuple[int, ...] = ()
    name: str = ""
    outside: int = 0  # number of processes of its groups that are not in the run

    @property
    def label(self) -> str:
        """Name of the communicator. Without a name its number and world ranks: "communicator 3 of 0-7:2"."""
        return self.name or f"communicator {self.id} of {self.ranks}"

    @property
    def ranks(self) -> str:
        """World ranks of the members as a short text, such as "0-7:2" for every second rank.

        At most three stretches are shown (`ranks_text`). An intercommunicator shows both groups: "0 and 1-3".
        """
        groups = [ranks_text(group) for group in (self.members, self.remote) if group] or ["no rank of the run"]
        return " and ".join([*groups, f"{self.outside} elsewhere"] if self.outside else groups)


@dataclass(frozen=True)
class SharedObject:
    """RMA window or file that several ranks use."""

    kind: str  # "window", "file"; "": unknown
    comm: int  # index in Trace.communicators; -1: unknown
    bytes: int = 0  # size of an RMA window in bytes, sum over all ranks
    flags: int = 0  # flavour of an RMA window, access mode of a file, as in the rank file
    name: str = ""  # name of a file; "": an RMA window


@dataclass(frozen=True)
class Problem:
    """Defect of a trace with which an analysis can still go on. The user gets it as one line."""

    rank: int  # -1: the whole trace
    text: str
    note: bool = False  # True if it only explains the figures, and nothing is wrong with the trace

    @property
    def line(self) -> str:
        """Text for the user; if the problem is of one rank, with that rank: "rank 1: was killed"."""
        return f"rank {self.rank}: {self.text}" if self.rank >= 0 else self.text


@dataclass(frozen=True)
class UnfinishedCall:
    """Call from which a killed process did not return. `Trace.calls` contains it as a call of its thread."""

    rank: int
    thread: int
    procedure: str
    enter_ns: int
    until_ns: int  # time up to which the call certainly lasted: the last sign of life
    seen: bool  # until_ns is, True: a sample of the process itself; False: the last record of any rank


@dataclass(frozen=True)
class Unpaired:
    """Number of sends and of receives without a partner in the trace, and number of messages that have both."""

    sends: int
    receives: int
    messages: int

    @property
    def text(self) -> str:
        """Summary such as "12 sends and 1 receive have no other side in the trace"; "" if all have a partner."""
        counts = (self.sends, "send"), (self.receives, "receive")
        parts = [f"{n} {name}{'' if n == 1 else 's'}" for n, name in counts if n]
        verb = "has" if self.sends + self.receives == 1 else "have"
        return f"{' and '.join(parts)} {verb} no other side in the trace" if parts else ""


@dataclass(frozen=True)
class NodeClock:
    """Relation of a node's clock to rank 0's clock. Fields are None where the value is not known."""

    ranks: tuple[int, ...]  # ranks that read this clock
    ahead_ns: int  # ns that the clock is ahead of rank 0's clock at the first reading
    drift_ppm: float | None  # how much faster the clock runs than rank 0's, in 1e-6; None: one reading only
    accuracy_ns: int | None  # estimated standard error of the worst reading
    bound_ns: int | None  # half the longest round trip of the readings: no error is larger
    readings: int  # number of readings used; 0: aligned by wall-clock time


@dataclass(frozen=True)
class Repair:
    """Changes that were made to times so that no effect comes before its cause.

    `furthest_ns` is the largest distance by which a time was moved, in ns.
    """

    ranks: int  # number of ranks whose times were moved
    furthest_ns: int


@dataclass(frozen=True)
class Unmatched:
    """Sends without a receive, or receives without a send: one row for each rank, side, call, peer, tag, comm and path.

    `bytes` is their sum, `count` their number. `comm` is an index in Trace.communicators.
    """

    rank: int
    call: str  # MPI_Send, ...
    peer: int  # world rank; -1 unknown
    tag: int
    comm: int
    bytes: int
    count: int
    side: str  # "send" or "receive": a Sendrecv, a Startall has both
    stranger: str = "an unknown rank"  # text for a peer that is not known
    place: str = ""  # place of the calls, with their callers; empty: not known
    path: int = 0  # row of the place in CallPaths.tables

    @property
    def text(self) -> str:
        """Description such as "rank 3: 8 x MPI_Startall to rank 1, tag 9, at x.c:12 in f < main x.c:40"."""
        peer = f"rank {self.peer}" if self.peer >= 0 else self.stranger
        direction = "to" if self.side == "send" else "from"
        at = f", at {self.place}" if self.place else ""
        return f"rank {self.rank}: {self.count} x {self.call} {direction} {peer}, tag {self.tag}{at}"


@dataclass(frozen=True)
class Relative:
    """Other run with whose processes this run communicated. `name` is its file; "": no such file in the folder."""

    what: str  # "spawned", "was spawned by", "connected with"
    rank: int  # first rank of this run that took part; -1: all ranks
    there: int  # number of processes of the other run
    name: str

    @property
    def text(self) -> str:
        """Description in one line, such as "rank 0 spawned 4 processes: child.h5"."""
        who = f"rank {self.rank} " if self.rank >= 0 else ""
        others = f"{self.there} process{'es' if self.there > 1 else ''}"
        rest = self.name or "not traced, or their run is not in this folder"
        return f"{who}{self.what} {others}: {rest}"


UNKNOWN = -1
"""Value of a reading that was not taken: counters, and times that the kernel does not give."""


@dataclass(frozen=True)
class Counter:
    """Hardware or software counter, with the event type that it has in Paraver."""

    name: str  # PAPI_TOT_INS, perf::PAGE-FAULTS, CPU_NS, ...
    type: int
    whole: bool = False  # True if it counts from the thread's start, whichever counter set is active, as CPU time does


@dataclass(frozen=True)
class Counts:
    """Calls with the readings of the counters at their entry and exit.

    Arrays are int64 of shape (calls, counters), with columns in the order of `Counters.known`. A counter that was not
    read is UNKNOWN (-1); so are all counters at polls. Readings never decrease while one set of counters is active.
    Counters stand still during flushes and failing polls.
    """

    calls: np.ndarray  # (calls,) CALL
    enter: np.ndarray  # reading at the entry
    exit: np.ndarray  # reading at the exit
    burst: np.ndarray  # counted by the same thread between the previous call and this one

    @property
    def inside(self) -> np.ndarray:
        """Counts inside each call: the reading at the exit minus the reading at the entry.

        UNKNOWN (-1): one of the two was not read, or the counters were set to zero between them.
        """
        known = (self.exit >= self.enter) & (self.enter >= 0)
        return np.where(known, self.exit - self.enter, UNKNOWN)


@dataclass(frozen=True)
class Samples:
    """Readings of counters between MPI calls, in order of time.

    They are taken periodically (TRACELIB_SAMPLE), and at begins and ends of regions. `values` is int64 of shape
    (samples, counters), with columns in the order of `Counters.known`; UNKNOWN (-1): not read. The readings continue
    the readings of `Counts`: both count from the same zero.
    """

    time: np.ndarray  # (samples,) ns
    thread: np.ndarray  # (samples,) thread of the sample
    at_region: np.ndarray  # (samples,) bool: True for a reading at the begin or end of a region of the program
    values: np.ndarray
