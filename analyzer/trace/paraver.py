"""Paraver's numbers as Extrae writes them: event types, values of MPI calls, states, and their labels.

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
from tracelib.schema.procedures import TABLE, base_name, value_of

_FAMILIES = TABLE.events
_BEYOND = _FAMILIES["beyond"]
MPI_TYPES = tuple(family.number for family in _FAMILIES.values())
"""Event types of MPI calls: the value is the procedure at the entry of a call, and 0 at its exit."""

CALL_VALUES: dict[str, int] = {
    f"MPI_{name}": value for name, value in TABLE.event_values.items() if name not in TABLE.same_value
}
"""Extrae's event value of each MPI procedure, from 1 to 193."""

_CALL_NAMES = {value: name for name, value in CALL_VALUES.items()}
_OWN_NAMES = {family.number: family.values for family in _FAMILIES.values() if family.values}
"""By event type, the procedures of the families that number their own procedures, in order of their values from 1."""


def event_of(name: str, index: int = 0) -> tuple[int, int]:
    """Return the event type and value that stand for an MPI procedure.

    Args:
        name: Name of the procedure, such as "MPI_Isend"; the forms with _c are known, too.
        index: Index of the procedure in Trace.procedures.

    A procedure without a value of 193 or less in Extrae gets (50000100, index + 1), which the .pcf labels.
    MPI_Init_thread is written as MPI_Init, as prv2dim expects.
    """
    base = base_name(name).removeprefix("MPI_")
    family = _FAMILIES[value_of("event", name) or "other"]
    if base in family.values:
        return family.number, 1 + family.values.index(base)
    if name.startswith("MPI_") and base in TABLE.event_values and not family.values:
        return family.number, TABLE.event_values[base]
    return _BEYOND.number, index + 1


def state_of(name: str) -> State:
    """Return the state that Paraver shows for a thread inside an MPI procedure. Extrae chooses one for each family."""
    return State[value_of("state", name) or "OTHERS"]


def event_table(procedures: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the event type (uint32) and value (int64) of each procedure of a trace, both of shape (procedures,)."""
    pairs = [event_of(name, index) for index, name in enumerate(procedures)]
    return np.array([t for t, _ in pairs], np.uint32), np.array([v for _, v in pairs], np.int64)


def state_table(procedures: Sequence[str]) -> np.ndarray:
    """Return the state (`State`, int32) of each procedure of a trace, shape (procedures,)."""
    return np.array([state_of(name) for name in procedures], np.int32)


def call_name(event_type: int, value: int, labels: dict[int, tuple[str, dict[int, str]]]) -> str:
    """Return the name of the MPI procedure that an event stands for.

    Args:
        event_type: Type of the event.
        value: Value of the event.
        labels: The trace's own labels (Trace.event_labels), used where Extrae's values have no name.

    Returns:
        The name; "MPI call TYPE:VALUE" if neither has one.
    """
    if event_type in _OWN_NAMES and 0 < value <= len(_OWN_NAMES[event_type]):
        return f"MPI_{_OWN_NAMES[event_type][value - 1]}"
    if event_type != _BEYOND.number and event_type not in _OWN_NAMES and value in _CALL_NAMES:
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
"""Labels of the states: Extrae's states 0 to 33, then the states that only we write."""
OF_REPLAYS: dict[int, str] = {State.SCHEDULING: "Waiting for a CPU"}
"""Labels of states that have a narrower meaning in a predicted run than in Extrae."""

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
"""Labels of the event types that we write and that are not MPI calls: type -> (label, value -> label)."""


def call_labels(procedures: Sequence[str]) -> dict[int, tuple[str, dict[int, str]]]:
    """Return labels of the event types and values of MPI calls, for the .pcf: type -> (label, value -> label).

    Only types and values of `procedures` are labelled, and value 0, "Outside MPI". Names that do not begin with MPI_
    (procedures that an imported trace does not explain) have no label.
    """
    labels = {family.number: (family.label, {0: "Outside MPI"}) for family in _FAMILIES.values()}
    for index, name in enumerate(procedures):
        if not name.startswith("MPI_"):
            continue
        event_type, value = event_of(name, index)
        is_beyond = event_type == _BEYOND.number
        labels[event_type][1][value] = base_name(name) if is_beyond else call_name(event_type, value, {})
    return {t: pair for t, pair in labels.items() if len(pair[1]) > 1}


FUNCTION_TYPE, LINE_TYPE = 70000000, 80000000
"""Bases of the event types of callers, for functions and for lines: level n (from 1) has the type base + n."""
MOST_LEVELS = 100
"""Largest number of levels of callers."""
UNRESOLVED, NOT_FOUND = 1, 2
"""Values of callers. UNRESOLVED: a caller without a known name. NOT_FOUND: the path has no such level.

0 ends a path. The values of names begin at 3.
"""


def level_of(types: np.ndarray, base: int) -> np.ndarray:
    """Return the level of callers, from 0, that each event type stands for; -1: no such type.

    Args:
        types: Event types.
        base: FUNCTION_TYPE or LINE_TYPE.
    """
    level = types.astype(np.int64) - base - 1
    return np.where((level >= 0) & (level < MOST_LEVELS), level, -1)


def are_callers(types: np.ndarray) -> np.ndarray:
    """Return a mask of the event types that name callers: functions or lines."""
    return (level_of(types, FUNCTION_TYPE) >= 0) | (level_of(types, LINE_TYPE) >= 0)
