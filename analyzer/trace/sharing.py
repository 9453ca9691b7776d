"""Ranks that share CPUs: more of them than there are for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.trace.trace import Trace


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
