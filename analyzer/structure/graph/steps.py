"""Successions of communications for each rank, with the computation between: the material of a program's graph."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analyzer.columns.arrays import by_index, joined
from analyzer.metrics.sums import Sums
from analyzer.pairing.parts import Part
from analyzer.parallel import Team
from analyzer.trace import CallPaths, State, Trace
from tracelib.schema.procedures import is_communication

ENDS = -1
"""Number of the begin and of the end of a thread, where a communication would be."""
VISIT = np.dtype(
    [("rank", "<i8"), ("node", "<i8"), ("count", "<i8"), ("first", "<i8"), ("bytes", "<i8"), ("inside", "<i8")]
)
"""Calls of one communication by one rank: how many, first entry (ns), bytes sent or received (the larger), ns in it."""
STEP = np.dtype([*((name, "<i8") for name in ("rank", "node", "next", "count", "first", "ns")), ("squares", "<f8")])
"""One rank's way from one communication to the next: how often, first (ns), ns computed, the sum of squares."""
SENT = np.dtype([("node", "<i8"), ("next", "<i8"), ("count", "<i8")])
"""Messages from one communication to another."""
_MOST_CALLS = 20_000_000
"""Calls whose entries are kept to find where messages begin and end; of larger runs messages are not drawn."""


@dataclass(frozen=True)
class ProgramSteps:
    """Steps of all ranks in order. A communication's number is call * places + place."""

    visits: np.ndarray  # VISIT
    steps: np.ndarray  # STEP
    messages: np.ndarray | None  # SENT; None: there were too many calls
    places: int


class StepSums(Sums[ProgramSteps]):
    """Adds up the steps of each thread."""

    def __init__(self, trace: Trace) -> None:
        paths = trace.extra(CallPaths)
        self._place = np.asarray(paths.named().place, np.int64) if paths.known else np.zeros(1, np.int64)
        self._places = int(self._place.max(initial=0)) + 2
        self._kept = np.array([is_communication(name) for name in trace.procedures], bool)
        self._visits: list[np.ndarray] = []
        self._steps: list[np.ndarray] = []
        self._last: dict[int, tuple[int, int, int]] = {}  # by thread: node, its exit, ns computed since
        self._entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None = []
        self._trace = trace

    def add(self, part: Part) -> None:
        ranks, calls = part.calls
        kept = self._kept[calls["call"]]
        ranks, calls, paths = ranks[kept], calls.compress(kept), part.paths[kept]
        place = np.where(paths > 0, self._place[paths] + 1, 0)
        node = calls["call"].astype(np.int64) * self._places + place
        own = ranks * (1 << 16) + calls["thread"]
        self._keep(ranks, calls, node)
        rows = np.zeros(len(calls), VISIT)
        rows["rank"], rows["node"], rows["count"], rows["first"] = ranks, node, calls["count"], calls["enter"]
        rows["bytes"] = np.maximum(np.maximum(calls["sent"], calls["received"]), 0)
        rows["inside"] = calls["inside"]
        self._visits = [_added(joined([*self._visits, rows], VISIT), ("rank", "node"))]
        order = np.lexsort([calls["enter"], own])
        self._add_steps(part, own[order], calls.take(order), node[order])

    def _keep(self, ranks: np.ndarray, calls: np.ndarray, node: np.ndarray) -> None:
        if self._entries is not None:
            self._entries.append((ranks.astype(np.int32), calls["enter"].copy(), node))
            if sum(len(entry[0]) for entry in self._entries) > _MOST_CALLS:
                self._entries = None

    def _add_steps(self, part: Part, own: np.ndarray, calls: np.ndarray, node: np.ndarray) -> None:
        """Add the steps that end in this part. Computation after the last call of a thread waits for the next part."""
        running = part.states.compress(part.states["state"] == State.RUNNING)
        thread = running["rank"].astype(np.int64) * (1 << 16) + running["thread"]
        length = running["end"] - running["begin"]
        found: list[np.ndarray] = []
        for one in np.union1d(np.unique(own), np.unique(thread)).tolist():
            first, last = np.searchsorted(own, [one, one + 1])
            mine, nodes = calls[first:last], node[first:last]
            chosen = thread == one
            at = np.searchsorted(mine["enter"], running["begin"][chosen], "right")
            before, left, pending = self._last.get(one, (ENDS, 0, 0))
            computed = by_index(at, length[chosen], len(mine) + 1)
            computed[0] += pending
            rows = np.zeros(len(mine), STEP)
            if len(mine):
                rows["rank"], rows["count"] = one >> 16, 1
                rows["node"], rows["next"] = np.concatenate([[before], nodes[:-1]]), nodes
                rows["first"] = np.concatenate([[left], mine["exit"][:-1]])
                rows["ns"], rows["squares"] = computed[:-1], computed[:-1].astype(float) ** 2
                before, left = int(nodes[-1]), int(mine["exit"][-1])
                found += [rows, _folded(one >> 16, mine, nodes)]
            self._last[one] = before, left, int(computed[-1])
        self._steps = [_added(joined([*self._steps, *found], STEP), ("rank", "node", "next"))]

    def total(self, team: Team) -> ProgramSteps:
        last = np.zeros(len(self._last), STEP)
        for row, (one, (node, left, computed)) in zip(last, self._last.items(), strict=True):
            row["rank"], row["node"], row["next"], row["count"] = one >> 16, node, ENDS, 1
            row["first"], row["ns"], row["squares"] = left, computed, float(computed) ** 2
        visits = _added(joined(team.allgather(joined(self._visits, VISIT)), VISIT), ("rank", "node"))
        steps = joined(team.allgather(joined([*self._steps, last], STEP)), STEP)
        return ProgramSteps(visits, _added(steps, ("rank", "node", "next")), self._messages(team), self._places)

    def _messages(self, team: Team) -> np.ndarray | None:
        gathered = team.allgather(self._entries)
        if any(entries is None for entries in gathered):
            return None
        entries = [entry for some in gathered for entry in some or ()]
        if not entries:
            return np.zeros(0, SENT)
        rank, enter, node = (np.concatenate(column) for column in zip(*entries, strict=True))
        order = np.lexsort([enter, rank])
        rank, enter, node = rank[order], enter[order], node[order]
        first = np.searchsorted(rank, np.arange(self._trace.size + 1))
        found: list[np.ndarray] = []
        windows = self._trace.message_windows().tolist()
        for begin, end in pairwise(windows):
            messages = self._trace.unordered_messages(begin, end)
            rows = np.zeros(len(messages), SENT)
            rows["count"] = 1
            for name, ranks, times in (("node", "source", "logical_send"), ("next", "destination", "logical_receive")):
                rows[name] = _call_at(messages[ranks], messages[times], first, enter, node)
            rows = rows.compress((rows["node"] != ENDS) & (rows["next"] != ENDS))
            found = [_added(joined([*found, rows], SENT), ("node", "next"))]
        return joined(found, SENT)


def _call_at(
    ranks: np.ndarray, times: np.ndarray, first: np.ndarray, enter: np.ndarray, node: np.ndarray
) -> np.ndarray:
    """Return the communication that each rank entered last at a time; ENDS: none."""
    found = np.full(len(ranks), ENDS, np.int64)
    for rank in np.unique(ranks).tolist():
        chosen = ranks == rank
        begin, end = int(first[rank]), int(first[rank + 1])
        at = np.searchsorted(enter[begin:end], times[chosen], "right") - 1
        found[chosen] = np.where(at >= 0, node[begin:end][np.maximum(at, 0)] if end > begin else ENDS, ENDS)
    return found


def _folded(rank: int, calls: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return steps inside rows that stand for several calls, one after the other."""
    several = calls["count"] > 1
    rows = np.zeros(int(several.sum()), STEP)
    rows["rank"], rows["node"], rows["next"] = rank, nodes[several], nodes[several]
    rows["count"], rows["first"] = calls["count"][several] - 1, calls["exit"][several]
    return rows


def _added(rows: np.ndarray, keys: tuple[str, ...]) -> np.ndarray:
    """Join rows of equal keys: the least `first`, the sums of all else."""
    if not len(rows):
        return rows
    rows = rows.take(np.lexsort([rows[name] for name in reversed(keys)]))
    new = np.any([np.diff(rows[name], prepend=-2) != 0 for name in keys], axis=0)
    first = np.flatnonzero(new)
    found = rows.take(first)
    for name in set(rows.dtype.names or ()) - set(keys):
        reduce = np.minimum if name == "first" else np.add
        found[name] = reduce.reduceat(rows[name], first)
    return found
