"""The loops inside loops, by the sequences of calls: of each loop one typical iteration is looked into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.calls.sequence import Detail
from analyzer.structure.levels.agreed import Agreed, Sequences, agreed
from analyzer.structure.levels.each_rank import Stretch, Stretches

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


def tree(
    sequences: Sequences, stretches: Stretches, team: Team, flushes: np.ndarray, *, level: int = 1,
    deepest: int = DEEPEST,
) -> list[Node]:  # fmt: skip
    """The loops of some calls, by time. flushes: (n, 2) begins and ends, ns; deepest: levels that are looked for.
    Collective."""
    found = []
    for loop in agreed(sequences, stretches, team):
        number = typical(loop.edges, flushes)
        inside: list[Node] = []
        if level < deepest:
            within = _within(sequences, loop, number)
            inside = tree(sequences, within, team, flushes, level=level + 1, deepest=deepest)
        counted = [_with_range(sequences, loop, number, node, team) for node in inside]
        found.append(Node(loop, level, number, inside=tuple(counted)))
    return found


def _within(sequences: Sequences, loop: Agreed, number: int) -> Stretches:
    """The calls of one iteration on the ranks of this process."""

    def of(rank: int) -> Stretch:
        own = loop.own[rank]
        calls, offset = sequences.around(rank, number, own, loop.edges[rank])
        first, last = own.stretch(number)
        return Stretch(rank, calls, offset, first - offset, last - offset)

    return Stretches(list(loop.own), of)


def typical(edges: np.ndarray, flushes: np.ndarray) -> int:
    """The iteration, from 0, whose lengths on all ranks are nearest to each rank's median; one without flush."""
    known = np.flatnonzero(edges[:, 0] >= 0).tolist()
    off = np.zeros(edges.shape[1] - 1)
    begins, ends = edges[known[0], :-1].copy(), edges[known[0], 1:].copy()
    for rank in known:
        lengths = np.diff(edges[rank]).astype(np.float64)
        off += np.abs(lengths / max(float(np.median(lengths)), 1.0) - 1)
        np.minimum(begins, edges[rank, :-1], out=begins)
        np.maximum(ends, edges[rank, 1:], out=ends)
    off /= len(known)
    disturbed = _overlapping(begins, ends, flushes)
    if not disturbed.all():
        off[disturbed] = np.inf
    if len(off) > 2:  # the first and the last one may be cut off
        off[[0, -1]] += 1
    return int(off.argmin())


def _overlapping(begins: np.ndarray, ends: np.ndarray, others: np.ndarray) -> np.ndarray:
    """bool: whether intervals, whose begins and ends each are in order, overlap with one of others, (n, 2)."""
    first = np.searchsorted(ends, others[:, 0], side="right")
    behind = np.searchsorted(begins, others[:, 1], side="left")
    there = first < behind
    steps = np.zeros(len(begins) + 1, np.int64)
    np.add.at(steps, first[there], 1)
    np.add.at(steps, behind[there], -1)
    return np.cumsum(steps)[:-1] > 0


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
