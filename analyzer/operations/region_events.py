"""Events of a program that begin and end regions: their value is the region that begins, 0: the innermost one ends."""

from __future__ import annotations

import numpy as np

from analyzer.program.operation import OperationKind
from tracelib.schema import REGION_TYPE


def are_of_regions(ops: np.ndarray) -> np.ndarray:
    """Return a mask of the operations (OP) that are events of regions."""
    return (ops["kind"] == OperationKind.EVENT) & (ops["tag"] == REGION_TYPE)


def begun_by(value: np.ndarray) -> np.ndarray:
    """Return for each event of a thread, in order, the place of the event that began the region that it ends.

    An event that begins a region has its own place; -1: it ends nothing. As regions nest, begins and ends of one depth
    alternate.
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
    """Return the region that each event begins or ends; 0: it ends none."""
    begun = begun_by(value)
    return np.where(begun >= 0, value[begun], 0)


def outermost_visits(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the begins and ends of visits outside any other visit of their region, in order of their
    ends."""
    begun = begun_by(value)
    at = np.flatnonzero(begun >= 0)
    at = at[np.argsort(value[begun[at]], kind="stable")]  # region after region
    region, step = value[begun[at]], np.where(begun[at] == at, 1, -1)
    open_ = np.cumsum(step)
    first = np.searchsorted(region, region)
    open_ -= (open_ - step)[first]
    ends = np.sort(at[(step < 0) & (open_ == 0)])
    return begun[ends], ends
