"""The one type that every analysis, writer and picture works on, whatever the trace came from.

A `Trace` is columns per rank, read lazily: methods return numpy arrays for a window of time, and no
caller ever needs more than a window. Times are integer nanoseconds from the start of the trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analyzer.operations.operation import Program
    from analyzer.sources.lane import Lane
    from analyzer.system import NodeSamples

STATE = np.dtype(
    [("begin", "<i8"), ("end", "<i8"), ("rank", "<i4"), ("thread", "<i4"), ("state", "<i4"), ("cpu", "<i4")]
)
"""An interval of one thread: [begin, end) in one of Paraver's states (`State`).

rank and thread count from 0; cpu goes through all nodes and counts from 1, 0 is unknown.
"""

EVENT = np.dtype(
    [("time", "<i8"), ("value", "<i8"), ("type", "<u4"), ("rank", "<i4"), ("thread", "<i4"), ("cpu", "<i4")]
)
"""A punctual event of one thread; types and values are Paraver's, as in "Extrae event types"."""

MESSAGE = np.dtype(
    [
        ("logical_send", "<i8"),
        ("physical_send", "<i8"),
        ("logical_receive", "<i8"),
        ("physical_receive", "<i8"),
        ("size", "<i8"),
        ("source", "<i4"),  # world rank
        ("source_thread", "<i4"),
        ("destination", "<i4"),  # world rank
        ("destination_thread", "<i4"),
        ("tag", "<i8"),
        ("comm", "<i4"),  # index in Trace.communicators; -1: the source does not say (imported .prv)
        ("source_cpu", "<i4"),
        ("destination_cpu", "<i4"),
        ("reserved", "<i4"),
    ]
)
"""A matched point-to-point message.

Logical times: entry of the sending call, of the receive's posting call. Physical: data handed over, receive complete.
"""

CALL = np.dtype(
    [
        ("enter", "<i8"),
        ("exit", "<i8"),
        ("sent", "<i8"),
        ("received", "<i8"),
        ("comm", "<i4"),  # index in Trace.communicators; -1: none
        ("peer", "<i4"),  # WORLD rank of destination, actual source or root; negative: tracelib.schema.Peer
        ("tag", "<i4"),
        ("call", "<i4"),  # index in Trace.procedures
        ("thread", "<i4"),
        ("count", "<i4"),  # 1; for folded polls the number of failing polls
        ("inside", "<i8"),  # ns inside MPI: exit - enter, less for folded polls, 0 in MPI_Wtime
    ]
)
"""One MPI call, or a run of failing polls (count of them, `inside` ns in MPI)."""

REQUEST = np.dtype(
    [
        ("posted", "<i8"),
        ("completed", "<i8"),
        ("bytes", "<i8"),
        ("comm", "<i4"),
        ("peer", "<i4"),  # WORLD rank
        ("tag", "<i4"),
        ("what", "<i4"),  # tracelib.schema.What
        ("thread", "<i4"),
        ("reserved", "<i4"),
    ]
)
"""A row of a rank file's `requests` in ns and world ranks; `tag` of a collective is an index in Trace.procedures."""

ACCESS = np.dtype(
    [
        ("enter", "<i8"),  # of the call
        ("offset", "<i8"),  # bytes in the file or the target's window, or an address; -1: not known
        ("object", "<i4"),  # index in Trace.objects; -1: unknown
        ("detail", "<i4"),  # lock and assertion, as in the rank file
        ("thread", "<i4"),
        ("group", "<i4"),  # of MPI_Win_start and MPI_Win_post, for Trace.group; 0: not known
    ]
)
"""What a call does to a window or file; its row of CALL has the same enter and thread."""

ERROR = np.dtype([("time", "<i8"), ("class", "<i8"), ("call", "<i4"), ("thread", "<i4")])
"""An error that a call (index in Trace.procedures; -1: unknown) returned; classes as in analyzer.error_classes."""

MARK = np.dtype([("time", "<i8"), ("value", "<i8"), ("number", "<i4"), ("thread", "<i4"), ("what", "<i4")])
"""A region of the program begins or ends, or says something of itself: `what` is a Mark, `number` that of the region
or the parameter from 1, `value` that of the parameter (of a real one its bits as float64)."""

MISSED_COLLECTIVES = np.dtype(
    [("time", "<i8"), ("count", "<i8"), ("comm", "<i4"), ("call", "<i4"), ("begins", "?"), ("reserved", "V3")]
)
"""Collectives of a communicator (index in Trace.communicators) that a rank made, one after the other, while it recorded
nothing: how many, and when it entered the last. `begins`: nonblocking ones; `call`: of persistent ones what made them
(index in Trace.procedures), else -1."""

SUMMED = np.dtype([("call", "<i4"), ("count", "<i8"), ("inside", "<i8"), ("sent", "<i8"), ("received", "<i8")])
"""All calls of one procedure that were not recorded one by one: number, ns inside MPI, bytes."""

FLUSH = np.dtype([("begin", "<i8"), ("end", "<i8"), ("thread", "<i4"), ("state", "<i4")])
"""A time that is not the program's: the tracer wrote its buffer (state IO), measured clocks (OTHERS), or recorded
nothing (TRACING_DISABLED)."""


class Mark(IntEnum):
    """`what` of a MARK. Parameters and PARALLEL belong to the innermost region of their thread."""

    BEGIN = 1
    END = 2
    INTEGER = 3
    REAL = 4
    PARALLEL = 5


class State(IntEnum):
    """Paraver states as Extrae numbers them."""

    IDLE = 0
    RUNNING = 1
    NOT_CREATED = 2
    WAITING_MESSAGE = 3
    BLOCKING_SEND = 4
    SYNCHRONIZATION = 5
    TEST_PROBE = 6
    SCHEDULING = 7
    WAIT = 8
    BLOCKED = 9
    IMMEDIATE_SEND = 10
    IMMEDIATE_RECEIVE = 11
    IO = 12
    GROUP_COMMUNICATION = 13
    TRACING_DISABLED = 14
    OTHERS = 15
    SEND_RECEIVE = 16
    MEMORY_TRANSFER = 17
    ONE_SIDED = 25


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


WORLD, SELF = "MPI_COMM_WORLD", "MPI_COMM_SELF"
"""Names of the communicators that every run has; of the second one for each rank."""


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
        groups = [ranks_text(group) for group in (self.members, self.remote) if group]
        return " and ".join(groups) or "no rank of the run"


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
    """Sends without receive and the reverse, summed by rank, side, call, peer, tag and communicator."""

    rank: int
    call: str  # MPI_Send, ...
    peer: int  # world rank; -1 unknown
    tag: int
    comm: int
    bytes: int
    count: int
    side: str  # "send" or "receive": a Sendrecv, a Startall has both

    @property
    def text(self) -> str:
        """Who waits for whom: "rank 3: 8 x MPI_Startall to rank 1, tag 9"."""
        peer = f"rank {self.peer}" if self.peer >= 0 else "an unknown rank"
        direction = "to" if self.side == "send" else "from"
        return f"rank {self.rank}: {self.count} x {self.call} {direction} {peer}, tag {self.tag}"


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
    order of `Trace.counters`, UNKNOWN (-1) where a counter was not read: polls have no readings.

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

    `values` is int64 of shape (samples, counters), the columns in the order of `Trace.counters`, UNKNOWN (-1) where a
    counter was not read. They count from where the readings of `Counts` do, and grow with them.
    """

    time: np.ndarray  # (samples,) ns
    thread: np.ndarray  # (samples,) of which they are
    at_region: np.ndarray  # (samples,) bool: at the begin or the end of a region of the program
    values: np.ndarray


class Trace(ABC):
    """A run: measured (run.h5), imported (.prv), or later predicted and cut.

    All times are int64 ns from 0; ranks are world ranks from 0.
    """

    path: str
    size: int  # number of ranks
    nodes: tuple[str, ...]  # host names
    cpus: tuple[int, ...]  # number of CPUs of each node, as .prv counts them
    node_of: np.ndarray  # (size,) index into nodes
    threads: np.ndarray  # (size,) number of threads of each rank
    duration_ns: int  # end of the trace
    communicators: tuple[Communicator, ...]
    procedures: tuple[str, ...]  # "MPI_Send", ...
    problems: list[Problem]  # lost records, missing ranks, killed processes, malformed lines
    flush_mode: str  # "subtract" (our own runs) or "keep" (imported)
    event_labels: dict[int, tuple[str, dict[int, str]]]  # type -> (label, value -> label): for the .pcf
    date: datetime | None = None  # when the run started, as its own machine's clock said
    applications: tuple[int, ...] = ()  # ranks of each application, in order of rank; (): one application
    missing: tuple[int, ...] = ()  # ranks of which nothing could be read: no figure counts them as idle
    affinity: tuple[frozenset[int], ...] = ()  # CPUs of its node that each rank could use; empty: not known
    command: str = ""  # the program and its arguments, where the source knows them
    counters: tuple[Counter, ...] = ()  # all that were read by any rank
    objects: tuple[SharedObject, ...] = ()  # windows and files
    buffer_bytes: int = 0  # the tracer's buffer of each thread; 0: unknown
    system: tuple[NodeSamples, ...] = ()  # what nodes said of their load, memory, network and disk; by node
    clocks: tuple[NodeClock, ...] = ()  # those that are not rank 0's
    region_names: tuple[str, ...] = ()  # of region 1, 2, ... of the program
    parameter_names: tuple[str, ...] = ()  # of parameter 1, 2, ...
    repair: Repair | None = None  # None: times are as clocks and their alignment give them
    program: Program | None = None  # of a Dimemas trace: its operations, which are all that it holds
    predicted: bool = False  # by our simulator, not measured

    @abstractmethod
    def span(self, rank: int) -> tuple[int, int]:
        """Start of the process and its last event (ns)."""

    @abstractmethod
    def windows(self, records: int = 262144) -> np.ndarray:
        """Times b_0=0 < b_1 < ... < b_n such that each [b_i, b_i+1) holds about `records` calls; b_n > duration_ns."""

    def windows_of(self, rank: int, records: int) -> np.ndarray:
        """The same with about `records` calls of one rank in each.

        Where the calls of one are not told from those of all they are as large as many ranks need, and stop growing at
        some: one rank may have all records of a window.
        """
        return self.windows(records * min(self.size, 16))

    def only_lane(self, rank: int) -> Lane | None:
        """The rows of a rank's one thread as they were recorded; None: records are all that there is, or there are
        several threads."""
        return None

    def forget(self, rank: int) -> None:  # noqa: B027, who keeps nothing has nothing to forget
        """The records of a rank are not wanted again soon: what is kept of them in memory goes."""

    @abstractmethod
    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Blocks (CALL) of the calls and folded polls whose `enter` lies in [begin, end), in order of enter."""

    def counts(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[Counts]:
        """The same blocks as `calls`, with their counters; none in a trace without counters."""
        yield from ()

    def samples(self, rank: int, begin: int = 0, end: int | None = None) -> Samples:
        """Readings of the counters of a rank's threads with time in [begin, end) between its calls."""
        none = np.zeros(0, np.int64)
        return Samples(none, none, np.zeros(0, bool), np.zeros((0, len(self.counters)), np.int64))

    def sampled(self, rank: int) -> tuple[int, int]:
        """Periodic samples of a rank: how many were taken, and how many were due and could not be."""
        return 0, 0

    @abstractmethod
    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Blocks (REQUEST) whose `completed` (STARTED rows: `posted`) lies in [begin, end), in file order."""

    def accesses(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Blocks (ACCESS) of what the calls with `enter` in [begin, end) did to windows and files."""
        yield from ()

    def group(self, rank: int, group: int) -> np.ndarray:
        """World ranks of the members of a group that `accesses` of a rank names."""
        return np.zeros(0, np.int64)

    def errors(self, rank: int) -> np.ndarray:
        """All errors (ERROR) that calls of a rank returned."""
        return np.zeros(0, ERROR)

    @abstractmethod
    def flushes(self, rank: int) -> np.ndarray:
        """All flushes of a rank (FLUSH)."""

    def cpu_waits(self, rank: int) -> np.ndarray:
        """Intervals (FLUSH in state SCHEDULING) in which threads of a prediction had to compute and waited for a CPU,
        or for the change to it. Those inside calls are in `states` only."""
        return np.zeros(0, FLUSH)

    @abstractmethod
    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        """States (STATE) that begin in [begin, end), sorted by (begin, rank, thread).

        Running (1) is the useful computation: in our runs the time outside MPI from process start to the last
        event, less flushes and the tracer's own time (`overhead_ns`) after each call, by which its state lasts longer.
        """

    @abstractmethod
    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        """Events (EVENT) with time in [begin, end), sorted by (time, rank, thread), else in order of recording."""

    @abstractmethod
    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Matched messages (MESSAGE) with logical_send in [begin, end), by (logical_send, source, order of sending)."""

    @abstractmethod
    def unmatched(self) -> list[Unmatched]:
        """What matching left over."""

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Regions of a rank (MARK) with time in [begin, end), thread by thread in order of recording. They nest."""
        return np.zeros(0, MARK)

    def program_events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """The events (EVENT, in order of time) of a rank in [begin, end) that the program itself asked for: regions,
        their parameters, its own events."""
        return np.zeros(0, EVENT)

    def summed(self, rank: int) -> np.ndarray:
        """SUMMED of the calls of a rank that `calls` has only as stretches (count of them, several procedures in one
        row), by procedure."""
        return np.zeros(0, SUMMED)

    def overhead_ns(self, rank: int) -> int:
        """The tracer's own time between the exit of a call and the entry of the next, which is no computation."""
        return 0

    def unrecorded(self, rank: int) -> np.ndarray:
        """Intervals (FLUSH) in which a thread recorded nothing, because it was told so or a limit was met."""
        return np.zeros(0, FLUSH)

    def dropped_calls(self, rank: int) -> int:
        """Calls of the rank that were recorded and dropped again, or left out, to keep to a limit."""
        return 0

    def lost_calls(self, rank: int) -> int:
        """Calls of the rank that were to be recorded and are not in the trace."""
        return 0

    def partners_not_recorded(self) -> int:
        """Sends and receives whose other side took place where recording was off: in no message, yet not unmatched."""
        return 0

    def cpu_overhead_ns(self, rank: int) -> int:
        """The same as CPU time, where that was read."""
        return 0

    def missed_collectives(self, rank: int) -> np.ndarray:
        """MISSED_COLLECTIVES of a rank, in order of time: those that it does record keep their numbers by them."""
        return np.zeros(0, MISSED_COLLECTIVES)

    def close(self) -> None:  # noqa: B027, many sources have nothing to remove
        """Remove what was spilled to temporary files."""
