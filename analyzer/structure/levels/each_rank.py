"""Loops of each rank. Of many ranks with equal calls some are examined; the others get the majority's loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Several
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.calls.loops import SequenceLoop
from analyzer.structure.calls.rank_loops import by_occurrence, loops_of
from analyzer.structure.calls.sequence import Sequence

LIKELIER = 2.0
"""Computation after the last call belongs to the last iteration if its length fits this many times better.

It is compared with the computation before the first call."""
AS_LONG = 2.0
"""Computation before the first call belongs to the first iteration as a whole up to this ratio to the usual length."""


def edges_of(calls: Sequence, loop: SequenceLoop) -> np.ndarray:
    """Return the begin of each iteration, and the end of the last one, ns, int64 of shape (count + 1,).

    Computation between two iterations belongs to the later one, as in loops that compute and then communicate. It
    belongs to
    the earlier one if the computation around the loop shows that the loop communicates first. If the computation
    before the
    loop is longer than inside, only the usual length belongs to the loop.
    """
    first, end = loop.begins, loop.end
    gaps = calls.enter[first] - calls.left[first]
    usual = float(np.median(gaps[1:]))
    left = int(calls.exit[end - 1])
    after = int(calls.enter[end] if end < len(calls) else calls.end_ns) - left
    if _off(float(gaps[0]), usual) > LIKELIER * _off(float(after), usual):
        return np.append(calls.enter[first], left + min(after, round(AS_LONG * usual)))
    edges = calls.left[first].copy()
    if gaps[0] > AS_LONG * usual:
        edges[0] = calls.enter[first[0]] - round(usual)
    return np.append(edges, left)


def _off(length: float, usual: float) -> float:
    """Return the ratio of two lengths, 1 or more. Lengths far below a microsecond count as equal."""
    one, other = max(length, 0.0) + 1000, max(usual, 0.0) + 1000  # damaged calls may overlap
    return max(one / other, other / one)


MOST_LOOKED_AT = 512
"""Largest number of ranks that are examined one by one, spread evenly over all ranks."""


@dataclass(frozen=True)
class RankStretch:
    """Stretch of a rank's calls in which loops are searched.

    Attributes:
        rank: The rank.
        calls: Sequence of the rank, or a part of it.
        offset: Index in the whole sequence of the first of `calls`.
        first: Index in `calls` of the first call of the stretch.
        last: Index in `calls` behind the last call of the stretch.
    """

    rank: int
    calls: Sequence  # of the rank, or a part of its sequence
    offset: int  # in the whole sequence, of the first of `calls`
    first: int  # of `calls`, and behind the last one
    last: int


@dataclass(frozen=True)
class RankStretches:
    """Stretches of some ranks. Each is read only when it is needed.

    Attributes:
        ranks: The ranks.
        read: Function that reads the stretch of a rank.
    """

    ranks: Several[int]
    read: Callable[[int], RankStretch]


def loops_of_each(stretches: RankStretches, size: int, team: Team) -> Iterator[tuple[RankStretch, list[SequenceLoop]]]:
    """Yield the loops of the ranks of this process. Collective; the caller must read it to its end.

    Args:
        stretches: Stretches of the ranks of this process.
        size: Number of ranks of the run. The examined ranks depend on it, but not on the team.
        team: Processes that share the work.

    Yields:
        The stretch of a rank, and its loops as indices into `calls` of the stretch.
    """
    step = -(-size // MOST_LOOKED_AT)
    votes = _Votes()
    for rank in stretches.ranks:
        one = stretches.read(rank) if rank % step == 0 else None
        if one is not None and one.first < one.last:
            loops = loops_of(one.calls, one.first, one.last)
            if step > 1:
                votes.add(_calls_made(one), rank, _shifted(loops, -one.first))
            yield one, loops
    if step == 1:
        return
    usual = votes.usual(team)
    for rank in stretches.ranks:
        one = stretches.read(rank) if rank % step else None
        if one is not None and one.first < one.last:
            known = usual.get(_calls_made(one))
            yield one, loops_of(one.calls, one.first, one.last) if known is None else _shifted(known, one.first)


def _shifted(loops: list[SequenceLoop], by: int) -> list[SequenceLoop]:
    return [loop.shifted(by) for loop in loops]


def _calls_made(of: RankStretch) -> bytes:
    """Return a key that is equal for stretches with the same calls in the same order."""
    part = slice(of.first, of.last)
    made = blake2b(digest_size=16)
    for symbols in of.calls.symbols:
        made.update(by_occurrence(symbols[part]).tobytes())
    made.update(bytes([bool(of.calls.path[part].any())]))
    return made.digest()


@dataclass
class _Said:
    """Loops that some ranks have in common."""

    loops: list[SequenceLoop]
    first: int  # the first of these ranks
    ranks: int = 0  # how many


class _Votes:
    """Numbers of ranks by their loops, for ranks that make the same calls. Where a loop begins may depend on times."""

    def __init__(self) -> None:
        self._said: dict[bytes, dict[tuple, _Said]] = {}  # by calls, and by loops

    def add(self, calls: bytes, rank: int, loops: list[SequenceLoop]) -> None:
        """Add the loops of a rank, in order of ranks."""
        said = self._said.setdefault(calls, {}).setdefault(_places(loops), _Said(loops, rank))
        said.ranks += 1

    def usual(self, team: Team) -> dict[bytes, list[SequenceLoop]]:
        """Return, for each key of calls, the commonest loops over all members of a team.

        Of equals, the first rank's count.
        """
        every: dict[bytes, dict[tuple, _Said]] = {}
        for part in team.allgather(self._said):
            for calls, of_calls in part.items():
                for places, said in of_calls.items():
                    known = every.setdefault(calls, {}).setdefault(places, _Said(said.loops, said.first))
                    known.ranks += said.ranks
        return {
            calls: min(of.values(), key=lambda said: (-said.ranks, said.first)).loops for calls, of in every.items()
        }


def _places(loops: list[SequenceLoop]) -> tuple:
    """Return a key that is equal for equal loops."""
    return tuple((loop.begins.tobytes(), loop.end, loop.every, _places(list(loop.around))) for loop in loops)
