"""The outermost loop of one rank: of several ways to look at its calls the one in which passes are most alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analyzer.structure.calls.candidates import FEWEST
from analyzer.structure.calls.loops import PARTIAL, SequenceLoop, outermost
from analyzer.structure.calls.multiples import (
    around_if_lengths_change,
    grouped_by_begin,
    grouped_by_computing,
    split_by_turns,
    with_peeled_pass,
)
from analyzer.structure.calls.passes import MOST_PASSES, SAME_KINDS, counts_of
from analyzer.structure.calls.sequence import Sequence, SymbolDetail
from analyzer.structure.calls.state_loops import (
    are_alike,
    around_by_steps,
    around_rows,
    between_steps,
    with_first,
    with_usual_ends,
)

WITH_PATHS = (SymbolDetail.PEER, SymbolDetail.PROCEDURE, SymbolDetail.SIZE)
WITHOUT_PATHS = (SymbolDetail.SIZE, SymbolDetail.PEER, SymbolDetail.PROCEDURE)
"""In this order. The length of a message tells places of a program apart only if nothing better does."""
CLEAR = 0.9
"""Passes that have this share of their calls in common are as alike as they need be: no coarser look is taken."""
MUCH_MORE = 1.5
"""Ratio of covered time from which a loop is the outer one, however alike its passes are."""
LEAST_SHARE = 0.04
"""A loop that takes a smaller share of the time is not one that the run is made of."""
MOST_TURNS, AS_LONG = 4, 0.5
"""Passes that differ only by partners take turns with at most MOST_TURNS others, and each computes at least the share
AS_LONG of the longest."""
POOR = 0.5
"""Share of common calls below which messages depend on data."""
FEWEST_ALIKE = 8
"""Least number of passes, all alike, of a loop of which collectives alone are compared."""
RUNS = 0.55
"""Least share of common calls of passes where calls that are made again at once count as one."""


def loop_of(calls: Sequence, first: int = 0, last: int | None = None) -> SequenceLoop | None:
    """Return the outermost loop of a rank's calls from `first` to before `last`; None: nothing repeats."""
    part = slice(first, len(calls) if last is None else last)
    enter, knows_paths = calls.enter[part], bool(calls.path[part].any())
    found: SequenceLoop | None = None
    for detail, one in _seen(calls, part):
        may_be_whole = knows_paths or detail is SymbolDetail.PEER
        if one is not None and (found is None or _is_better(one, found, enter, may_be_whole=may_be_whole)):
            found = one
        if found is not None and found.regularity >= CLEAR and _covers(found, enter):
            break
    if found is None or found.regularity < CLEAR:
        found = _of_collectives(calls, part, found)
    if found is not None and not calls.is_named:
        found = around_rows(calls, part, around_by_steps(calls, part, with_first(calls, part, found)))
        found = with_usual_ends(calls, part, between_steps(calls, part, found))
    if found is None:
        return None
    if knows_paths:
        found = with_peeled_pass(calls, part, _whoever_it_is(calls, part, found))
    if calls.is_named:
        found = around_if_lengths_change(calls, part, found)
    is_one_call = not knows_paths and found.end - int(found.begins[0]) == found.count
    found = grouped_by_computing(split_by_turns(calls, part, found), calls.burst[part], is_one_call=is_one_call)
    if not calls.is_named:
        return _of_steps(calls, part, found)
    return found.shifted(part.start)


def _of_steps(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop | None:
    """Return a loop of steps whose kinds alone are known, or one around it, whichever has alike passes first."""
    for one in (loop, *loop.around):
        grouped = grouped_by_begin(one, calls.burst[part]) if one.parts is None else one
        if grouped is not one or are_alike(calls, part, one):
            return grouped.shifted(part.start)
    return None


def _seen(calls: Sequence, part: slice) -> Iterator[tuple[SymbolDetail, SequenceLoop | None]]:
    """Yield the loop of a part of the calls in each detail: of all calls, then with those that are made again at once
    as one."""
    enter, burst, clocks = calls.enter[part], calls.burst[part], calls.clocks[part]
    length = int(enter[-1] - enter[0]) if len(enter) else 0
    knows_paths, output = bool(calls.path[part].any()), calls.output[part]
    for detail in (WITH_PATHS if knows_paths else WITHOUT_PATHS) if len(enter) else ():
        symbols = by_occurrence(calls.symbols[detail][part])
        each = _of_all(calls, part, symbols, knows_paths=knows_paths)
        yield detail, each
        begins = np.flatnonzero(np.diff(symbols, prepend=-1))
        if len(begins) == len(symbols):
            continue
        summed = np.add.reduceat(burst, begins)
        runs = outermost(
            symbols[begins], enter[begins], summed, clocks[begins], length, knows_paths=knows_paths,
            output=output[begins],
        )  # fmt: skip
        if runs is not None:
            runs = runs.moved(np.append(begins, len(symbols)))
            yield detail, runs if knows_paths or _shared(symbols, runs) >= RUNS else None


def _of_all(calls: Sequence, part: slice, symbols: np.ndarray, *, knows_paths: bool) -> SequenceLoop | None:
    """Return the outermost loop of a part of the calls, all of them, which is not empty."""
    enter = calls.enter[part]
    return outermost(
        symbols, enter, calls.burst[part], calls.clocks[part], int(enter[-1] - enter[0]), knows_paths=knows_paths,
        output=calls.output[part],
    )  # fmt: skip


def _of_collectives(calls: Sequence, part: slice, other: SequenceLoop | None) -> SequenceLoop | None:
    """Return the outermost loop of the collectives alone, where that of all calls is none, poor, or misses a few
    passes."""
    enter, places = calls.enter[part], np.flatnonzero(calls.together[part])
    if len(places) < FEWEST:
        return other
    knows_paths, bounds = bool(calls.path[part].any()), np.append(places, len(enter))
    found = outermost(
        by_occurrence(calls.symbols[SymbolDetail.PROCEDURE][part][places]), enter[places],
        np.add.reduceat(calls.burst[part], places), calls.clocks[part][places], int(enter[-1] - enter[0]),
        knows_paths=knows_paths, output=calls.output[part][places],
    )  # fmt: skip
    if found is None:
        return other
    if found.count < FEWEST_ALIKE or found.regularity < 1 or len(np.unique(np.diff(found.begins))) > 1:
        return other
    found = found.moved(bounds)
    if not _have_kinds_in_common(by_occurrence(calls.symbols[SymbolDetail.PROCEDURE][part]), found):
        return other
    if other is None:
        return found
    is_longer = _time(other, enter) > MUCH_MORE * _time(found, enter)
    is_another = other.regularity >= POOR and not other.count < found.count <= PARTIAL * other.count
    return other if is_longer or is_another else found


def _have_kinds_in_common(symbols: np.ndarray, loop: SequenceLoop) -> bool:
    """Check whether passes make the same kinds of calls, be it more or less often."""
    some = np.unique(np.linspace(0, loop.count - 1, MOST_PASSES).astype(np.int64))
    begin, end = np.array([loop.stretch(number) for number in some.tolist()]).T
    made = counts_of(symbols, begin, end, int(symbols.max()) + 1) > 0
    usual = made.mean(axis=0) > 0.5
    return bool((made & usual).sum() >= SAME_KINDS * (made | usual).sum())


def _whoever_it_is(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Return the loop by places of the program alone, if its passes are shorter by a few times because partners take
    turns: the neighbours on the left and on the right, say. What is computed before them tells directions of one
    pass."""
    symbols, with_partners = (
        by_occurrence(calls.symbols[one][part]) for one in (SymbolDetail.PROCEDURE, SymbolDetail.PEER)
    )
    if np.array_equal(symbols, with_partners):
        return loop
    enter, burst = calls.enter[part], calls.burst[part]
    each = _of_all(calls, part, symbols, knows_paths=True)
    if each is None or each.regularity < loop.regularity * CLEAR or _time(each, enter) < CLEAR * _time(loop, enter):
        return loop
    times = round(each.count / loop.count)
    if not 2 <= times <= MOST_TURNS or abs(each.count - times * loop.count) > times:
        return loop
    computed = np.add.reduceat(burst, each.begins)[: each.count // times * times].reshape(-1, times)
    usual = np.median(computed, axis=0)
    return each if usual.min() >= AS_LONG * usual.max() else loop


def by_occurrence(numbers: np.ndarray) -> np.ndarray:
    """Renumber numbers from 0 in the order in which they first occur, int32.

    Ranks that do the same with other partners then have the same symbols.
    """
    first = np.full(int(numbers.max(initial=-1)) + 1, len(numbers))
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    place = np.empty(len(first), np.int32)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[numbers]


def _is_better(one: SequenceLoop, other: SequenceLoop, enter: np.ndarray, *, may_be_whole: bool) -> bool:
    """Return True if its passes are more alike. may_be_whole: of what is compared, a loop that covers much more time is
    the whole one. Where paths tell places apart, partners and communicators changed on its way; else lengths did."""
    if may_be_whole and _time(one, enter) >= MUCH_MORE * _time(other, enter):
        return one.regularity >= CLEAR
    return one.regularity > other.regularity and _time(other, enter) < MUCH_MORE * _time(one, enter)


def _covers(loop: SequenceLoop, enter: np.ndarray) -> bool:
    """Check that no other loop can cover much more time."""
    return MUCH_MORE * _time(loop, enter) > int(enter[-1] - enter[0])


def _time(loop: SequenceLoop, enter: np.ndarray) -> int:
    return int(enter[min(loop.end, len(enter) - 1)] - enter[loop.begins[0]])


def _shared(symbols: np.ndarray, loop: SequenceLoop) -> float:
    """Return the share of calls that passes have in common with the typical one, all calls counted."""
    some = np.unique(np.linspace(0, loop.count - 1, 64).astype(np.int64)).tolist()
    kinds = int(symbols.max()) + 1
    table = np.stack([np.bincount(symbols[slice(*loop.stretch(k))], minlength=kinds) for k in some])
    median = np.median(table, axis=0)
    return float(np.minimum(table, median).sum() / np.maximum(table, median).sum())


def loops_of(calls: Sequence, first: int = 0, last: int | None = None) -> list[SequenceLoop]:
    """Return the loops of a rank's calls that follow one another, in order of time: the one that covers most time, and
    those before and after it that take more than LEAST_SHARE of the time."""
    last = len(calls) if last is None else last
    if last - first < FEWEST:
        return []
    least = LEAST_SHARE * int(calls.exit[last - 1] - calls.left[first])
    return _one_after_another(calls, first, last, least)


def _one_after_another(calls: Sequence, first: int, last: int, least_ns: float) -> list[SequenceLoop]:
    if last - first < FEWEST or calls.exit[last - 1] - calls.left[first] < least_ns:
        return []
    main = loop_of(calls, first, last)
    if main is None:
        return []
    before = _one_after_another(calls, first, int(main.begins[0]), least_ns)
    after = _one_after_another(calls, main.end, last, least_ns)
    own = [main] if calls.exit[main.end - 1] - calls.left[main.begins[0]] >= least_ns else []
    return [*before, *own, *after]
