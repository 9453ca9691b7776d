"""Ranks that share CPUs: more of them than there are for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.trace.extras import CpuUse
from analyzer.trace.trace import Trace

_BUSY = 0.05
"""Share of what the busiest thread of a rank uses of CPUs, or waits for them, from which on another is busy, too."""


@dataclass(frozen=True)
class Sharing:
    """On one node the ranks that may run on some CPUs only, more than these are."""

    node: str
    ranks: int
    cpus: int


def cpus_of(text: str) -> frozenset[int]:
    """The CPUs in a list such as "0-3,8"; none where it is cut or no such list."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        return frozenset()
    ranges = [part.partition("-")[::2] for part in text.split(",")]
    return frozenset(cpu for low, high in ranges for cpu in range(int(low), int(high or low) + 1))


def sharing(trace: Trace) -> tuple[Sharing, ...]:
    """Of each node where ranks share CPUs, those where there are most of them for a CPU."""
    found = []
    sets: list[list[frozenset[int]]] = [[] for _ in trace.nodes.names]
    for cpus, where in zip(trace.nodes.affinity, trace.nodes.of_rank.tolist(), strict=False):
        if cpus:
            sets[where].append(cpus)
    for node, its in zip(trace.nodes.names, sets, strict=True):
        crowds = [c for c in _crowds(node, its) if c.ranks > c.cpus]
        if crowds:
            found.append(max(crowds, key=lambda c: (c.ranks / c.cpus, c.ranks)))
    return tuple(found)


def _crowds(node: str, sets: Sequence[frozenset[int]]) -> list[Sharing]:
    """For each set of CPUs, and for all of them, the ranks that may not run elsewhere."""
    counts = Counter(sets)
    candidates = {*counts, frozenset[int]().union(*counts)} - {frozenset()}
    return [Sharing(node, sum(n for other, n in counts.items() if other <= one), len(one)) for one in candidates]


@dataclass(frozen=True)
class Crowd:
    """Busy threads of one rank that may run on fewer CPUs than there are of them."""

    rank: int
    threads: int  # busy ones; those that mostly sleep do not count
    cpus: int
    delay_ns: int  # how long the one that waited longest for a CPU did so; UNKNOWN: the kernel does not say


def busy(tasks: np.ndarray) -> np.ndarray:
    """Those of some threads (TASK) that want a CPU for a good part of the time."""
    wants = tasks["cpu"].clip(min=0) + tasks["delay"].clip(min=0)
    return tasks[wants >= max(_BUSY * int(wants.max(initial=0)), 1)]


def crowds_of_threads(trace: Trace, team: Team) -> tuple[Crowd, ...]:
    """The ranks whose busy threads share CPUs, in order. Collective over the team."""
    found = []
    for rank in trace.share(team):
        tasks = busy(trace.extra(CpuUse).tasks(rank))
        allowed = frozenset[int]().union(*tasks["cpus"].tolist())
        if 0 < len(allowed) < len(tasks) and all(tasks["cpus"]):
            found.append(Crowd(rank, len(tasks), len(allowed), int(tasks["delay"].max())))
    return tuple(crowd for crowds in team.allgather(found) for crowd in crowds)
