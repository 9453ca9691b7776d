"""The loops that most ranks have: each rank is looked at by itself, then they are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.calls.loops import Loop
from analyzer.structure.calls.ranks import loops_of
from analyzer.structure.calls.sequence import Sequence, sequence_of
from analyzer.structure.iterations import Source
from analyzer.structure.levels.edges import edges_of
from analyzer.structure.levels.words import body_of, typical_pass
from analyzer.trace import Trace

MOST_KEPT = 1 << 21
"""Calls whose sequences are kept in memory; those of further ranks are read again when they are needed."""
NEAR = 0.02
"""Ranks whose counts differ by no more than this share of it, or by one, speak of the same loop."""
MAJORITY = 0.5
"""More than this share of the ranks that make calls must have a loop."""


class Sequences:
    """The sequences of some ranks, read when they are asked for."""

    def __init__(self, trace: Trace, begin_ns: int = 0) -> None:
        """begin_ns: only calls that are entered from then on."""
        self.trace, self._begin = trace, begin_ns
        self._kept: dict[int, Sequence] = {}
        self._calls = 0

    def __getitem__(self, rank: int) -> Sequence:
        if rank in self._kept:
            return self._kept[rank]
        found = sequence_of(self.trace, rank, self._begin)
        if self._calls + len(found) <= MOST_KEPT:
            self._kept[rank] = found
            self._calls += len(found)
        return found


Stretches = Mapping[int, tuple[int, int | None]]
"""Of some ranks of this process the calls that are looked at: the first, and behind the last; None: all."""


@dataclass(frozen=True)
class Agreed:
    """A loop that most ranks have."""

    count: int
    edges: np.ndarray  # int64 (ranks, count + 1) ns; -1: the rank does not have it
    every: tuple[int, ...]
    body: str
    agreement: float  # share of the ranks that make calls
    own: dict[int, Loop]  # of the ranks of this process
    source: Source = Source.CALLS
    share: float = 0.0  # of the calls of a rank

    @property
    def begin_ns(self) -> int:
        return int(self.edges[self.edges[:, 0] >= 0, 0].min())

    @property
    def end_ns(self) -> int:
        return int(self.edges[:, -1].max())


@dataclass(frozen=True)
class _Said:
    """A loop of one rank, as it tells the others."""

    count: int
    begin_ns: int
    end_ns: int


def agreed(sequences: Sequences, stretches: Stretches, team: Team) -> list[Agreed]:
    """The loops that follow one another and that more than half of the ranks have, in order of time. Collective."""
    own: dict[int, list[tuple[Loop, _Said]]] = {}
    for rank, (first, last) in stretches.items():
        calls = sequences[rank]
        if last == first or not len(calls):
            continue
        found = loops_of(calls, first, last)
        own[rank] = [
            (one, _Said(one.count, int(calls.enter[one.begins[0]]), int(calls.exit[one.end - 1]))) for one in found
        ]
    said = {rank: [said for _, said in loops] for rank, loops in own.items()}
    everybody = {rank: loops for part in team.allgather(said) for rank, loops in part.items()}
    chosen = [_agree(sequences, own, everybody, one, team) for one in _voted(everybody)]
    return sorted((one for one in chosen if one is not None), key=lambda one: one.begin_ns)


def _voted(everybody: Mapping[int, list[_Said]]) -> list[_Said]:
    """Loops that more than half of the ranks have, each as one of them says it; they do not overlap."""
    left = {rank: list(loops) for rank, loops in everybody.items()}
    found: list[_Said] = []
    while True:
        every = [one for loops in left.values() for one in loops]
        if not every:
            return found
        longest = max(every, key=lambda one: (one.end_ns - one.begin_ns, -one.begin_ns))
        same = {rank: [one for one in loops if _overlap(one, longest)] for rank, loops in left.items()}
        left = {rank: [one for one in loops if one not in same[rank]] for rank, loops in left.items()}
        votes = Counter(one.count for loops in same.values() for one in loops[:1])
        for count, _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:1]:
            near = sum(number for other, number in votes.items() if abs(other - count) <= max(1, NEAR * count))
            if near > MAJORITY * len(everybody):
                found.append(next(one for loops in same.values() for one in loops if one.count == count))


def _overlap(one: _Said, other: _Said) -> bool:
    shared = min(one.end_ns, other.end_ns) - max(one.begin_ns, other.begin_ns)
    return shared > 0.5 * min(one.end_ns - one.begin_ns, other.end_ns - other.begin_ns)


def _agree(
    sequences: Sequences,
    own: Mapping[int, list[tuple[Loop, _Said]]],
    everybody: Mapping[int, list[_Said]],
    wanted: _Said,
    team: Team,
) -> Agreed | None:
    """All ranks' iterations of a loop; those of a rank that counts otherwise are when most others have theirs."""
    mine: dict[int, Loop] = {}
    times: dict[int, np.ndarray] = {}
    body, every, share = "", tuple[int, ...](), 0.0
    for rank, loops in own.items():
        match = next((one for one, said in loops if said.count == wanted.count and _overlap(said, wanted)), None)
        if match is None:
            continue
        calls = sequences[rank]
        mine[rank], times[rank] = match, edges_of(calls, match)
        if not body:
            body, every = body_of(sequences.trace, calls, *typical_pass(match.begins, match.end)), match.every
            share = float(match.end - match.begins[0]) / len(calls)
    parts = team.allgather((times, body, every, share))
    edges = np.full((sequences.trace.size, wanted.count + 1), -1, np.int64)
    for part, *_ in parts:
        for rank, row in part.items():
            edges[rank] = row
    known = edges[:, 0] >= 0
    if not known.any():
        return None
    usual = np.median(edges[known], axis=0).astype(np.int64)
    for rank in everybody:
        if edges[rank, 0] < 0:
            edges[rank] = usual
    body, every, share = next(said for _, *said in parts if said[0])
    return Agreed(wanted.count, edges, every, body, float(known.sum() / len(everybody)), mine, share=share)
