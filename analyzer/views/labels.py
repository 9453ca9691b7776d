"""Names and numbers of event types, event values, procedures and states, as views use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analyzer.errors import TracelibError
from analyzer.trace import Trace
from analyzer.trace.event_types import EventType
from analyzer.trace.paraver import MPI_TYPES, STATE_LABELS, TYPE_LABELS, call_labels
from tracelib.schema import REGION_TYPE
from tracelib.schema.procedures import COLLECTIVES, POINT_TO_POINT, base_name, is_of_files, is_one_sided

_MOST_NAMED = 8
Labels = dict[int, tuple[str, dict[int, str]]]
"""Labels of event types by number: name of the type, and the name of each of its values."""

_GROUPS: dict[str, tuple[int, ...]] = {
    "mpi": tuple(map(int, MPI_TYPES)),
    "region": (REGION_TYPE,),
    "iteration": (int(EventType.ITERATION),),
    "cluster": (int(EventType.CLUSTER),),
}
"""Event types by the short name that users write."""
_ALWAYS = ("mpi", "iteration")
"""Short names that are valid for every trace. Their events can always be made, even if the trace has no such type."""
_COUNTERS = {
    "instructions": ((42000050,), ("PAPI_TOT_INS", "perf::INSTRUCTIONS")),
    "cycles": ((42000059,), ("PAPI_TOT_CYC", "perf::CYCLES")),
}
"""Event types of hardware counters by the short name that users write: numbers of Extrae, and names of the counter."""

_KINDS: dict[str, Callable[[str], bool]] = {
    "point to point": lambda name: name in POINT_TO_POINT,
    "collective": lambda name: name in COLLECTIVES,
    "one-sided": is_one_sided,
    "file": is_of_files,
}


def event_labels(trace: Trace) -> Labels:
    """Return the labels of all event types that a trace has, or may have."""
    return TYPE_LABELS | call_labels(trace.procedures) | trace.event_labels


def _refuse(what: str, name: object, known: Sequence[str], trace: Trace) -> TracelibError:
    some = ", ".join(sorted(set(known))[:_MOST_NAMED])
    return TracelibError(f"{trace.path}: no {what} {name!r}", f"there are {some}" if some else "", 2)


def type_numbers(trace: Trace, wanted: Sequence[int | str]) -> np.ndarray:
    """Return the numbers of event types that are given by number or by name, int64.

    Raises:
        TracelibError: The trace has no event type of this name.
    """
    labels, found = event_labels(trace), list[int]()
    for one in wanted:
        mine = [one] if isinstance(one, int) else _named(one.strip().lower(), labels)
        if not mine:
            raise _refuse("event type", one, [label for label, _ in labels.values()], trace)
        found += mine
    return np.array(found, np.int64)


def _named(name: str, labels: Labels) -> list[int]:
    """Return the numbers of the event types with a name. Empty: the trace has none."""
    found = [number for number, (label, _) in labels.items() if label.lower() == name]
    if name in _COUNTERS and not found:
        types, counters = _COUNTERS[name]
        found = [number for number, (label, _) in labels.items() if number in types or label in counters]
    if name in _GROUPS and not found:
        found = [number for number in _GROUPS[name] if name in _ALWAYS or number in labels]
    return found


def value_numbers(trace: Trace, types: np.ndarray | None, wanted: Sequence[str]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that tests event records (EVENT) for values with the given names.

    Args:
        trace: The trace, for its labels.
        types: Numbers of the event types whose values count. None: all types.
        wanted: Names of values, such as "MPI_Send".

    Returns:
        Function that returns a mask of the given events.

    Raises:
        TracelibError: No type has a value of this name.
    """
    pairs, known = list[tuple[int, int]](), list[str]()
    names = {name.lower() for name in wanted}
    for number, (_, values) in event_labels(trace).items():
        if types is None or number in types:
            known += values.values()
            pairs += [(number, value) for value, label in values.items() if label.lower() in names]
    met = {name.lower() for name in known}
    if unknown := [name for name in wanted if name.lower() not in met]:
        raise _refuse("value", unknown[0], known, trace)

    def chosen(rows: np.ndarray) -> np.ndarray:
        keep = np.zeros(len(rows), bool)
        for number, value in pairs:
            keep |= (rows["type"] == number) & (rows["value"] == value)
        return keep

    return chosen


def call_numbers(procedures: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """Return a mask of the procedures whose name or kind ("collective", ...) is among `wanted`.

    A name that the run never called is not an error.
    """
    names = {name.lower() for name in wanted}
    kinds = [is_of for kind, is_of in _KINDS.items() if kind in names]
    found = []
    for procedure in procedures:
        base = base_name(procedure)
        found.append(bool({procedure.lower(), base.lower()} & names) or any(is_of(base) for is_of in kinds))
    return np.array(found, bool)


def state_numbers(wanted: Sequence[int | str]) -> np.ndarray:
    """Return the numbers of states that are given by number or by name ("Running"), int64.

    Raises:
        TracelibError: There is no state of this name.
    """
    numbers = {label.lower(): number for number, label in STATE_LABELS.items()}
    found = []
    for one in wanted:
        if isinstance(one, int | float):
            found.append(int(one))
        elif str(one).lower() in numbers:
            found.append(numbers[str(one).lower()])
        else:
            raise TracelibError(f"there is no state {one!r}", f"there are {', '.join(STATE_LABELS.values())}", 2)
    return np.array(found, np.int64)
