"""The loops inside loops, by the sequences of calls: of each loop one typical iteration is looked into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.calls.sequence import Detail
from analyzer.structure.levels.agreed import Agreed, Sequences, Stretches, agreed

DEEPEST = 4
"""Levels that are looked for."""


@dataclass(frozen=True)
class Node:
    """A loop, and the loops inside its typical iteration."""

    loop: Agreed
    level: int
    representative: int  # from 0
    fewest: int = 0
    most: int = 0
    total: int = 0
    inside: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """This one and all inside."""
        yield self
        for node in self.inside:
            yield from node.walk()


def tree(sequences: Sequences, stretches: Stretches, team: Team, flushes: np.ndarray, level: int = 1) -> list[Node]:
    """The loops of some calls, by time. flushes: (n, 2) begins and ends, ns. Collective."""
    found = []
    for loop in agreed(sequences, stretches, team):
        number = typical(loop.edges, flushes)
        within = {rank: own.stretch(number) for rank, own in loop.own.items()}
        inside = tree(sequences, within, team, flushes, level + 1) if level < DEEPEST else []
        counted = [_with_range(sequences, loop, number, node, team) for node in inside]
        found.append(Node(loop, level, number, inside=tuple(counted)))
    return found


def typical(edges: np.ndarray, flushes: np.ndarray) -> int:
    """The iteration, from 0, whose lengths on all ranks are nearest to each rank's median; one without flush."""
    edges = edges[edges[:, 0] >= 0]
    lengths = np.diff(edges, axis=1).astype(np.float64)
    middle = np.maximum(np.median(lengths, axis=1, keepdims=True), 1)
    off = np.abs(lengths / middle - 1).mean(axis=0)
    begins, ends = edges[:, :-1].min(axis=0), edges[:, 1:].max(axis=0)
    disturbed = np.zeros(len(off), bool)
    for begin, end in flushes.tolist():
        disturbed |= (begins < end) & (ends > begin)
    if not disturbed.all():
        off[disturbed] = np.inf
    if len(off) > 2:  # the first and the last one may be cut off
        off[[0, -1]] += 1
    return int(off.argmin())


def _with_range(sequences: Sequences, outer: Agreed, number: int, node: Node, team: Team) -> Node:
    """How often an inner loop is passed in the shortest and the longest iteration around it, and in all: its first call
    is counted, if there are as many as passes where the loop was found."""
    mine = None
    for rank, own in outer.own.items():
        inner = node.loop.own.get(rank)
        if inner is None:
            continue
        symbols = sequences[rank].symbols[Detail.PEER]
        ends = np.append(own.begins[1:], own.end)
        at = np.flatnonzero(symbols == symbols[inner.begins[0]])
        made = np.searchsorted(at, ends) - np.searchsorted(at, own.begins)
        if made[number] == inner.count:
            mine = int(made.min()), int(made.max()), int(made.sum())
        break
    said = next((one for one in team.allgather(mine) if one is not None), None)
    fewest, most, total = said or (node.loop.count, node.loop.count, 0)
    return Node(node.loop, node.level, node.representative, fewest, most, total, node.inside)
