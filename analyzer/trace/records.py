"""The records of a `Trace`: its columns, their units, and the numbers in them. C takes its structs from here."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

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
        ("count", "<i4"),  # 1; of a folded row the number of calls
        ("inside", "<i8"),  # ns inside MPI: exit - enter, less for folded rows, 0 in MPI_Wtime
        ("tracer", "<i8"),  # ns that the tracer then held the thread
    ]
)
"""One MPI call, or a folded row: `count` cheap calls of one kind, between which the program computed.

The thread is in MPI in [enter, enter + inside) and the tracer's for `tracer` ns more, or until its next call if that
comes before; then it computes. So the times of a folded row lie at its beginning, and what the program computed between
its calls comes after them, up to `exit` and on.
"""

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
        ("object", "<i4"),  # index in Objects.known; -1: unknown
        ("detail", "<i4"),  # lock and assertion, as in the rank file
        ("thread", "<i4"),
        ("group", "<i4"),  # of MPI_Win_start and MPI_Win_post, for Objects.group; 0: not known
    ]
)
"""What a call does to a window or file; its row of CALL has the same enter and thread."""

ERROR = np.dtype([("time", "<i8"), ("class", "<i8"), ("call", "<i4"), ("thread", "<i4")])
"""An error that a call (index in Trace.procedures; -1: unknown) returned; classes as in `error_classes`."""

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

SAMPLE = np.dtype(
    [
        ("time", "<i8"), ("cpu", "<i8"), ("path", "<i8"), ("task", "<i4"), ("thread", "<i4"), ("lost", "<i4"),
        ("what", "<i4"),
    ]
)  # fmt: skip
"""Where a thread was: its path (row of CallPaths.tables), and ns of CPU time since its sample before. `task` numbers
all threads of the rank that were met, `thread` those with calls (-1: it had none yet). `what` is 0 of a sample; 1: the
thread or recording ended; 2: recording began for a thread that was there before."""

FLUSH = np.dtype([("begin", "<i8"), ("end", "<i8"), ("thread", "<i4"), ("state", "<i4")])
"""A time that is not the program's: the tracer wrote its buffer (state IO), measured clocks (OTHERS), or recorded
nothing (TRACING_DISABLED)."""


OFF_CPU = np.dtype([("time", "<i8"), ("off", "<i8"), ("delay", "<i8"), ("thread", "<i4"), ("where", "<i4")])
"""Until `time`, since its row before, a thread was without a CPU for `off` ns; in `delay` ns of these it could have run
and waited for a CPU (UNKNOWN: the kernel does not say). `where` is a tracelib.schema.OffCpu."""

TASK = np.dtype(
    [
        ("cpu", "<i8"), ("delay", "<i8"), ("voluntary", "<i8"), ("involuntary", "<i8"), ("thread", "<i4"),
        ("cpus", "O"),
    ]
)  # fmt: skip
"""A thread of a rank's process when it closed its file: ns on a CPU, ns that it waited for one, how often it gave its
CPU up or lost it (each UNKNOWN where the kernel does not say); `thread` of its calls (-1: it made none); the CPUs that
it may use (frozenset; empty: not known)."""


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
    STARTUP_LATENCY = 26
    WAITING_LINKS = 27
    TRACER = 34  # ours, after Extrae's last one: the tracer's own time after a call
    PATHS = 35  # ours: the tracer looks for the callers of the next call
