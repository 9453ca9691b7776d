"""Test whether the passes of a loop are what the program repeats, or rather parts or multiples of that.

Calls alone do not show it: a step may have stages without calls, two branches may make one exchange in turn, and a
compiler may take the first pass out of a loop. The computation between the calls shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analyzer.structure.calls.loops import FEWEST, STEP_WORK, SequenceLoop
from analyzer.structure.calls.sequence import Sequence, SymbolDetail
from analyzer.structure.period import period_of

MOST_TURNS = 64
"""Largest number of alternatives (partners, roots, branches) that take turns."""
AS_LONG = 0.5
"""Alternatives that take turns must each compute at least this share of the longest alternative's computation."""
MOST_GROUPED = 64
"""Largest number of passes that one group may have."""
LONGER, MUCH_LONGER = 1.5, 4.0
"""A group begins with a pass that computes this many times as long as any other one. With the second factor, few groups
are enough."""
CHANCE = 1e-4
"""Largest probability that random lengths would have the longest pass of all groups at the same place."""
MUCH_MORE, SOME_CHANCE = 2.5, 2e-3
"""Limits of MUCH and CHANCE for the computation before the first call of a pass."""
FEW_STAGES = 4
"""Up to this many passes are stages of a step whatever they compute. The long pass of a larger group must outweigh the
others, or it is a step that is made now and then."""
REPEATS = 0.7
"""Smallest correlation of the computation of passes with the computation one group later."""


def with_peeled_pass(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Add the first pass of a loop if the compiler took it out of the loop: it then has call paths of its own.

    The pass stands directly before the loop, makes the same calls in the same order, and the clock is not read between
    it and the loop.
    """
    first, second = loop.stretch(0)
    length = second - first
    made, clocks = calls.call[part], calls.clocks[part]
    if first < length or not np.array_equal(made[first - length : first], made[first:second]):
        return loop
    if clocks[first] != clocks[first - 1] or (made[first - length : first] == made[first]).all():
        return loop
    if np.array_equal(made[first - 2 * length : first - length], made[first:second]):
        return loop  # another loop stands before this one
    return replace(loop, begins=np.append(first - length, loop.begins))


def around_if_lengths_change(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Return the loop around, if partners or lengths of messages change only where a pass of it begins.

    An example is a benchmark that tries one length after the other. Otherwise return the given loop.
    """
    ends = np.append(loop.begins[1:], loop.end)
    symbols = calls.symbols[SymbolDetail.SIZE][part]
    compared = int((ends - loop.begins).min())
    made = symbols[loop.begins[:, None] + np.arange(compared)]
    changes = 1 + np.flatnonzero((made[1:] != made[:-1]).any(axis=1))
    for around in loop.around:
        begin = np.searchsorted(loop.begins, around.begins[1:])
        near = np.abs(changes[:, None] - begin).min(axis=1, initial=loop.count) <= 1
        if FEWEST - 1 <= len(changes) <= 2 * len(begin) and near.all() and 2 * len(changes) >= len(begin):
            return around
    return loop


def split_by_turns(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Split passes in which partners, roots or branches take turns, so that each alternative is one pass.

    Alternatives make the same procedures in the same order and compute about as long before them. Where call paths are
    known, at least one of their calls stands at the same place of the program. Where they are not known, the
    alternatives share a call, or their partner alone tells them apart.
    """
    lengths = np.diff(np.append(loop.begins, loop.end))
    length = int(lengths[0])
    if (lengths != length).any():
        return loop
    made, knows_paths = calls.call[part], bool(calls.path[part].any())
    symbols = calls.symbols[SymbolDetail.PROCEDURE if knows_paths else SymbolDetail.PEER][part]
    first = loop.stretch(0)[0]
    for turns in _divisors(length):
        procedures = made[first : first + length].reshape(turns, -1)
        places = symbols[first : first + length].reshape(turns, -1)
        same = (places == places[0]).all(axis=0)
        is_alike = (procedures == procedures[0]).all() and all(map(_has_no_loop, places))
        if not is_alike or (knows_paths and not same.any()) or (same.all() and not knows_paths):
            continue
        if _compute_alike(calls.burst[part], loop, turns):
            return _split(made, loop, turns)
    return loop


def _divisors(length: int) -> Iterator[int]:
    """Yield the numbers of alternatives that a pass of this many calls may have, the largest first."""
    return (turns for turns in range(min(length, MOST_TURNS), 1, -1) if length % turns == 0)


def _has_no_loop(symbols: np.ndarray) -> bool:
    """Check whether no call comes again after another one."""
    return len(np.unique(symbols)) == np.count_nonzero(np.diff(symbols)) + 1


def _compute_alike(burst: np.ndarray, loop: SequenceLoop, turns: int) -> bool:
    """Check whether all alternatives compute about equally long, and before the same call."""
    length = (loop.end - int(loop.begins[0])) // loop.count
    usual = np.median(burst[loop.begins[:, None] + np.arange(length)][1:], axis=0).reshape(turns, -1)
    total = usual.sum(axis=1)
    return bool(total.min() >= AS_LONG * total.max() and len(np.unique(usual.argmax(axis=1))) == 1)


def _split(made: np.ndarray, loop: SequenceLoop, turns: int) -> SequenceLoop:
    """Return the loop with that many passes in each of its passes, and with those that stand before and behind it."""
    begin, end = int(loop.begins[0]), loop.end
    length = (end - begin) // (loop.count * turns)
    body = made[begin : begin + length]
    while begin >= length and np.array_equal(made[begin - length : begin], body):
        begin -= length
    while np.array_equal(made[end : end + length], body):
        end += length
    return replace(loop, begins=np.arange(begin, end, length), end=end, every=(), around=())


def grouped_by_computing(loop: SequenceLoop, burst: np.ndarray, *, is_one_call: bool = False) -> SequenceLoop:
    """Group passes with equal calls by their computation, for example the stages of a step.

    Args:
        loop: The loop. It is returned if there are no groups.
        burst: Computation before each call, ns.
        is_one_call: Whether the loop makes one call a pass without a known path, so that any repetition makes
            groups.
    """
    computed = np.add.reduceat(burst, loop.begins).astype(np.float64)
    size = _group_size(computed, is_one_call=is_one_call)
    return loop if size is None else _grouped(loop, computed, size)


def grouped_by_begin(loop: SequenceLoop, burst: np.ndarray) -> SequenceLoop:
    """Group passes of several calls by the computation before their first or second call.

    A loop around may prepare the loop inside there.

    Args:
        loop: The loop. It is returned if there are no groups.
        burst: Computation before each call, ns.
    """
    if np.diff(loop.begins, append=loop.end).min() < 2:
        return loop
    for call in (0, 1):
        computed = burst[loop.begins + call].astype(np.float64)
        for size in range(2, min(FEW_STAGES, len(computed) // FEWEST) + 1):
            if _long_pass(computed, size) >= MUCH_MORE and _chance(computed, size) < SOME_CHANCE:
                return _grouped(loop, computed, size)
    return loop


def _grouped(loop: SequenceLoop, computed: np.ndarray, size: int) -> SequenceLoop:
    """Return the loop with that many passes in each of its passes. computed: in each pass, ns; a group begins with
    most."""
    left = loop.count % size
    first = int(np.argmax(_usual(computed, size))) if left else 0
    first = first if first <= left else 0
    begins = loop.begins[first : first + (loop.count - first) // size * size : size]
    behind = first + len(begins) * size
    end = int(loop.begins[behind]) if behind < loop.count else loop.end
    stages = tuple(_usual(computed, size).round().astype(np.int64).tolist())
    return SequenceLoop(begins, end, loop.regularity, stages=stages, parts=loop)


def _usual(computed: np.ndarray, size: int) -> np.ndarray:
    return np.median(computed[: len(computed) // size * size].reshape(-1, size), axis=0)


def _group_size(computed: np.ndarray, *, is_one_call: bool) -> int | None:
    """Find the number of passes that make a group. None: passes make no groups."""
    for size in range(2, min(MOST_GROUPED, len(computed) // FEWEST) + 1):
        if _has_long_pass(computed, size) and _outweighs(computed, size, is_one_call=is_one_call):
            return size
    repeats = period_of(np.log1p(computed))
    if repeats is None or repeats.correlation < REPEATS:
        return None
    size = round(repeats.samples)
    if size < 2 or len(computed) < FEWEST * size:
        return None
    usual = _usual(computed, size)
    is_clear = is_one_call or usual.max() >= LONGER * usual.min()
    return size if is_clear and _outweighs(computed, size, is_one_call=is_one_call) else None


def _has_long_pass(computed: np.ndarray, size: int) -> bool:
    """Check whether one pass of each group of this size computes clearly longer than all others of the group."""
    ratio = _long_pass(computed, size)
    return ratio >= MUCH_LONGER or (ratio >= LONGER and _chance(computed, size) < CHANCE)


def _long_pass(computed: np.ndarray, size: int) -> float:
    """Compute the ratio of the longest pass of each group to all others of its group, by computation."""
    groups = computed[: len(computed) // size * size].reshape(-1, size)
    which = int(np.argmax(np.median(groups, axis=0)))
    others = np.delete(groups, which, axis=1)
    return float(np.quantile(groups[:, which], 0.25) / max(float(np.quantile(others, 0.75, axis=0).max()), 1.0))


def _chance(computed: np.ndarray, size: int) -> float:
    """Return the probability that the longest pass of each group is at one place if lengths are random."""
    return float(size * (1 / size) ** (len(computed) // size))


def _outweighs(computed: np.ndarray, size: int, *, is_one_call: bool) -> bool:
    usual = np.sort(_usual(computed, size))
    more = usual[-1] - np.median(usual[:-1])
    return is_one_call or size <= FEW_STAGES or bool(more >= STEP_WORK * usual[:-1].sum())
