"""Candidates for loops: calls that may be made once in each pass, because they strictly take turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer._kernels import lib
from analyzer.c_arrays import pointer

CONTEXTS = (1, 2, 4, 8, 16)
"""Numbers of calls in a row that make a slot: one symbol may be made at several places of a loop, some in a row at
one."""
FEWEST = 3
"""Smallest number of passes of a loop."""
MOST_SLOTS, MOST_COUNTS, MOST_CLASSES = 256, 48, 6
"""Slots of one count, counts, and classes of one count that are looked at: those that occur first, cover most."""


@dataclass(frozen=True)
class LoopCandidate:
    """Slots that take turns: between two occurrences of one slot, each other slot occurs once.

    A slot is a group of successive calls.

    Attributes:
        at: Index of each occurrence of the first slot in the sequence, int64 of shape (count,).
        slots: Number of slots that take turns.
        context: Number of successive calls of a slot.
    """

    at: np.ndarray  # int64 (count,): where the first of them occurs in the sequence
    slots: int  # how many take turns
    context: int  # calls in a row that make a slot

    @property
    def count(self) -> int:
        """Number of occurrences of each slot."""
        return len(self.at)


def candidates(symbols: np.ndarray) -> list[LoopCandidate]:
    """List all candidates, in time linear in the number of calls.

    For each number of occurrences and each place, only the candidate of the shortest context with most slots is listed.

    Args:
        symbols: Symbol of each call, numbered from 0, shape (calls,).
    """
    best: dict[tuple[int, int], LoopCandidate] = {}
    for context in CONTEXTS:
        if context * FEWEST > len(symbols):
            break
        for found in _classes(in_context(symbols, context), context):
            key = found.count, int(found.at[len(found.at) // 2] * 64 // max(len(symbols), 1))
            if key not in best or (found.context, -found.slots) < (best[key].context, -best[key].slots):
                best[key] = found
    return list(best.values())


def longest_first(found: list[LoopCandidate], time: np.ndarray) -> list[LoopCandidate]:
    """Sort candidates by the time that they cover, the longest first.

    Args:
        found: The candidates.
        time: Time of each call, ns, ascending, shape (calls,).
    """
    return sorted(found, key=lambda one: -(int(time[one.at[-1]]) - int(time[one.at[0]])))


def in_context(symbols: np.ndarray, context: int) -> np.ndarray:
    """Number the groups of successive symbols that end at each call, from 0; int32 of shape (calls,).

    Args:
        symbols: Symbol of each call.
        context: Number of symbols of a group, a power of 2.
    """
    symbols, found = np.ascontiguousarray(symbols, np.int32), np.empty(len(symbols), np.int32)
    written = pointer(symbols, "int32_t *"), len(symbols), context, pointer(found, "int32_t *")
    if lib.numbers_in_context(*written) < 0:
        raise MemoryError
    return found


def _places(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group places by id: int32 places, with equal ids together, and the begin of each id's places, with the end."""
    kinds = int(ids.max(initial=-1)) + 1
    begin, places = np.empty(kinds + 1, np.int32), np.empty(len(ids), np.int32)
    written = pointer(begin, "int32_t *"), pointer(places, "int32_t *")
    lib.places_of_numbers(pointer(ids, "int32_t *"), len(ids), kinds, *written)
    return places, begin


def _classes(ids: np.ndarray, context: int) -> Iterator[LoopCandidate]:
    """Yield classes of slots of one context."""
    places, begin = _places(ids)
    count = np.diff(begin)
    often = np.flatnonzero(count >= FEWEST)
    by_count = often[np.argsort(count[often], kind="stable")]
    cuts = np.flatnonzero(np.diff(count[by_count], prepend=-1))
    groups = [part for part in np.split(by_count, cuts[1:]) if len(part)]
    groups.sort(key=lambda part: -int(count[part[0]]) * len(part))
    for group in groups[:MOST_COUNTS]:
        number = int(count[group[0]])
        first = begin[group[np.argsort(places[begin[group]], kind="stable")]][:MOST_SLOTS]
        yield from _turns(np.stack([places[one : one + number] for one in first.tolist()]), context)


def _turns(places: np.ndarray, context: int) -> Iterator[LoopCandidate]:
    """Yield classes of slots that all occur equally often; `places` (slots, count), by first occurrence."""
    for _ in range(MOST_CLASSES):
        if not len(places):
            return
        first = places[0]
        inside = (places >= first).all(axis=1) & (places[:, :-1] < first[1:]).all(axis=1)
        yield LoopCandidate(first.astype(np.int64), int(inside.sum()), context)
        places = places[~inside]
