"""Test whether a loop is inside another one, or makes its calls now and then itself, by the places of these calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.structure.calls.passes import LoopPasses

FEW = 4
"""Distance in passes up to which calls between passes are of a loop around: of stages, directions, substeps. Steps that
are made now and then are more seldom."""


def is_nested(outer: LoopPasses, inner: LoopPasses, symbols: np.ndarray) -> bool | None:
    """Check whether `outer` is a loop around `inner`. None: the places of its calls do not tell.

    It is if some of its calls come before the first pass of `inner`, the others behind the last pass, and all of them
    in between. It is not if passes of `inner` come before the first of these calls and others behind the last; nor if
    the calls come at a fixed number of passes, but the first or the last passes are fewer: loops inside are passed
    equally often to the end.
    """
    if outer.count < 3:
        return None
    made = np.searchsorted(inner.at, outer.at)  # passes of `inner` that have begun before each
    own = _own_calls(outer, inner, symbols, made)
    if own is not None and own.is_around:
        return True
    between = np.diff(made)
    each = int(np.median(between))
    lead, tail = int(made[0]), inner.count - int(made[-1])
    if inner.count > FEW * outer.count and _is_amid(outer, inner, symbols, made):
        return False
    if each < 2 or lead > each or tail > each or (between[1:] != each).any():
        return None
    if between[0] != each:  # a step that is also made in the first pass
        return False if lead == 1 and between[0] == each - 1 else None
    if lead % each or tail % each:
        return False
    if own is not None and own.is_between and each <= FEW and lead + tail == each:
        return True
    return None


def begins_with(outer: LoopPasses, inner: LoopPasses, symbols: np.ndarray, more: np.ndarray) -> bool:
    """Check whether the calls that passes of `outer` add begin the passes of a loop around.

    They do if they come before the first pass of `inner` and at a fixed number of passes, but not behind the last one.

    more: number of calls of each symbol that such a pass of `inner` makes beside the usual ones.
    """
    between = np.diff(np.searchsorted(inner.at, outer.at, side="right"))
    if not len(between) or between[0] < 2 or (between != between[0]).any() or inner.count % between[0]:
        return False
    added = int(more.sum())
    first, last = int(inner.at[0]), int(inner.at[-1])
    if not 0 < added <= first:
        return False
    ahead = np.bincount(symbols[first - added : first], minlength=len(more))
    behind = np.bincount(symbols[last : last + inner.length + added], minlength=len(more))
    return bool((ahead == more).all() and (behind < inner.typical + more)[more > 0].any())


def _is_amid(outer: LoopPasses, inner: LoopPasses, symbols: np.ndarray, made: np.ndarray) -> bool:
    """Check whether the calls that a special pass of `inner` has in place of usual ones lie between its first and last
    pass.

    In a loop around they come before the first pass of one inside, or behind the last.
    """
    number = int(made[outer.count // 2]) - 1
    if not 0 <= number < inner.count - 1:
        return False
    there = symbols[inner.at[number] : inner.at[number + 1]]
    lacking = (inner.typical > 0) & ~inner.varying
    lacking[there] = False
    if not lacking.any():  # it only does more
        return False
    own = np.unique(there[inner.typical[there] == 0])
    amid = np.isin(own, symbols[: inner.at[0]], invert=True) & np.isin(own, symbols[inner.at[-1] :], invert=True)
    return bool(len(own) and amid.mean() > 0.5)


@dataclass(frozen=True)
class _Own:
    """Calls that passes of an inner loop make now and then, beside the usual ones."""

    is_between: bool  # they come between two passes, not in the middle of one
    is_around: bool  # some come before the first pass, the others behind the last one


def _own_calls(outer: LoopPasses, inner: LoopPasses, symbols: np.ndarray, made: np.ndarray) -> _Own | None:
    """Find the calls beside the usual ones in the pass of `inner` in the middle of the run in which `outer` is passed.

    None: other passes have such calls, too, or they are at several places.
    """
    number = int(made[outer.count // 2]) - 1
    if not 1 <= number < inner.count - 1 or number - 1 in made - 1:
        return None
    before, begin, end = inner.at[number - 1 : number + 2].tolist()
    usual, own = np.zeros((2, len(inner.typical)), bool)
    usual[symbols[before:begin]] = True
    foreign = begin + np.flatnonzero(~usual[symbols[begin:end]])
    if not len(foreign) or foreign[-1] - foreign[0] >= len(foreign):
        return None
    block = symbols[foreign]
    own[block] = True
    there = np.searchsorted(inner.at, np.flatnonzero(own[symbols]), side="right")
    if len(np.unique(there)) > outer.count + 1:
        return None
    first, last = _extent(usual | own, symbols, inner, len(block))
    loop = symbols[first : last + 1]
    ahead, behind = _run(own, loop), _run(own, loop[::-1])
    is_between = bool(foreign[-1] + 1 <= last and symbols[foreign[-1] + 1] == loop[ahead])
    both = np.concatenate([loop[len(loop) - behind :], loop[:ahead]])
    return _Own(is_between, is_between and 0 < ahead < len(block) and np.array_equal(both, block))


def _extent(known: np.ndarray, symbols: np.ndarray, inner: LoopPasses, more: int) -> tuple[int, int]:
    """Find the first and the last call of a loop: around its known occurrences, up to a pass and `more` calls."""
    most = inner.length + more
    return _reach(known, symbols, int(inner.at[0]), most, -1), _reach(known, symbols, int(inner.at[-1]), most, 1)


def _reach(known: np.ndarray, symbols: np.ndarray, at: int, most: int, step: int) -> int:
    """Return the last call from `at` on, forwards (1) or backwards (-1), up to which there are only calls that are
    known."""
    there = symbols[at : at + most + 1] if step > 0 else symbols[max(at - most, 0) : at + 1][::-1]
    others = np.flatnonzero(~known[there])
    return at + step * ((int(others[0]) if len(others) else len(there)) - 1)


def _run(own: np.ndarray, calls: np.ndarray) -> int:
    """Count the first calls that are own ones."""
    others = np.flatnonzero(~own[calls])
    return int(others[0]) if len(others) else len(calls)
