"""Pipelines, or wavefronts: ranks that compute one after the other, because each needs the result of the previous rank.

Each rank waits for its neighbour in the same call of the program, and waits longer the more ranks are before it. This
distinguishes a pipeline from a late rank: all ranks that wait for a late rank, directly or through others, wait the
same time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.pairing.parts import parts
from analyzer.parallel import Team
from analyzer.trace import CallPaths, Trace
from analyzer.waits.kinds import WaitKind, length
from analyzer.waits.wait_states import NOT_FOR_MESSAGES, WaitSearch, find_wait_states
from tracelib.schema.procedures import base_name

_LEAST_SHARE = 0.25
"""A rank depends on another one if it waits for it at least this share of its waiting in a call."""
_FEWEST = 3
_GROWTH = 0.5
"""The n-th rank must wait at least n times this factor times the wait of the first rank that waits."""

_COLUMNS = ["rank", "cause", "call", "place", "tag"]
_WAITED = np.dtype([(name, "<i8") for name in (*_COLUMNS, "time")])
"""Waiting of a rank for another rank (`cause`) in one call, `time` in ns. `tag`: tag of the messages + 1; 0: unused.

The tag replaces the place where that is not known, since waits that belong together mostly have one tag.
"""


@dataclass(frozen=True)
class Pipeline:
    """Ranks that wait for each other along a chain, in one call of the program."""

    procedure: str
    place: int  # number in CallPaths.named(); 0: not known
    ranks: tuple[int, ...]  # by position in the chain, first the ranks that wait for none, then by number
    depth: int  # number of ranks of the longest chain that wait
    last_ns: int  # waiting at the end of the chain, by which the run takes longer
    cost_ns: int  # waiting of all ranks of the pipeline


def pipelines(trace: Trace, team: Team) -> tuple[Pipeline, ...]:
    """Find the pipelines of a run, the one with most waiting first. Collective."""
    rows = _summed(trace, team)
    of_call = rows[["call", "place", "tag"]]
    found = []
    for key in np.unique(of_call):
        order = chain(rows.compress(of_call == key))
        if order is not None:
            found.append(Pipeline(trace.procedures[key["call"]], int(key["place"]), *order))
    return tuple(sorted(found, key=lambda one: -one.cost_ns))


def chain(waited: np.ndarray) -> tuple[tuple[int, ...], int, int, int] | None:
    """Find the order of ranks in a pipeline.

    Args:
        waited: Waits in one call, with the columns rank, cause and time (ns).

    Returns:
        The ranks in order, the depth, the waiting at the end of the chain and the waiting of all ranks (ns). None: the
        waits are not a pipeline.
    """
    whole = _by_rank(waited, "rank")
    edges = [
        (int(row["rank"]), int(row["cause"]))
        for row in waited
        if row["time"] >= _LEAST_SHARE * whole[int(row["rank"])] and row["rank"] != row["cause"]
    ]
    depth = _depths(edges)
    if depth is None or len(depth) < _FEWEST or max(depth.values()) < _FEWEST - 1:
        return None
    deepest = max(depth.values())
    at_depth = [np.median([whole.get(r, 0) for r, d in depth.items() if d == level]) for level in range(deepest + 1)]
    enough = _GROWTH * deepest + _GROWTH / 2
    if at_depth[deepest] < enough * at_depth[1] or (np.diff(at_depth) < 0).sum() > deepest // 4:
        return None
    order = sorted(depth, key=lambda rank: (depth[rank], rank))
    return tuple(order), deepest, int(at_depth[deepest]), sum(whole.values())


def _by_rank(waited: np.ndarray, column: str) -> dict[int, int]:
    ranks, which = np.unique(waited[column], return_inverse=True)
    return dict(zip(ranks.tolist(), np.bincount(which, waited["time"]).astype(int).tolist(), strict=True))


def _depths(edges: list[tuple[int, int]]) -> dict[int, int] | None:
    """Return for each rank the longest way to a rank that waits for none.

    None: some ranks wait for each other in a circle.
    """
    waits_for: dict[int, list[int]] = defaultdict(list)
    waited_for_by: dict[int, list[int]] = defaultdict(list)
    for rank, cause in edges:
        waits_for[rank].append(cause)
        waited_for_by[cause].append(rank)
    left = {rank: len(causes) for rank, causes in waits_for.items()}
    depth = {cause: 0 for cause in waited_for_by if cause not in left}
    ready = list(depth)
    while ready:
        cause = ready.pop()
        for rank in waited_for_by[cause]:
            depth[rank] = max(depth.get(rank, 0), depth[cause] + 1)
            left[rank] -= 1
            if not left[rank]:
                ready.append(rank)
    return depth if not any(left.values()) else None


def _summed(trace: Trace, team: Team) -> np.ndarray:
    """Sum the waiting of each rank for each other rank, by call, place and tag (_WAITED). Collective."""
    sums: dict[tuple[int, ...], int] = defaultdict(int)
    for rows in _waited(trace, team):
        keys, which = np.unique(rows[_COLUMNS], return_inverse=True)
        for key, time in zip(keys.tolist(), np.bincount(which, rows["time"]).tolist(), strict=True):
            sums[key] += int(time)
    every: dict[tuple[int, ...], int] = defaultdict(int)
    for of_member in team.allgather(dict(sums)):
        for key, time in of_member.items():
            every[key] += time
    return np.array([(*key, time) for key, time in sorted(every.items())], _WAITED)


def _waited(trace: Trace, team: Team) -> Iterator[np.ndarray]:
    """Yield _WAITED rows of all waits for messages of the ranks that this member reads."""
    search = WaitSearch(trace, team, used=frozenset(map(base_name, trace.procedures)) - NOT_FOR_MESSAGES)
    found = find_wait_states(search)
    paths = trace.extra(CallPaths)
    places = paths.named().place if paths.known else np.zeros(0, np.int64)
    every = found.waits
    for part in parts(trace, found.ranks):
        lanes = search.lanes.first[[part.ranks.start, part.ranks.stop]] - search.lanes.first[found.ranks.start]
        first, last = found.lane_first[lanes + search.lanes.first[found.ranks.start]].tolist()
        waits = every[first:last]
        waits = waits[
            (waits["kind"] <= WaitKind.WRONG_ORDER) & (waits["enter"] >= part.begin) & (waits["enter"] < part.end)
        ]
        rows = np.zeros(len(waits), _WAITED)
        rows["rank"], rows["cause"] = search.lanes.rank[waits["lane"]], search.lanes.rank[waits["cause"]]
        rows["call"], rows["time"] = waits["call"], length(waits)
        at = part.find(rows["rank"], waits["enter"])
        known = at >= 0
        rows["tag"][known] = part.calls.rows["tag"][at[known]] + 1
        if paths.known:
            rows["place"][known] = places[part.paths[at[known]]]
            rows["tag"][rows["place"] > 0] = 0
        yield rows
    search.close()
