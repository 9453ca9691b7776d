"""Paraver's vocabulary as Extrae writes it: event types, values of MPI calls, states, and their labels.

Sources: "Extrae event types" and "MPI call values" (Extrae's MPI_EventEncoding.h, events.h, labels.h). prv2dim knows
the same values up to 193 and stops at a larger one, so procedures beyond that have a type of our own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.trace.error_classes import ERROR_CLASSES
from analyzer.trace.event_types import EventType
from analyzer.trace.records import State
from tracelib.schema import CpuWait
from tracelib.schema.procedures import (
    COLLECTIVES,
    IMMEDIATE_RECEIVES,
    IMMEDIATE_SEND_RECEIVES,
    IMMEDIATE_SENDS,
    POINT_TO_POINT,
    PROBES,
    RECEIVES,
    SEND_RECEIVES,
    SENDS,
    STARTS,
    TESTS,
    WAITS,
    base_name,
    is_of_files,
    is_one_sided,
)

MPI_TYPES = (
    EventType.MPI_POINT_TO_POINT,
    EventType.MPI_COLLECTIVE,
    EventType.MPI_OTHER,
    EventType.MPI_ONE_SIDED,
    EventType.MPI_IO,
    EventType.MPI_BEYOND_EXTRAE,
)
"""Event types whose value is an MPI call at its entry and 0 at its exit."""

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
_POINT_TO_POINT = POINT_TO_POINT - STARTS
"""Extrae's point-to-point procedures. Extrae counts procedures that start persistent operations among the others."""


def event_of(name: str, index: int = 0) -> tuple[int, int]:
    """Return event type and value of an MPI procedure ("MPI_Isend", `_c` forms included).

    A procedure that Extrae gives no value of 193 or less gets (50000100, index + 1), where `index` is its row in the
    trace's `procedures`; the .pcf labels it. MPI_Init_thread is written as MPI_Init, as prv2dim expects.
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
    elif is_of_files(base):
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
    """Return the Paraver state of a thread inside an MPI procedure (Extrae's choice for each family)."""
    base = base_name(name)
    for names, state in _STATE_OF_SET:
        if base in names:
            return state
    if is_one_sided(base):
        return State.ONE_SIDED
    return State.IO if is_of_files(base) else State.OTHERS


def event_table(procedures: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return event type (uint32) and value (int64) of each of a trace's procedures, both of shape (n,)."""
    pairs = [event_of(name, index) for index, name in enumerate(procedures)]
    return np.array([t for t, _ in pairs], np.uint32), np.array([v for _, v in pairs], np.int64)


def state_table(procedures: Sequence[str]) -> np.ndarray:
    """Return the state (int32) of each of a trace's procedures, shape (n,)."""
    return np.array([state_of(name) for name in procedures], np.int32)


def call_name(event_type: int, value: int, labels: dict[int, tuple[str, dict[int, str]]]) -> str:
    """Return the MPI procedure that an event stands for: by Extrae's values, then by the trace's own labels."""
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
            "Tracer",
            "Tracer, finding callers",
        )
    )
)
"""Labels of Extrae's states 0 to 33, and of ours."""
OF_REPLAYS: dict[int, str] = {State.SCHEDULING: "Waiting for a CPU"}
"""Labels of states in a predicted run, where a state means no more than this."""

_SWITCH = {0: "End", 1: "Begin"}

TYPE_LABELS: dict[int, tuple[str, dict[int, str]]] = {
    EventType.APPLICATION: ("Application", _SWITCH),
    EventType.TRACE_INIT: ("Trace initialization", _SWITCH),
    EventType.FLUSH: ("Flushing Traces", _SWITCH),
    EventType.TRACING: ("Tracing", {0: "Disabled", 1: "Enabled"}),
    EventType.CLOCKS: ("Measuring clocks", _SWITCH),
    EventType.PATHS: ("Finding the callers of a call", _SWITCH),
    EventType.PREDICTED: ("Predicted", {1: "By a replay"}),
    EventType.ORIGIN: ("Traced by", {1: "tracelib"}),
    EventType.OFF_CPU: ("Time without a CPU since the event before (ns)", {}),
    EventType.RUN_DELAY: ("Of it waiting for a CPU (ns)", {-1: "Not known"}),
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
"""Labels of our types that are not MPI calls: type -> (label, value -> label)."""

MPI_TYPE_LABELS: dict[int, str] = {
    EventType.MPI_POINT_TO_POINT: "MPI Point-to-point",
    EventType.MPI_COLLECTIVE: "MPI Collective Comm",
    EventType.MPI_OTHER: "MPI Other",
    EventType.MPI_ONE_SIDED: "MPI One-sided",
    EventType.MPI_IO: "MPI I/O",
    EventType.MPI_BEYOND_EXTRAE: "MPI procedures without a value in Extrae",
}


def call_labels(procedures: Sequence[str]) -> dict[int, tuple[str, dict[int, str]]]:
    """Return labels of the MPI types that `procedures` use, 0 included: type -> (label, value -> label).

    Names that are not MPI's (procedures that an imported trace does not explain) have no label.
    """
    labels = {int(t): (MPI_TYPE_LABELS[t], {0: "Outside MPI"}) for t in MPI_TYPES}
    for index, name in enumerate(procedures):
        if not name.startswith("MPI_"):
            continue
        event_type, value = event_of(name, index)
        extrae = event_type != EventType.MPI_BEYOND_EXTRAE
        labels[event_type][1][value] = _CALL_NAMES[value] if extrae else base_name(name)
    return {t: pair for t, pair in labels.items() if len(pair[1]) > 1}


FUNCTION_TYPE, LINE_TYPE = 70000000, 80000000
"""Event types of callers: these numbers plus the level."""
MOST_LEVELS = 100
UNRESOLVED, NOT_FOUND = 1, 2
"""Values of callers: no name is known; the path has no such level. 0 ends a path; names come from 3 on."""


def level_of(types: np.ndarray, base: int) -> np.ndarray:
    """Return the level, from 0, of types of FUNCTION_TYPE or LINE_TYPE; -1: another type."""
    level = types.astype(np.int64) - base - 1
    return np.where((level >= 0) & (level < MOST_LEVELS), level, -1)


def are_callers(types: np.ndarray) -> np.ndarray:
    """Return a mask of the event types that are callers, of functions or lines."""
    return (level_of(types, FUNCTION_TYPE) >= 0) | (level_of(types, LINE_TYPE) >= 0)
