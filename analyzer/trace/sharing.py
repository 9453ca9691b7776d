"""Ranks or threads that share CPUs, because there are more of them than CPUs that they may use."""

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
"""Share of the CPU use and waiting of a rank's busiest thread from which on another thread is busy, too."""


@dataclass(frozen=True)
class Sharing:
    """Ranks of a node that may run only on some CPUs, of which there are fewer than ranks."""

    node: str
    ranks: int
    cpus: int


def cpus_of(text: str) -> frozenset[int]:
    """Parse a list of CPUs such as "0-3,8"; empty where the text is cut or no such list."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        return frozenset()
    ranges = [part.partition("-")[::2] for part in text.split(",")]
    return frozenset(cpu for low, high in ranges for cpu in range(int(low), int(high or low) + 1))


def sharing(trace: Trace) -> tuple[Sharing, ...]:
    """Find the ranks that share CPUs: on each node where ranks do, the group with most ranks for a CPU."""
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
    """Count, for each set of CPUs and for all of them, the ranks that may not run elsewhere."""
    counts = Counter(sets)
    candidates = {*counts, frozenset[int]().union(*counts)} - {frozenset()}
    return [Sharing(node, sum(n for other, n in counts.items() if other <= one), len(one)) for one in candidates]


@dataclass(frozen=True)
class Crowd:
    """Busy threads of one rank that may run on fewer CPUs than there are threads."""

    rank: int
    threads: int  # number of busy threads; threads that mostly sleep do not count
    cpus: int
    delay_ns: int  # waiting time for a CPU of the thread that waited longest; UNKNOWN: the kernel does not say


def busy(tasks: np.ndarray) -> np.ndarray:
    """Select the threads (TASK) that want a CPU for a good part of the time."""
    wants = tasks["cpu"].clip(min=0) + tasks["delay"].clip(min=0)
    return tasks[wants >= max(_BUSY * int(wants.max(initial=0)), 1)]


def crowds_of_threads(trace: Trace, team: Team) -> tuple[Crowd, ...]:
    """Find the ranks whose busy threads share CPUs, in order. Collective over the team."""
    found = []
    for rank in trace.share(team):
        tasks = busy(trace.extra(CpuUse).tasks(rank))
        allowed = frozenset[int]().union(*tasks["cpus"].tolist())
        if 0 < len(allowed) < len(tasks) and all(tasks["cpus"]):
            found.append(Crowd(rank, len(tasks), len(allowed), int(tasks["delay"].max())))
    return tuple(crowd for crowds in team.allgather(found) for crowd in crowds)
