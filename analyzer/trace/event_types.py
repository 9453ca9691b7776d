"""Event types of Paraver traces. The kernels' `enum event_type` is made of this file alone (csrc/build_kernels.py)."""

from __future__ import annotations

from enum import IntEnum

from tracelib.schema import CPU_WAIT_TYPE, ERROR_TYPE, OFF_CPU_TYPE, PATHS_TYPE, PREDICTED_TYPE, RUN_DELAY_TYPE


class EventType(IntEnum):
    """Event types of Paraver traces that we write, or whose meaning we know. "Ours": Extrae does not have the type."""

    APPLICATION = 40000001
    TRACE_INIT = 40000002
    FLUSH = 40000003
    TRACING = 40000012
    CLOCKS = 49000004  # ours: clocks of other nodes are measured
    PATHS = PATHS_TYPE  # ours: the callers of a call are looked for
    CPU_WAIT = CPU_WAIT_TYPE  # ours: a predicted thread waits for a CPU
    PREDICTED = PREDICTED_TYPE  # ours: by a replay
    ORIGIN = 49000009  # ours, the first event of a .prv of a run: the tracer's own time is in states of their own
    OFF_CPU = OFF_CPU_TYPE  # ours: how long a thread was without a CPU
    RUN_DELAY = RUN_DELAY_TYPE  # ours: how long of that it could have run
    PRIORITY = 49000010  # ours, in a .dim: of the thread from here on, the smaller the better
    WAIT_STATE = 49000020  # ours: the kind of a wait, from 1
    ITERATION = 49000021  # ours: the number of an iteration, from 1
    CLUSTER = 90000001  # of BSC's cluster tools: the kind of a burst
    RMA_SIZE = 50001000
    RMA_TARGET = 50001001
    RMA_OFFSET = 50001003
    COLLECTIVE_SEND_SIZE = 50100001
    COLLECTIVE_RECEIVE_SIZE = 50100002
    COLLECTIVE_ROOT = 50100003
    COLLECTIVE_COMMUNICATOR = 50100004
    ERROR = ERROR_TYPE  # ours
