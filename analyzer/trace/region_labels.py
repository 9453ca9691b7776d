"""Regions in a Paraver trace: events of type 60000019, as Extrae writes user functions.

The value is the region's number where it begins, and 0 where it ends, whichever region encloses it ("value > 0 enters a
block, 0 leaves the current one"). Paraver's semantic "Stacked Val" shows the innermost region, and the enclosing one
again after it. A parameter has a type of its own. Paraver's values are integers, so real parameters are in millionths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tracelib.schema import PARALLEL_TYPE, PARAMETER_TYPE, REGION_TYPE

INTEGER_PARAMETER, REAL_PARAMETER = 49100000, 49200000
"""Bases of the event types of parameters: parameter n has the type base + n."""
MILLION = 10**6
"""Factor for values of real parameters, since Paraver's values are integers."""
ENDS, REAL = 2, 1 << 15
"""Values in `flags` of event rows. ENDS: the event ends a region. REAL is added to the number of a real parameter."""

_FIRST_OF_EXTRAE = 30000000
_LARGEST = float(2**63 - 1024)


def region_events(rows: np.ndarray) -> np.ndarray:
    """Convert event rows of a rank file to Paraver's types and values of regions and parameters.

    `rows` is not changed.
    """
    is_end = (rows["type"] == REGION_TYPE) & (rows["flags"] == ENDS)
    is_parameter = rows["type"] == PARAMETER_TYPE
    if not (is_end.any() or is_parameter.any()):
        return rows
    changed = rows.copy()
    changed["value"][is_end] = 0
    is_real = is_parameter & (rows["flags"] >= REAL)
    changed["type"][is_parameter] = INTEGER_PARAMETER + rows["flags"][is_parameter].astype(np.uint32)
    changed["type"][is_real] += REAL_PARAMETER - INTEGER_PARAMETER - REAL
    changed["value"][is_real] = _millionths(rows["value"][is_real].view(np.float64))
    return changed


def _millionths(values: np.ndarray) -> np.ndarray:
    """Convert to rounded millionths, cut to the range of 64 bits; NaN becomes 0."""
    return np.nan_to_num(np.rint(values * MILLION)).clip(-_LARGEST, _LARGEST).astype(np.int64)


def is_program_event(types: np.ndarray) -> np.ndarray:
    """Return a mask of the event types of an imported trace that come from the program, not from the tracer.

    They are user functions, parameters of user functions, and the types that Extrae leaves to users (below 30000000).
    """
    return (types < _FIRST_OF_EXTRAE) | is_of_region(types)


def is_of_region(types: np.ndarray) -> np.ndarray:
    """Return a mask of the event types that are begins and ends of regions, or parameters of regions."""
    parameter = (types > INTEGER_PARAMETER) & (types < REAL_PARAMETER + REAL)
    return parameter | (types == REGION_TYPE) | (types == PARALLEL_TYPE)


def ended(value: np.ndarray) -> np.ndarray:
    """Find for each begin or end of a region which region it begins or ends.

    Args:
        value: Values of a thread's region events in order of time: the region's number at a begin, 0 at an end.

    Returns:
        Number of the region for each event; 0: an end without a begin. Regions nest, so begins and ends of one depth
        alternate.
    """
    is_begin = value > 0
    depth = np.cumsum(np.where(is_begin, 1, -1))
    depth -= np.minimum(np.minimum.accumulate(depth), 0)  # ends without a begin end nothing
    level = depth + ~is_begin  # depth of the region that begins or ends
    order = np.argsort(level, kind="stable")
    before = np.concatenate([[0], order[:-1]]) if len(order) else order
    region = value.copy()
    ends = ~is_begin[order]
    partner = ends & is_begin[before] & (level[order] == level[before])
    region[order[partner]] = value[before[partner]]
    return region


def region_labels(
    regions: Sequence[str], parameters: Sequence[str], used: Iterable[int]
) -> dict[int, tuple[str, dict[int, str]]]:
    """Return the labels of regions and parameters for the .pcf, as in Trace.event_labels.

    Args:
        regions: Names of the regions, from number 1 on.
        parameters: Names of the parameters, from number 1 on.
        used: `flags` of the parameters that occur: the number of the parameter, plus REAL for a real one.
    """
    labels: dict[int, tuple[str, dict[int, str]]] = {}
    if regions:
        labels[REGION_TYPE] = "User function", {0: "End", **dict(enumerate(regions, start=1))}
        labels[PARALLEL_TYPE] = "Threads that a region stands for", {}
    for flags in used:
        name = parameters[flags % REAL - 1]
        real = flags >= REAL
        labels[(REAL_PARAMETER if real else INTEGER_PARAMETER) + flags % REAL] = (
            f"Parameter {name}" + (" (millionths)" if real else ""),
            {},
        )
    return labels
