"""Records of a `Trace`: columns, units, and the meaning of their numbers. C takes its structs from here."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

STATE = np.dtype(
    [("begin", "<i8"), ("end", "<i8"), ("rank", "<i4"), ("thread", "<i4"), ("state", "<i4"), ("cpu", "<i4")]
)
"""Interval of one thread: [begin, end) in one of Paraver's states (`State`).

rank and thread count from 0. cpu goes through all nodes and counts from 1; 0 is unknown.
"""

EVENT = np.dtype(
    [("time", "<i8"), ("value", "<i8"), ("type", "<u4"), ("rank", "<i4"), ("thread", "<i4"), ("cpu", "<i4")]
)
"""Punctual event of one thread; types and values are Paraver's, as in "Extrae event types"."""

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
"""Matched point-to-point message.

Logical times: entry of the sending call, and of the call that posted the receive. Physical times: data handed over,
receive complete.
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
        ("count", "<i4"),  # 1; in a folded row the number of calls
        ("inside", "<i8"),  # ns inside MPI: exit - enter, less for folded rows, 0 in MPI_Wtime
        ("tracer", "<i8"),  # ns that the tracer held the thread after that
    ]
)
"""MPI call, or a folded row: `count` cheap calls of one kind, between which the program computed.

The thread is in MPI in [enter, enter + inside). Then the tracer holds it for `tracer` ns, or until its next call if
that comes before. Then it computes. So the times of a folded row lie at its beginning. What the program computed
between its calls comes after them, up to `exit` and on.
"""

REQUEST = np.dtype(
    [
        ("posted", "<i8"),
        ("completed", "<i8"),
        ("bytes", "<i8"),
        ("comm", "<i4"),
        ("peer", "<i4"),  # WORLD rank
        ("tag", "<i4"),
        ("what", "<i4"),  # tracelib.schema.RequestKind
        ("thread", "<i4"),
        ("reserved", "<i4"),
    ]
)
"""Row of a rank file's `requests` in ns and world ranks; `tag` of a collective is an index in Trace.procedures."""

ACCESS = np.dtype(
    [
        ("enter", "<i8"),  # enter of the call
        ("offset", "<i8"),  # bytes in the file or the target's window, or an address; -1: not known
        ("object", "<i4"),  # index in Objects.known; -1: unknown
        ("detail", "<i4"),  # lock and assertion, as in the rank file
        ("thread", "<i4"),
        ("group", "<i4"),  # of MPI_Win_start and MPI_Win_post, for Objects.group; 0: not known
    ]
)
"""Access of a call to an RMA window or file; its row of CALL has the same enter and thread."""

ERROR = np.dtype([("time", "<i8"), ("class", "<i8"), ("call", "<i4"), ("thread", "<i4")])
"""Error that a call (index in Trace.procedures; -1: unknown) returned; classes as in `error_classes`."""

MARK = np.dtype([("time", "<i8"), ("value", "<i8"), ("number", "<i4"), ("thread", "<i4"), ("what", "<i4")])
"""Begin or end of a region of the program, or a parameter of it: `what` is a Mark.

`number` is the number of the region or the parameter, from 1. `value` is the value of the parameter (of a real
parameter its bits as float64).
"""

MISSED_COLLECTIVES = np.dtype(
    [("time", "<i8"), ("count", "<i8"), ("comm", "<i4"), ("call", "<i4"), ("begins", "?"), ("reserved", "V3")]
)
"""Collectives of a communicator that a rank made one after the other while it recorded nothing.

`comm`: index in Trace.communicators. `count`: number of collectives. `time`: entry of the last. `begins`: they are
nonblocking. `call`: for persistent collectives the procedure that made them (index in Trace.procedures), else -1.
"""

SUMMED = np.dtype([("call", "<i4"), ("count", "<i8"), ("inside", "<i8"), ("sent", "<i8"), ("received", "<i8")])
"""Calls of one procedure that were not recorded one by one: number, ns inside MPI, bytes."""

SAMPLE = np.dtype(
    [
        ("time", "<i8"), ("cpu", "<i8"), ("path", "<i8"), ("task", "<i4"), ("thread", "<i4"), ("lost", "<i4"),
        ("what", "<i4"),
    ]
)  # fmt: skip
"""Sample of the place where a thread was: its path (row of CallPaths.tables).

`cpu`: ns of CPU time since its previous sample. `task` numbers all threads of the rank that were met. `thread` numbers
those with calls (-1: it had none yet). `what`: 0: a sample; 1: the thread or recording ended; 2: recording began for a
thread that existed before.
"""

FLUSH = np.dtype([("begin", "<i8"), ("end", "<i8"), ("thread", "<i4"), ("state", "<i4")])
"""Time that is not the program's.

The tracer wrote its buffer (state IO), measured clocks (OTHERS), looked for callers (PATHS), or recorded nothing
(TRACING_DISABLED).
"""


OFF_CPU = np.dtype([("time", "<i8"), ("off", "<i8"), ("delay", "<i8"), ("thread", "<i4"), ("where", "<i4")])
"""Time without a CPU: until `time`, since its previous row, a thread was without a CPU for `off` ns.

For `delay` ns of these it could have run and waited for a CPU (UNKNOWN: the kernel does not say). `where` is a
tracelib.schema.OffCpu.
"""

TASK = np.dtype(
    [
        ("cpu", "<i8"), ("delay", "<i8"), ("voluntary", "<i8"), ("involuntary", "<i8"), ("thread", "<i4"),
        ("cpus", "O"),
    ]
)  # fmt: skip
"""Thread of a rank's process when the process closed its file. UNKNOWN: the kernel does not say.

`cpu`: ns on a CPU. `delay`: ns that it waited for a CPU. `voluntary`, `involuntary`: how often it gave its CPU up or
lost it. `thread`: thread of its calls (-1: it made none). `cpus`: CPUs that it may use (frozenset; empty: not known).
"""


class Mark(IntEnum):
    """Values of `what` of a MARK. Parameters and PARALLEL belong to the innermost region of their thread."""

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
    TRACER = 34  # ours, after Extrae's last state: the tracer's own time after a call
    PATHS = 35  # ours: the tracer looks for the callers of the next call
