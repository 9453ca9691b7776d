"""Events of a program that begin and end regions.

Their value is the region that begins; 0: the innermost region ends.
"""

from __future__ import annotations

import numpy as np

from analyzer.program.operation import OperationKind
from tracelib.schema import REGION_TYPE


def are_of_regions(ops: np.ndarray) -> np.ndarray:
    """Return a mask of the operations (OP) that are events of regions."""
    return (ops["kind"] == OperationKind.EVENT) & (ops["tag"] == REGION_TYPE)


def begun_by(value: np.ndarray) -> np.ndarray:
    """Return for each event of a thread, in order, the index of the event that began its region.

    An event that begins a region has its own index. -1: the event ends nothing. As regions nest, begins and ends of the
    same depth alternate.
    """
    is_begin = value > 0
    depth = np.cumsum(np.where(is_begin, 1, -1))
    depth -= np.minimum(np.minimum.accumulate(depth), 0)  # ends without a begin end nothing
    level = depth + ~is_begin  # of the region that begins or ends
    order = np.argsort(level, kind="stable")
    found = np.arange(len(value))
    found[order[1:]] = np.where(is_begin[order[1:]], order[1:], order[:-1])
    return np.where(is_begin[found] & (level == level[found]), found, -1)


def region_of_each(value: np.ndarray) -> np.ndarray:
    """Return for each event of a thread, in order, the region that it begins or ends; 0: it ends none."""
    begun = begun_by(value)
    return np.where(begun >= 0, value[begun], 0)


def outermost_visits(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the begins and ends of visits that lie in no other visit of the same region.

    Args:
        value: Values of the events of a thread, in order.

    Returns:
        Indices of the begins, and of the ends, in order of the ends.
    """
    begun = begun_by(value)
    at = np.flatnonzero(begun >= 0)
    at = at[np.argsort(value[begun[at]], kind="stable")]  # region after region
    region, step = value[begun[at]], np.where(begun[at] == at, 1, -1)
    open_ = np.cumsum(step)
    first = np.searchsorted(region, region)
    open_ -= (open_ - step)[first]
    ends = np.sort(at[(step < 0) & (open_ == 0)])
    return begun[ends], ends
