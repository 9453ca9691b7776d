"""Record types of a `Trace`: the columns of its tables, with units. The structs of the C kernels are made from them."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

STATE = np.dtype(
    [("begin", "<i8"), ("end", "<i8"), ("rank", "<i4"), ("thread", "<i4"), ("state", "<i4"), ("cpu", "<i4")]
)
"""Interval [begin, end), in ns, in which one thread is in one of Paraver's states (`State`).

`rank` and `thread` count from 0. `cpu` is numbered through the CPUs of all nodes, from 1; 0: unknown.
"""

EVENT = np.dtype(
    [("time", "<i8"), ("value", "<i8"), ("type", "<u4"), ("rank", "<i4"), ("thread", "<i4"), ("cpu", "<i4")]
)
"""Event of one thread at one time (ns). Types and values are Paraver's, as in "Extrae event types"."""

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
"""Point-to-point message whose send and receive have been matched. Times are in ns, `size` is in bytes.

Logical times are the entries of the sending call and of the call that posted the receive. Physical times are when the
data was handed over, and when the receive was complete.
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
"""MPI call, or a folded row. Times are in ns; `sent` and `received` are bytes.

A folded row stands for `count` short calls of one procedure, between which the program computed.

The thread is in MPI in [enter, enter + inside). Then the tracer holds the thread for `tracer` ns, or until the next
call of the thread if that comes first. Then the thread computes. So a folded row places all time in MPI at its begin,
and all computation between its calls after that, up to `exit` and on.
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
"""Operation of a request: a row of `requests` of a rank file, with times in ns and peers as world ranks.

For a collective, `tag` is an index in Trace.procedures.
"""

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
"""Access of a call to an RMA window or a file. The CALL row of the call has the same `enter` and `thread`."""

ERROR = np.dtype([("time", "<i8"), ("class", "<i8"), ("call", "<i4"), ("thread", "<i4")])
"""Error code that a call returned. `class` is MPI's error class, as in `error_classes`.

`time` is in ns. `call` is an index in Trace.procedures; -1: unknown.
"""

MARK = np.dtype([("time", "<i8"), ("value", "<i8"), ("number", "<i4"), ("thread", "<i4"), ("what", "<i4")])
"""Begin or end of a region, or the value of a region's parameter. `what` is a Mark, `time` is in ns.

`number` is the number of the region or of the parameter, from 1. `value` is the value of the parameter; for a real
parameter the bits of a float64.
"""

MISSED_COLLECTIVES = np.dtype(
    [("time", "<i8"), ("count", "<i8"), ("comm", "<i4"), ("call", "<i4"), ("begins", "?"), ("reserved", "V3")]
)
"""Consecutive collectives of one communicator that a rank made while it recorded nothing.

`comm`: index in Trace.communicators. `count`: number of collectives. `time`: entry of the last collective, ns.
`begins`: True if they are nonblocking. `call`: for persistent collectives the procedure that made them (index in
Trace.procedures), else -1.
"""

SUMMED = np.dtype([("call", "<i4"), ("count", "<i8"), ("inside", "<i8"), ("sent", "<i8"), ("received", "<i8")])
"""Sums over calls of one procedure that were not recorded one by one: `count` calls, `inside` ns in MPI, bytes."""

SAMPLE = np.dtype(
    [
        ("time", "<i8"), ("cpu", "<i8"), ("path", "<i8"), ("task", "<i4"), ("thread", "<i4"), ("lost", "<i4"),
        ("what", "<i4"),
    ]
)  # fmt: skip
"""Sample of the place in the code at which a thread was: `path` is a row of CallPaths.tables, `time` is in ns.

`cpu`: CPU time in ns since the previous sample of the thread. `task`: number of the thread among all threads of the
rank that were seen. `thread`: number among the threads with MPI calls (-1: it had made none). `what`: 0: a sample; 1:
the thread or the recording ended; 2: recording began for a thread that existed before.
"""

FLUSH = np.dtype([("begin", "<i8"), ("end", "<i8"), ("thread", "<i4"), ("state", "<i4")])
"""Interval of a thread, in ns, that is not time of the program. `state` says why.

IO: the tracer wrote its buffer. OTHERS: it measured clocks. PATHS: it looked for callers. TRACING_DISABLED: nothing was
recorded. SCHEDULING (in `CpuWaits`): the thread waited for a CPU.
"""


OFF_CPU = np.dtype([("time", "<i8"), ("off", "<i8"), ("delay", "<i8"), ("thread", "<i4"), ("where", "<i4")])
"""Time of a thread without a CPU: `off` ns between the previous row of the thread and `time`.

For `delay` ns of `off` the thread was ready to run and waited for a CPU (UNKNOWN: the kernel does not say). `where` is
a tracelib.schema.OffCpu.
"""

TASK = np.dtype(
    [
        ("cpu", "<i8"), ("delay", "<i8"), ("voluntary", "<i8"), ("involuntary", "<i8"), ("thread", "<i4"),
        ("cpus", "O"),
    ]
)  # fmt: skip
"""Thread of a rank's process, with its use of CPUs up to when the process closed its file.

`cpu`: ns on a CPU. `delay`: ns of waiting for a CPU. `voluntary`, `involuntary`: number of times that it gave up or
lost its CPU. UNKNOWN in these four: the kernel does not say. `thread`: its number among the threads with MPI calls (-1:
it made none). `cpus`: CPUs that it may use (frozenset; empty: not known).
"""


class Mark(IntEnum):
    """Values of the column `what` of MARK.

    Parameters and PARALLEL belong to the innermost region that their thread is in.
    """

    BEGIN = 1
    END = 2
    INTEGER = 3
    REAL = 4
    PARALLEL = 5


class State(IntEnum):
    """States of a thread, numbered as in Paraver and Extrae."""

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
