"""Paraver's vocabulary as Extrae writes it: event types, values of MPI calls, states, and their labels.

Sources: "Extrae event types" and "MPI call values" (Extrae's MPI_EventEncoding.h, events.h, labels.h); prv2dim
knows the same values up to 193 and stops at a larger one, so procedures beyond that have a type of our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from analyzer.error_classes import ERROR_CLASSES
from analyzer.trace import State
from tracelib.schema import CPU_WAIT_TYPE, ERROR_TYPE, PREDICTED_TYPE, CpuWait


class EventType(IntEnum):
    """Event types that we write or read a meaning into."""

    APPLICATION = 40000001
    TRACE_INIT = 40000002
    FLUSH = 40000003
    TRACING = 40000012
    CLOCKS = 49000004  # ours: clocks of other nodes are measured
    CPU_WAIT = CPU_WAIT_TYPE  # ours: a predicted thread waits for a CPU
    PREDICTED = PREDICTED_TYPE  # ours: by a replay
    PRIORITY = 49000010  # ours, in a .dim: of the thread from here on, the smaller the better
    WAIT_STATE = 49000020  # ours: the kind of a wait, from 1
    MPI_POINT_TO_POINT = 50000001
    MPI_COLLECTIVE = 50000002
    MPI_OTHER = 50000003
    MPI_ONE_SIDED = 50000004
    MPI_IO = 50000005
    MPI_BEYOND_EXTRAE = 50000100  # ours: procedures without a value of 193 or less
    RMA_SIZE = 50001000
    RMA_TARGET = 50001001
    RMA_OFFSET = 50001003
    COLLECTIVE_SEND_SIZE = 50100001
    COLLECTIVE_RECEIVE_SIZE = 50100002
    COLLECTIVE_ROOT = 50100003
    COLLECTIVE_COMMUNICATOR = 50100004
    ERROR = ERROR_TYPE  # ours


MPI_TYPES = (
    EventType.MPI_POINT_TO_POINT,
    EventType.MPI_COLLECTIVE,
    EventType.MPI_OTHER,
    EventType.MPI_ONE_SIDED,
    EventType.MPI_IO,
    EventType.MPI_BEYOND_EXTRAE,
)
"""Types whose value is an MPI call at its entry and 0 at its exit."""

_IN_ORDER_OF_VALUE = """
Send Recv Isend Irecv Wait Waitall Bcast Barrier Reduce Allreduce
Alltoall Alltoallv Gather Gatherv Scatter Scatterv Allgather Allgatherv Comm_rank Comm_size
Comm_create Comm_dup Comm_split Comm_group Comm_free Comm_remote_group Comm_remote_size Comm_test_inter Comm_compare
Scan
Init Finalize Bsend Ssend Rsend Ibsend Issend Irsend Test Cancel
Sendrecv Sendrecv_replace Cart_create Cart_shift Cart_coords Cart_get Cart_map Cart_rank Cart_sub Cartdim_get
Dims_create Graph_get Graph_map Graph_create Graph_neighbors Graphdims_get Graph_neighbors_count Topo_test Waitany
Waitsome
Probe Iprobe Win_create Win_free Put Get Accumulate Win_fence Win_start Win_complete
Win_post Win_wait Win_test Win_lock Win_unlock Pack Unpack Op_create Op_free Reduce_scatter
Attr_delete Attr_get Attr_put Group_difference Group_excl Group_free Group_incl Group_intersection Group_rank
Group_range_excl
Group_range_incl Group_size Group_translate_ranks Group_union Group_compare Intercomm_create Intercomm_merge
Keyval_free Keyval_create Abort
Error_class Errhandler_create Errhandler_free Errhandler_get Error_string Errhandler_set Get_processor_name
Initialized Wtick Wtime
Address Bsend_init Buffer_attach Buffer_detach Request_free Recv_init Send_init Get_count Get_elements Pack_size
Rsend_init Ssend_init Start Startall Testall Testany Test_cancelled Testsome Type_commit Type_contiguous
Type_extent Type_free Type_hindexed Type_hvector Type_indexed Type_lb Type_size Type_struct Type_ub Type_vector
File_open File_close File_read File_read_all File_write File_write_all File_read_at File_read_at_all File_write_at
File_write_at_all
Comm_spawn Comm_spawn_multiple Request_get_status Ireduce Iallreduce Ibarrier Ibcast Ialltoall Ialltoallv Iallgather
Iallgatherv Igather Igatherv Iscatter Iscatterv Ireduce_scatter Iscan Reduce_scatter_block Ireduce_scatter_block
Alltoallw
Ialltoallw Get_accumulate Dist_graph_create Neighbor_allgather Ineighbor_allgather Neighbor_allgatherv
Ineighbor_allgatherv Neighbor_alltoall Ineighbor_alltoall Neighbor_alltoallv
Ineighbor_alltoallv Neighbor_alltoallw Ineighbor_alltoallw Fetch_and_op Compare_and_swap Win_flush Win_flush_all
Win_flush_local Win_flush_local_all Mprobe
Improbe Mrecv Imrecv
"""

CALL_VALUES: dict[str, int] = {f"MPI_{name}": value for value, name in enumerate(_IN_ORDER_OF_VALUE.split(), start=1)}
"""Extrae's value of each MPI procedure, 1 to 193."""

_CALL_NAMES = {value: name for name, value in CALL_VALUES.items()}
_SAME_VALUE = {"MPI_Init_thread": "MPI_Init"}

SENDS = frozenset({"MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend"})
IMMEDIATE_SENDS = frozenset({"MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irsend"})
RECEIVES = frozenset({"MPI_Recv", "MPI_Mrecv"})
IMMEDIATE_RECEIVES = frozenset({"MPI_Irecv", "MPI_Imrecv"})
SEND_RECEIVES = frozenset({"MPI_Sendrecv", "MPI_Sendrecv_replace"})
IMMEDIATE_SEND_RECEIVES = frozenset({"MPI_Isendrecv", "MPI_Isendrecv_replace"})
STARTS = frozenset({"MPI_Start", "MPI_Startall"})
WAITS = frozenset({"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"})
TESTS = frozenset({"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"})
CLOCKS = frozenset({"MPI_Wtime", "MPI_Wtick"})
"""They do nothing for others: time in them is the program's computation, as to tools that do not record them."""
PROBES = frozenset({"MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe"})

_BLOCKING_COLLECTIVES = """
Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw
Reduce Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan
Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw
"""
NONBLOCKING_COLLECTIVES = frozenset(f"MPI_I{base[0].lower()}{base[1:]}" for base in _BLOCKING_COLLECTIVES.split())
COLLECTIVES = NONBLOCKING_COLLECTIVES | {f"MPI_{base}" for base in _BLOCKING_COLLECTIVES.split()}
"""Collective operations on data, blocking and nonblocking."""

ROOTED = frozenset({"MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Reduce", "MPI_Scatter", "MPI_Scatterv"})

_POINT_TO_POINT = (
    SENDS | IMMEDIATE_SENDS | RECEIVES | IMMEDIATE_RECEIVES | SEND_RECEIVES | WAITS | TESTS | PROBES | {"MPI_Cancel"}
)
POINT_TO_POINT = _POINT_TO_POINT | IMMEDIATE_SEND_RECEIVES | STARTS
"""Calls that send or receive, and those that wait or look for it, with those that Extrae has no value for."""
_ONE_SIDED_NAMES = """
Put Get Accumulate Get_accumulate Rput Rget Raccumulate Rget_accumulate Fetch_and_op Compare_and_swap
"""
ONE_SIDED_OPERATIONS = frozenset(f"MPI_{base}" for base in _ONE_SIDED_NAMES.split())
"""Calls that move data to or from a window."""


def base_name(name: str) -> str:
    """The procedure without the `_c` of its large-count form."""
    return name.removesuffix("_c")


def is_one_sided(name: str) -> bool:
    """Whether the procedure belongs to remote memory access."""
    return base_name(name) in ONE_SIDED_OPERATIONS or name.startswith("MPI_Win_")


def event_of(name: str, index: int = 0) -> tuple[int, int]:
    """Event type and value of an MPI procedure ("MPI_Isend", `_c` forms included).

    A procedure that Extrae gives no value of 193 or less gets (50000100, index + 1), where `index` is its row in
    the trace's `procedures`; the .pcf labels it. MPI_Init_thread is written as MPI_Init, as prv2dim expects.
    """
    base = base_name(name)
    base = _SAME_VALUE.get(base, base)
    value = CALL_VALUES.get(base)
    if value is None:
        return int(EventType.MPI_BEYOND_EXTRAE), index + 1
    if base in COLLECTIVES:
        kind = EventType.MPI_COLLECTIVE
    elif base in _POINT_TO_POINT:
        kind = EventType.MPI_POINT_TO_POINT
    elif is_one_sided(base):
        kind = EventType.MPI_ONE_SIDED
    elif base.startswith("MPI_File_"):
        kind = EventType.MPI_IO
    else:
        kind = EventType.MPI_OTHER
    return int(kind), value


_STATE_OF_SET = (
    (SENDS, State.BLOCKING_SEND),
    (IMMEDIATE_SENDS | IMMEDIATE_SEND_RECEIVES, State.IMMEDIATE_SEND),
    (RECEIVES, State.WAITING_MESSAGE),
    (IMMEDIATE_RECEIVES, State.IMMEDIATE_RECEIVE),
    (SEND_RECEIVES, State.SEND_RECEIVE),
    (WAITS, State.WAIT),
    (TESTS | PROBES, State.TEST_PROBE),
    (frozenset({"MPI_Barrier"}), State.SYNCHRONIZATION),
    (COLLECTIVES, State.GROUP_COMMUNICATION),
)


def state_of(name: str) -> State:
    """Paraver state of a thread inside an MPI procedure (Extrae's choice for each family)."""
    base = base_name(name)
    for names, state in _STATE_OF_SET:
        if base in names:
            return state
    if is_one_sided(base):
        return State.ONE_SIDED
    return State.IO if base.startswith("MPI_File_") else State.OTHERS


def event_table(procedures: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Event type (uint32) and value (int64) of each of a trace's procedures, both of shape (n,)."""
    pairs = [event_of(name, index) for index, name in enumerate(procedures)]
    return np.array([t for t, _ in pairs], np.uint32), np.array([v for _, v in pairs], np.int64)


def state_table(procedures: Sequence[str]) -> np.ndarray:
    """State (int32) of each of a trace's procedures, shape (n,)."""
    return np.array([state_of(name) for name in procedures], np.int32)


def call_name(event_type: int, value: int, labels: dict[int, tuple[str, dict[int, str]]]) -> str:
    """The MPI procedure that an event stands for: by Extrae's values, then by the trace's own labels."""
    if event_type != EventType.MPI_BEYOND_EXTRAE and value in _CALL_NAMES:
        return _CALL_NAMES[value]
    label = labels.get(event_type, ("", {}))[1].get(value, "")
    return label if label.startswith("MPI_") else f"MPI call {event_type}:{value}"


STATE_LABELS: dict[int, str] = dict(
    enumerate(
        (
            "Idle",
            "Running",
            "Not created",
            "Waiting a message",
            "Blocking Send",
            "Synchronization",
            "Test/Probe",
            "Scheduling and Fork/Join",
            "Wait/WaitAll",
            "Blocked",
            "Immediate Send",
            "Immediate Receive",
            "I/O",
            "Group Communication",
            "Tracing Disabled",
            "Others",
            "Send Receive",
            "Memory transfer",
            "Profiling",
            "On-line analysis",
            "Remote memory access",
            "Atomic memory operation",
            "Memory ordering operation",
            "Distributed locking",
            "Overhead",
            "One-sided op",
            "Startup latency",
            "Waiting links",
            "Data copy",
            "RTT",
            "Allocating memory",
            "Freeing memory",
            "Configuring accelerator",
            "Stream Registration",
        )
    )
)
"""Extrae's states 0 to 33."""

_SWITCH = {0: "End", 1: "Begin"}

TYPE_LABELS: dict[int, tuple[str, dict[int, str]]] = {
    EventType.APPLICATION: ("Application", _SWITCH),
    EventType.TRACE_INIT: ("Trace initialization", _SWITCH),
    EventType.FLUSH: ("Flushing Traces", _SWITCH),
    EventType.TRACING: ("Tracing", {0: "Disabled", 1: "Enabled"}),
    EventType.CLOCKS: ("Measuring clocks", _SWITCH),
    EventType.PREDICTED: ("Predicted", {1: "By a replay"}),
    EventType.CPU_WAIT: ("Waiting for a CPU", {0: "End", CpuWait.OUTSIDE: "To compute", CpuWait.INSIDE: "In a call"}),
    EventType.RMA_SIZE: ("MPI One-sided size", {}),
    EventType.RMA_TARGET: ("MPI One-sided target rank", {}),
    EventType.RMA_OFFSET: ("MPI One-sided target displacement", {}),
    EventType.ERROR: ("MPI error class", ERROR_CLASSES),
    EventType.COLLECTIVE_SEND_SIZE: ("Send Size in MPI Global OP", {}),
    EventType.COLLECTIVE_RECEIVE_SIZE: ("Recv Size in MPI Global OP", {}),
    EventType.COLLECTIVE_ROOT: ("Root in MPI Global OP", {}),
    EventType.COLLECTIVE_COMMUNICATOR: ("Communicator in MPI Global OP", {}),
}
"""Labels of the types of ours that are not MPI calls: type -> (label, value -> label)."""

MPI_TYPE_LABELS: dict[int, str] = {
    EventType.MPI_POINT_TO_POINT: "MPI Point-to-point",
    EventType.MPI_COLLECTIVE: "MPI Collective Comm",
    EventType.MPI_OTHER: "MPI Other",
    EventType.MPI_ONE_SIDED: "MPI One-sided",
    EventType.MPI_IO: "MPI I/O",
    EventType.MPI_BEYOND_EXTRAE: "MPI procedures without a value in Extrae",
}


def call_labels(procedures: Sequence[str]) -> dict[int, tuple[str, dict[int, str]]]:
    """Labels of the MPI types that `procedures` use, 0 included: type -> (label, value -> label).

    Names that are not MPI's (what an imported trace does not explain) have no label.
    """
    labels = {int(t): (MPI_TYPE_LABELS[t], {0: "Outside MPI"}) for t in MPI_TYPES}
    for index, name in enumerate(procedures):
        if not name.startswith("MPI_"):
            continue
        event_type, value = event_of(name, index)
        extrae = event_type != EventType.MPI_BEYOND_EXTRAE
        labels[event_type][1][value] = _CALL_NAMES[value] if extrae else base_name(name)
    return {t: pair for t, pair in labels.items() if len(pair[1]) > 1}
