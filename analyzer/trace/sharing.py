"""Ranks or threads that share CPUs: more of them are bound to some CPUs than there are CPUs."""

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
"""A thread is busy if it uses or waits for a CPU at least this share of the time of its rank's busiest thread."""


@dataclass(frozen=True)
class Sharing:
    """Ranks of one node that are bound to the same CPUs, and are more than these CPUs.

    `ranks` and `cpus` are the number of these ranks and CPUs.
    """

    node: str
    ranks: int
    cpus: int


def cpus_of(text: str) -> frozenset[int]:
    """Parse a list of CPUs such as "0-3,8". Empty: the text is incomplete, or no list of CPUs."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        return frozenset()
    ranges = [part.partition("-")[::2] for part in text.split(",")]
    return frozenset(cpu for low, high in ranges for cpu in range(int(low), int(high or low) + 1))


def sharing(trace: Trace) -> tuple[Sharing, ...]:
    """Find the nodes on which ranks share CPUs.

    Returns:
        For each of these nodes, the group of ranks with most ranks for each CPU, in order of nodes.
    """
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
    """Count the ranks that are bound to each set of CPUs or a part of it; and to the union of all sets."""
    counts = Counter(sets)
    candidates = {*counts, frozenset[int]().union(*counts)} - {frozenset()}
    return [Sharing(node, sum(n for other, n in counts.items() if other <= one), len(one)) for one in candidates]


@dataclass(frozen=True)
class Crowd:
    """One rank whose busy threads are bound to fewer CPUs than there are busy threads."""

    rank: int
    threads: int  # number of busy threads; threads that mostly sleep do not count
    cpus: int
    delay_ns: int  # ns that the busy thread that waited longest for a CPU waited; UNKNOWN: not known


def busy(tasks: np.ndarray) -> np.ndarray:
    """Select the busy threads of a rank (TASK).

    A thread is busy if its time on a CPU plus its waiting for a CPU is at least 5 % (_BUSY) of the largest such time.
    """
    wants = tasks["cpu"].clip(min=0) + tasks["delay"].clip(min=0)
    return tasks[wants >= max(_BUSY * int(wants.max(initial=0)), 1)]


def crowds_of_threads(trace: Trace, team: Team) -> tuple[Crowd, ...]:
    """Find the ranks whose busy threads share CPUs, in order of ranks. Collective."""
    found = []
    for rank in trace.share(team):
        tasks = busy(trace.extra(CpuUse).tasks(rank))
        allowed = frozenset[int]().union(*tasks["cpus"].tolist())
        if 0 < len(allowed) < len(tasks) and all(tasks["cpus"]):
            found.append(Crowd(rank, len(tasks), len(allowed), int(tasks["delay"].max())))
    return tuple(crowd for crowds in team.allgather(found) for crowd in crowds)
