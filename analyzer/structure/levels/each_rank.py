"""The loops of each rank. Of many ranks that make the same calls some are looked at; the others have what most of these
have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Several
from dataclasses import dataclass
from hashlib import blake2b

from analyzer.parallel import Team
from analyzer.structure.calls.loops import Loop
from analyzer.structure.calls.ranks import by_occurrence, loops_of
from analyzer.structure.calls.sequence import Sequence

MOST_LOOKED_AT = 512
"""So many ranks of a run, spread over all of them, are looked at one by one."""


@dataclass(frozen=True)
class Stretch:
    """Calls of a rank that are looked at."""

    rank: int
    calls: Sequence  # of the rank, or a part of its sequence
    offset: int  # in the whole sequence, of the first of `calls`
    first: int  # of `calls`, and behind the last one
    last: int


@dataclass(frozen=True)
class Stretches:
    """Those of some ranks, each read when it is asked for."""

    ranks: Several[int]
    of: Callable[[int], Stretch]


def loops_of_each(stretches: Stretches, size: int, team: Team) -> Iterator[tuple[Stretch, list[Loop]]]:
    """The loops of the ranks of this process, as places in the calls of their stretches. size: ranks of the run; which
    ones are looked at does not depend on the team. Collective, and to be read to its end."""
    step = -(-size // MOST_LOOKED_AT)
    votes = _Votes()
    for rank in stretches.ranks:
        one = stretches.of(rank) if rank % step == 0 else None
        if one is not None and one.first < one.last:
            loops = loops_of(one.calls, one.first, one.last)
            if step > 1:
                votes.add(_calls_made(one), rank, _shifted(loops, -one.first))
            yield one, loops
    if step == 1:
        return
    usual = votes.usual(team)
    for rank in stretches.ranks:
        one = stretches.of(rank) if rank % step else None
        if one is not None and one.first < one.last:
            known = usual.get(_calls_made(one))
            yield one, loops_of(one.calls, one.first, one.last) if known is None else _shifted(known, one.first)


def _shifted(loops: list[Loop], by: int) -> list[Loop]:
    return [loop.shifted(by) for loop in loops]


def _calls_made(of: Stretch) -> bytes:
    """The same for ranks that make the same calls in the same order."""
    part = slice(of.first, of.last)
    made = blake2b(digest_size=16)
    for symbols in of.calls.symbols:
        made.update(by_occurrence(symbols[part]).tobytes())
    made.update(bytes([bool(of.calls.path[part].any())]))
    return made.digest()


@dataclass
class _Said:
    """Loops that some ranks have."""

    loops: list[Loop]
    first: int  # the first of these ranks
    ranks: int = 0  # how many


class _Votes:
    """What ranks that make the same calls have: where a loop begins may depend on times."""

    def __init__(self) -> None:
        self._said: dict[bytes, dict[tuple, _Said]] = {}  # by calls, and by loops

    def add(self, calls: bytes, rank: int, loops: list[Loop]) -> None:
        """A rank has these. In order of ranks."""
        said = self._said.setdefault(calls, {}).setdefault(_places(loops), _Said(loops, rank))
        said.ranks += 1

    def usual(self, team: Team) -> dict[bytes, list[Loop]]:
        """What most have, of all members of a team; of equally many those of the first rank."""
        every: dict[bytes, dict[tuple, _Said]] = {}
        for part in team.allgather(self._said):
            for calls, of_calls in part.items():
                for places, said in of_calls.items():
                    known = every.setdefault(calls, {}).setdefault(places, _Said(said.loops, said.first))
                    known.ranks += said.ranks
        return {
            calls: min(of.values(), key=lambda said: (-said.ranks, said.first)).loops for calls, of in every.items()
        }


def _places(loops: list[Loop]) -> tuple:
    """The same for loops that are the same."""
    return tuple((loop.begins.tobytes(), loop.end, loop.every, _places(list(loop.around))) for loop in loops)
