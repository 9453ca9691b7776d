"""The loops inside loops, by the sequences of calls: of each loop one typical iteration is looked into."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.calls.loops import SequenceLoop
from analyzer.structure.calls.sequence import Sequence, SymbolDetail
from analyzer.structure.levels.agreed_loops import AgreedLoop, Sequences, agreed
from analyzer.structure.levels.each_rank import RankStretch, RankStretches

DEEPEST = 4
"""Levels that are looked for."""


@dataclass(frozen=True)
class LoopNode:
    """A loop, and the loops inside its typical iteration."""

    loop: AgreedLoop
    level: int
    representative: int  # from 0
    fewest: int = 0
    most: int = 0
    total: int = 0
    inside: tuple[LoopNode, ...] = ()

    def walk(self) -> Iterator[LoopNode]:
        """Yield this node and all nodes inside."""
        yield self
        for node in self.inside:
            yield from node.walk()


def tree(
    sequences: Sequences, stretches: RankStretches, team: Team, flushes: np.ndarray, *, level: int = 1,
    deepest: int = DEEPEST,
) -> list[LoopNode]:  # fmt: skip
    """Return the loops of some calls, by time. flushes: (n, 2) begins and ends, ns; deepest: levels that are looked
    for. Collective."""
    found = _tree(sequences, stretches, team, flushes, level, deepest)
    return [_counted(sequences, node, _Chain.from_node(node, team), team) for node in found]


def _tree(
    sequences: Sequences, stretches: RankStretches, team: Team, flushes: np.ndarray, level: int, deepest: int
) -> list[LoopNode]:
    """Build the tree, without how often loops are passed in other iterations than the typical one."""
    found = []
    for loop in agreed(sequences, stretches, team):
        number = typical(loop.edges, flushes)
        inside: list[LoopNode] = []
        if level < deepest:
            within = _within(sequences, loop, number)
            inside = _tree(sequences, within, team, flushes, level + 1, deepest)
        found.append(LoopNode(loop, level, number, inside=tuple(inside)))
    return found


def _within(sequences: Sequences, loop: AgreedLoop, number: int) -> RankStretches:
    """Return the calls of one iteration on the ranks of this process."""

    def of(rank: int) -> RankStretch:
        own = loop.own[rank]
        calls, offset = sequences.around(rank, number, own, loop.edges[rank])
        first, last = own.stretch(number)
        return RankStretch(rank, calls, offset, first - offset, last - offset)

    return RankStretches(list(loop.own), of)


def typical(edges: np.ndarray, flushes: np.ndarray) -> int:
    """Return the iteration, from 0, whose lengths on all ranks are nearest to each rank's median; one without flush."""
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
    """Return a mask of the intervals, in order, that overlap with one of others, (n, 2)."""
    first = np.searchsorted(ends, others[:, 0], side="right")
    behind = np.searchsorted(begins, others[:, 1], side="left")
    there = first < behind
    steps = np.zeros(len(begins) + 1, np.int64)
    np.add.at(steps, first[there], 1)
    np.add.at(steps, behind[there], -1)
    return np.cumsum(steps)[:-1] > 0


class _Chain(NamedTuple):
    """The rank that tells how often loops are passed, and, where it is one of this process, where the iterations around
    them begin in its sequence, with the end."""

    rank: int
    edges: np.ndarray

    @classmethod
    def from_node(cls, node: LoopNode, team: Team) -> _Chain:
        """Start from a loop of which only its own iterations are known, on the first of the ranks with most inner
        loops.

        Collective over the team.
        """
        own = node.loop.own
        mine = [(-sum(rank in one.loop.own for one in node.walk()), rank) for rank in own]
        _, rank = min(best for part in team.allgather(min(mine, default=None)) if (best := part) is not None)
        return cls(rank, np.append(own[rank].begins, own[rank].end) if rank in own else np.zeros(0, np.int64))


def _counted(sequences: Sequences, outer: LoopNode, chain: _Chain, team: Team) -> LoopNode:
    """Add how often each loop inside is passed in the shortest and the longest iteration around it, and in all of the
    run.

    If the rank cannot tell this, the typical iteration stands for it. Collective.
    """
    inside = []
    for node in outer.inside:
        inner = node.loop.own.get(chain.rank) if len(chain.edges) else None
        at = None if inner is None else _begins(sequences[chain.rank], chain.edges, inner)
        made = None if at is None else np.diff(np.searchsorted(at, chain.edges))
        mine = None if made is None else (int(made.min()), int(made.max()), int(made.sum()))
        said = next((one for one in team.allgather(mine) if one is not None), None)
        fewest, most, total = said or (node.loop.count, node.loop.count, 0)
        if said is None:
            further = _Chain.from_node(node, team)
        else:
            further = _Chain(chain.rank, chain.edges if at is None else np.append(at, chain.edges[-1]))
        inside.append(_counted(sequences, replace(node, fewest=fewest, most=most, total=total), further, team))
    return replace(outer, inside=tuple(inside))


def _begins(calls: Sequence, edges: np.ndarray, inner: SequenceLoop) -> np.ndarray | None:
    """Find the begins of the passes of a loop in all iterations around it. None: they are not found.

    Passes begin with the calls that begin the known passes, or behind the calls that end them, if these are equally
    many as the passes in the iteration with the known ones.
    """
    number = int(np.searchsorted(edges, inner.begins[0], side="right")) - 1
    if not 0 <= number < len(edges) - 1:
        return None
    lasts = np.append(inner.begins[1:], inner.end) - 1
    for places in (inner.begins, lasts):
        for detail in (SymbolDetail.PEER, SymbolDetail.PROCEDURE, SymbolDetail.SIZE):
            symbols = calls.symbols[detail][: edges[-1]]
            at = np.flatnonzero(np.isin(symbols, symbols[places]))
            at = at[at >= edges[0]]
            if np.diff(np.searchsorted(at, edges[number : number + 2]))[0] == inner.count:
                return at if places is not lasts else _behind(at, edges, int(inner.begins[0] - edges[number]))
    return None


def _behind(ends: np.ndarray, edges: np.ndarray, before: int) -> np.ndarray:
    """Return the begins of passes from their ends: behind the pass before, or, for the first of an iteration, `before`
    calls after its begin."""
    around = edges[np.searchsorted(edges, ends, side="right") - 1]
    after = np.append(-1, ends[:-1]) + 1
    return np.where(after <= around, np.minimum(around + before, ends), after)
