"""Dependences between ranks as points in time: no message is received before it is sent, and collectives likewise.

Dependences come as groups of points. A *source* is the entry of a call that gives data. A *sink* is the exit of a call
that takes data. A sink depends on all sources of other ranks that come before it in its group.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from analyzer.pairing.collective_calls import PATTERNS, collectives, pattern_numbers, positions, starts
from analyzer.parallel import Team
from analyzer.trace import Trace

POINT = np.dtype([("time", "<i8"), ("rank", "<i4"), ("kind", "<i4")])
"""Point of a group of dependences: time in ns, rank. `kind`: SINK or 0 (source), plus FIRST at the begin of a group."""

SINK, FIRST = 1, 2
"""Bits of `kind` in POINT."""


def message_points(trace: Trace) -> Iterator[np.ndarray]:
    """Yield the points (POINT) of all messages between different ranks, by windows: a source and a sink each."""
    for begin, end in pairwise(trace.windows().tolist()):
        rows = trace.messages(begin, end)
        rows = rows[rows["source"] != rows["destination"]]
        points = np.zeros((len(rows), 2), POINT)
        points["time"][:, 0], points["rank"][:, 0], points["kind"][:, 0] = rows["logical_send"], rows["source"], FIRST
        points["time"][:, 1], points["rank"][:, 1] = rows["physical_receive"], rows["destination"]
        points["kind"][:, 1] = SINK
        yield points.reshape(-1)


def collective_points(trace: Trace, team: Team | None = None) -> Iterator[np.ndarray]:
    """Yield the points (POINT) of the blocking collectives, by windows. Collective.

    A team shares the collectives: each member gets some of them.
    """
    points = _Points(trace)
    for rows, group in collectives(trace, team):
        yield points.of(rows, group)


class _Points:
    """Converter of calls of collectives to points."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._patterns = pattern_numbers(trace)

    def of(self, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return the sources and sinks of each collective (POINT). A sink depends on the sources before it."""
        pattern = self._patterns[rows["call"]]
        is_root = rows["rank"] == rows["root"]
        from_root, to_root, prefix = (pattern == PATTERNS.index(p) for p in PATTERNS[1:])
        known = (pattern >= 0) & ((rows["root"] >= 0) | ~(from_root | to_root))
        source = known & rows["gives"] & (~from_root | is_root) & (~to_root | ~is_root)
        sink = known & rows["takes"] & (~to_root | is_root) & (~from_root | ~is_root)
        place = np.zeros(len(rows), np.int64)
        place[prefix] = positions(self._trace, rows[prefix])
        parts = []
        for chosen, kind, time in ((source, 0, "enter"), (sink, SINK, "exit")):
            part = np.zeros(int(chosen.sum()), POINT)
            part["time"], part["rank"], part["kind"] = rows[time][chosen], rows["rank"][chosen], kind
            parts.append(part)
        points = np.concatenate(parts)
        groups, places = (np.concatenate([x[source], x[sink]]) for x in (group, place))
        order = np.lexsort((points["kind"], places, groups))
        points, groups = points[order], groups[order]
        points["kind"][starts(groups)] |= FIRST
        return points
