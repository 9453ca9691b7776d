"""Loops inside loops, by the sequences of calls. Inner loops are searched in one typical iteration of each loop."""

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
"""Largest number of levels of loops."""


@dataclass(frozen=True)
class LoopNode:
    """Loop, with the loops inside its typical iteration.

    Attributes:
        loop: The loop.
        level: 1 for the outermost loops.
        representative: Number of the typical iteration, from 0.
        fewest: Fewest passes in one iteration of the loop around.
        most: Most passes in one iteration of the loop around.
        total: Passes in the whole run.
        inside: Loops inside the typical iteration.
    """

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
    """Find the loops of some calls, and the loops inside them. Collective over the team.

    Args:
        sequences: Sequences of calls.
        stretches: Stretches of the ranks of this process in which loops are searched.
        team: Processes that share the work.
        flushes: Begins and ends of flushes, ns, shape (n, 2). The typical iteration has none, if possible.
        level: Level of the loops.
        deepest: Largest level.

    Returns:
        The loops in order of time.
    """
    found = _tree(sequences, stretches, team, flushes, level, deepest)
    return [_counted(sequences, node, _Chain.from_node(node, team), team) for node in found]


def _tree(
    sequences: Sequences, stretches: RankStretches, team: Team, flushes: np.ndarray, level: int, deepest: int
) -> list[LoopNode]:
    """Build the tree without the numbers of passes in other iterations than the typical one."""
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
    """Return the number of the typical iteration, from 0: it has no flush, and lengths near the median on all ranks.

    Args:
        edges: Edges as in `Iterations`.
        flushes: Begins and ends of flushes, ns, shape (n, 2).
    """
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
    """Return a mask of the intervals that overlap one of `others`, shape (n, 2). Intervals are in order of time."""
    first = np.searchsorted(ends, others[:, 0], side="right")
    behind = np.searchsorted(begins, others[:, 1], side="left")
    there = first < behind
    steps = np.zeros(len(begins) + 1, np.int64)
    np.add.at(steps, first[there], 1)
    np.add.at(steps, behind[there], -1)
    return np.cumsum(steps)[:-1] > 0


class _Chain(NamedTuple):
    """Rank by which the passes of loops are counted.

    If the rank is one of this process, `edges` has the begins and the end of the iterations around, in its sequence.
    """

    rank: int
    edges: np.ndarray

    @classmethod
    def from_node(cls, node: LoopNode, team: Team) -> _Chain:
        """Choose the first of the ranks with most inner loops. Collective over the team."""
        own = node.loop.own
        mine = [(-sum(rank in one.loop.own for one in node.walk()), rank) for rank in own]
        _, rank = min(best for part in team.allgather(min(mine, default=None)) if (best := part) is not None)
        return cls(rank, np.append(own[rank].begins, own[rank].end) if rank in own else np.zeros(0, np.int64))


def _counted(sequences: Sequences, outer: LoopNode, chain: _Chain, team: Team) -> LoopNode:
    """Add the passes of each loop inside: fewest and most in an iteration around it, and in the whole run. Collective.

    If they cannot be counted, the passes in the typical iteration are used.
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
    """Find the begins of a loop's passes in all iterations around it. None: they are not found.

    Passes begin with the calls that begin the known passes, or behind the calls that end the known passes. Either
    must give
    the known number of passes in the iteration of the known passes.
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
    """Return the begins of passes from their ends. A pass begins behind the pass before.

    The first pass of an iteration begins `before` calls after the iteration's begin.
    """
    around = edges[np.searchsorted(edges, ends, side="right") - 1]
    after = np.append(-1, ends[:-1]) + 1
    return np.where(after <= around, np.minimum(around + before, ends), after)
