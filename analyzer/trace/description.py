"""What a `Trace` is made of besides its records: origin, nodes, communicators, objects, clocks, counters, problems."""

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
    """Numbers in their order as stretches of one step, "0-6:2,9"; "..." for those that are too many to name."""
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
    """The same in a sentence: "rank 3", "ranks 0-6:2,9"."""
    return f"rank{'s' if len(ranks) > 1 else ''} {ranks_text(ranks)}"


WORLD, SELF = "MPI_COMM_WORLD", "MPI_COMM_SELF"
"""Names of the communicators that every run has; of the second one for each rank."""


@dataclass(frozen=True)
class Origin:
    """Where a trace comes from, and with it what its figures mean."""

    command: str = ""  # the program and its arguments, where the source knows them
    date: datetime | None = None  # when the run started, as its own machine's clock said
    applications: tuple[int, ...] = ()  # ranks of each application, in order of rank; (): one application
    imported: bool = False  # from a .prv, which does not say all that a run of ours does
    predicted: bool = False  # by our simulator, not measured
    has_states: bool = True  # False: of events only, so that nobody knows what is computing
    tracer_times: bool = True  # when the tracer held threads is told from computation; False: figures keep it as that


@dataclass(frozen=True)
class Nodes:
    """The machines of a run, and where each rank was."""

    names: tuple[str, ...]
    cpus: tuple[int, ...]  # number of CPUs of each node, as .prv counts them
    of_rank: np.ndarray  # (size,) index in names
    affinity: tuple[frozenset[int], ...] = ()  # CPUs of its node that each rank could use; empty: not known
    samples: tuple[NodeSamples, ...] = ()  # what nodes said of their load, memory, network and disk; by node

    def of(self, ranks: range) -> Nodes:
        """The same nodes for some of the ranks, numbered from 0."""
        return Nodes(self.names, self.cpus, self.of_rank[ranks.start : ranks.stop])

    @classmethod
    def one(cls, ranks: int, cpus: int, name: str = "node1") -> Nodes:
        """All ranks on the same one."""
        return cls((name,), (cpus,), np.zeros(ranks, np.int32))


@dataclass(frozen=True)
class Communicator:
    """Members by world rank. `id` is what .prv and .dim call it, from 1 (1: MPI_COMM_WORLD)."""

    id: int
    members: tuple[int, ...]
    remote: tuple[int, ...] = ()
    name: str = ""
    outside: int = 0  # processes of its groups that are not of the run

    @property
    def label(self) -> str:
        """Its name, else its number and world ranks: "communicator 3 of 0-7:2"."""
        return self.name or f"communicator {self.id} of {self.ranks}"

    @property
    def ranks(self) -> str:
        """World ranks in order, "0-7:2" every second of them; of many the beginning; of both groups "0 and 1-3"."""
        groups = [ranks_text(group) for group in (self.members, self.remote) if group] or ["no rank of the run"]
        return " and ".join([*groups, f"{self.outside} elsewhere"] if self.outside else groups)


@dataclass(frozen=True)
class SharedObject:
    """A window or file of the program."""

    kind: str  # "window", "file"; "": unknown
    comm: int  # index in Trace.communicators; -1: unknown
    bytes: int = 0  # of a window, the parts of all ranks
    flags: int = 0  # flavour of a window, access mode of a file, as in the rank file
    name: str = ""  # of a file


@dataclass(frozen=True)
class Problem:
    """Something wrong with a trace that an analysis can live with; shown to the user as one line."""

    rank: int  # -1: the whole trace
    text: str
    note: bool = False  # it is what the figures are, and nothing is wrong with the trace

    @property
    def line(self) -> str:
        """ "rank 1: was killed"."""
        return f"rank {self.rank}: {self.text}" if self.rank >= 0 else self.text


@dataclass(frozen=True)
class UnfinishedCall:
    """A call that a killed process did not come back from. It is among the calls of its thread."""

    rank: int
    thread: int
    procedure: str
    enter_ns: int
    until_ns: int  # the last sign of life
    seen: bool  # of the process itself, in a sample; else the last thing that any rank recorded


@dataclass(frozen=True)
class Unpaired:
    """Sends and receives without their other side, beside the messages that have both."""

    sends: int
    receives: int
    messages: int

    @property
    def text(self) -> str:
        """ "12 sends and 1 receive have no other side in the trace"; "" where all have."""
        counts = (self.sends, "send"), (self.receives, "receive")
        parts = [f"{n} {name}{'' if n == 1 else 's'}" for n, name in counts if n]
        verb = "has" if self.sends + self.receives == 1 else "have"
        return f"{' and '.join(parts)} {verb} no other side in the trace" if parts else ""


@dataclass(frozen=True)
class NodeClock:
    """How a clock that is not rank 0's was related to it; errors are None where nobody knows them."""

    ranks: tuple[int, ...]  # that read this clock
    ahead_ns: int  # of rank 0's clock, at the first reading
    drift_ppm: float | None  # how much faster it is; None: one reading only
    accuracy_ns: int | None  # estimated standard error of the worst reading
    bound_ns: int | None  # half the longest of the readings' round trips: no error is larger
    readings: int  # that were used; 0: aligned by wall-clock time


@dataclass(frozen=True)
class Repair:
    """What moving times to where causes come before effects did."""

    ranks: int  # whose times were moved
    furthest_ns: int


@dataclass(frozen=True)
class Unmatched:
    """Sends without receive and the reverse, summed by rank, side, call, peer, tag, communicator and call path."""

    rank: int
    call: str  # MPI_Send, ...
    peer: int  # world rank; -1 unknown
    tag: int
    comm: int
    bytes: int
    count: int
    side: str  # "send" or "receive": a Sendrecv, a Startall has both
    stranger: str = "an unknown rank"  # what a peer is called that is not known
    place: str = ""  # of the calls, with their callers; empty: not known
    path: int = 0  # the same as a row of CallPaths.tables

    @property
    def text(self) -> str:
        """Who waits for whom: "rank 3: 8 x MPI_Startall to rank 1, tag 9, at x.c:12 in f < main x.c:40"."""
        peer = f"rank {self.peer}" if self.peer >= 0 else self.stranger
        direction = "to" if self.side == "send" else "from"
        at = f", at {self.place}" if self.place else ""
        return f"rank {self.rank}: {self.count} x {self.call} {direction} {peer}, tag {self.tag}{at}"


@dataclass(frozen=True)
class Relative:
    """With whom a run has met: `name` of the other's file, "" where there is none in the folder."""

    what: str  # "spawned", "was spawned by", "connected with"
    rank: int  # the first of this side; -1: all
    there: int  # processes of the other
    name: str

    @property
    def text(self) -> str:
        """In one line."""
        who = f"rank {self.rank} " if self.rank >= 0 else ""
        others = f"{self.there} process{'es' if self.there > 1 else ''}"
        rest = self.name or "not traced, or their run is not in this folder"
        return f"{who}{self.what} {others}: {rest}"


UNKNOWN = -1
"""Where a counter was not read."""


@dataclass(frozen=True)
class Counter:
    """A hardware or software counter: its name as the user gave it, its Paraver event type."""

    name: str  # PAPI_TOT_INS, perf::PAGE-FAULTS, CPU_NS, ...
    type: int
    whole: bool = False  # counts from the thread's beginning, whatever set is read: CPU time


@dataclass(frozen=True)
class Counts:
    """Calls with the counters at their entry and exit. Arrays are int64 of shape (calls, counters), the columns in the
    order of `Counters.known`, UNKNOWN (-1) where a counter was not read: polls have no readings.

    Readings only grow from the beginning of their set on; they stand still in flushes and in failing polls.
    """

    calls: np.ndarray  # (calls,) CALL
    enter: np.ndarray  # reading at the entry
    exit: np.ndarray  # reading at the exit
    burst: np.ndarray  # counted by the same thread since the call before this one

    @property
    def inside(self) -> np.ndarray:
        """Counted inside each call."""
        known = (self.exit >= self.enter) & (self.enter >= 0)
        return np.where(known, self.exit - self.enter, UNKNOWN)


@dataclass(frozen=True)
class Samples:
    """Readings of counters outside MPI calls, in order of time: of TRACELIB_SAMPLE, and at begins and ends of regions.

    `values` is int64 of shape (samples, counters), the columns in the order of `Counters.known`, UNKNOWN (-1) where a
    counter was not read. They count from where the readings of `Counts` do, and grow with them.
    """

    time: np.ndarray  # (samples,) ns
    thread: np.ndarray  # (samples,) of which they are
    at_region: np.ndarray  # (samples,) bool: at the begin or the end of a region of the program
    values: np.ndarray
