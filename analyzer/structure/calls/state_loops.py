"""Loops of steps of which only the kind is known: states of a rank, or steps of signals.

The computation between the steps shows where a loop begins and ends, and whether it is a loop.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analyzer.structure.calls.candidates import FEWEST
from analyzer.structure.calls.loops import SequenceLoop, varies
from analyzer.structure.calls.multiples import grouped_by_begin, grouped_by_computing
from analyzer.structure.calls.nested import FEW
from analyzer.structure.calls.sequence import Sequence, SymbolDetail

AT_ENDS, BESIDE = 8, 4
"""Number of passes at each end that are examined, and number of passes with which each is compared."""
USUAL = 0.5
"""Smallest share of the neighbouring passes' computation that a usual pass at an end has.

The neighbours' computation is extrapolated if it changes steadily."""
MOST = 0.9
"""Smallest share of the passes of a loop around that must end with a shorter pass."""
MUCH_LONGER, OUTWEIGHS, MUCH = 4.0, 0.25, 0.2
"""Passes that begin a loop around compute this many times what the usual ones do, and beside that together this share
of all; third: if they hold what else is done at even distances."""
SET_UP, OFTEN = 4.0, 0.95
"""A first pass contains set-up if it computes SET_UP times as much as the share OFTEN of the later passes do."""
FEW_STEPS, UNLIKE = 2, 0.45
"""Passes of up to FEW_STEPS steps are none where they differ from the next one by more than UNLIKE in the natural
logarithm of their computation: then they are neither alike nor changing slowly."""
HALF, MOST_OF_SEVERAL = 0.5, 0.75
"""Share of the passes that must resemble the next one: HALF for passes of one step, otherwise MOST_OF_SEVERAL."""
ROWS, THROUGHOUT = 6, 0.85
"""Fewest rows that make a loop. They are looked for where it is around another one, or that one has a smaller share of
all steps than this."""
LITTLE = 0.25
"""A step that is done now and then computes less than this share of the computation of the steps between."""
MANY = 12
"""If a loop has fewer passes than this, passes of several steps must resemble each other, too."""


def with_usual_ends(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop | None:
    """Move the ends of a loop of single steps to where its usual passes begin and end, by the computation of each pass.

    The set-up and the end of a program make steps of the same kinds with little computing. A pass that does not
    compute as
    much as its neighbours belongs to the pass before. If the loop computes behind its last step, passes begin with
    their
    steps, and the computation of the first pass does not count.

    Args:
        calls: Sequence of the rank.
        part: Part of the sequence in which the loop was found.
        loop: The loop.

    Returns:
        The loop. None: too few passes are left.
    """
    if np.median(np.diff(loop.begins, append=loop.end)) > 1:
        return loop  # passes of several steps have these in common
    computed = _computed(calls, part, loop)
    usual = _usual_at_begin(computed) & _usual_at_begin(computed[::-1])[::-1]
    first = int(np.argmax(usual))
    later = computed[AT_ENDS:] if loop.count >= 2 * AT_ENDS else computed
    set_up = np.flatnonzero(computed[:AT_ENDS] >= SET_UP * np.quantile(later, OFTEN))
    if len(set_up):  # the last of these, if it is one step, computes what the first pass does, too
        alone = set_up[-1] == 0 or loop.begins[set_up[-1] + 1] - loop.begins[set_up[-1]] == 1
        usual[: set_up[-1] + (0 if alone else 1)] = False
    elif first and _behind(calls, part, loop) >= USUAL * float(np.median(computed[usual][-BESIDE:])):
        usual[first - 1] = True
    if usual.all():
        return loop
    begins, last = loop.begins[usual], int(np.flatnonzero(usual)[-1])
    if len(begins) < FEWEST:
        return None
    end = loop.end if last == loop.count - 1 else int(loop.begins[last + 1])
    return replace(loop, begins=begins, end=end)


def are_alike(calls: Sequence, part: slice, loop: SequenceLoop) -> bool:
    """Return True if passes compute about as much as the next ones, in total and in their longest burst (UNLIKE)."""
    has_few_steps = loop.end - int(loop.begins[0]) <= FEW_STEPS * loop.count and loop.parts is None
    if not has_few_steps and loop.count >= MANY:
        return True
    steps = int(np.diff(loop.begins, append=loop.end).min())
    share = HALF if loop.end - int(loop.begins[0]) == loop.count else MOST_OF_SEVERAL
    if _unlike(_computed(calls, part, loop), share) > UNLIKE:
        return False
    burst = calls.burst[part][loop.begins[:, None] + np.arange(steps)]
    longest = int(np.median(burst, axis=0).argmax())
    return loop.parts is not None or _unlike(burst[:, longest], share) <= UNLIKE


def _unlike(computed: np.ndarray, share: float = HALF) -> float:
    """Return the quantile `share` of |log(computation of a pass) - log(computation of the next pass)|."""
    return float(np.quantile(np.abs(np.diff(np.log1p(np.maximum(computed, 0)))), share))


def _computed(calls: Sequence, part: slice, loop: SequenceLoop) -> np.ndarray:
    """Return the computation of each pass, ns, float64 of shape (count,)."""
    return np.add.reduceat(calls.burst[part][: loop.end], loop.begins).astype(np.float64)


def _usual_at_begin(computed: np.ndarray) -> np.ndarray:
    """Return a mask of the passes. At the begin, only passes that compute as much as the following ones are True."""
    usual = np.ones(len(computed), bool)
    for number in reversed(range(min(AT_ENDS, len(computed) - BESIDE))):
        beside = computed[number + 1 :][usual[number + 1 :]][:BESIDE]
        slope, middle = np.polyfit(np.arange(len(beside)), beside, 1) if len(beside) > 1 else (0.0, beside[0])
        usual[number] = computed[number] >= USUAL * min(beside.min(), middle - slope)
    return usual


def with_first(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Add the pass before the first one if its steps are of the same kinds in the same order, and compute enough.

    It may have more steps of a kind in a row: what is done for the first time takes longer, and may be several
    steps.
    """
    kinds = calls.symbols[SymbolDetail.PROCEDURE][part]
    usual = _changes(kinds[slice(*loop.stretch(0))])
    first = int(loop.begins[0])
    ends = np.flatnonzero(np.diff(kinds[:first], prepend=-1))  # where each row of one kind begins
    if len(usual) < 2 or len(ends) < len(usual) or not np.array_equal(kinds[ends[-len(usual) :]], usual):
        return loop
    if len(ends) > len(usual) and kinds[ends[-len(usual) - 1]] == usual[-1]:
        return loop  # another loop stands before this one
    begin = int(ends[-len(usual)])
    computed = calls.burst[part][begin:first].sum()
    if computed < USUAL * _computed(calls, part, loop)[0]:
        return loop
    return replace(loop, begins=np.append(begin, loop.begins))


def _changes(kinds: np.ndarray) -> np.ndarray:
    """Return the kinds without those that equal the kind before."""
    return kinds[np.flatnonzero(np.diff(kinds, prepend=-1))]


def around_by_steps(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Return the loop around, if it shows in the passes of the given loop. Otherwise return the given loop.

    Steps that are made now and then stand beside the usual steps, have even distances, and compute little. There is
    a loop
    around if its last pass lacks the preparation of the next one. There also is one if passes at uneven distances
    compute
    much more, all about equally: a loop inside has converged there.
    """
    steps = np.diff(np.append(loop.begins, loop.end))
    for around in loop.around:
        for off in (0, 1, 2):
            last = np.searchsorted(loop.begins, around.begins[1:], side="right") - off
            last = last[last < loop.count]
            others = np.delete(steps, last)
            if len(others) and len(last) and (steps[last] < others.min()).mean() >= MOST:
                return around
    computed = _computed(calls, part, loop)
    usual = float(np.median(computed))
    longer = np.flatnonzero(computed >= MUCH_LONGER * usual)
    between = np.diff(longer)
    if len(longer) >= FEWEST and (computed[longer] - usual).sum() >= MUCH * computed.sum():
        begun = next((one for one in loop.around if abs(one.count - len(longer)) <= 1), None)
        if begun is not None:
            return begun
    if len(longer) < FEWEST or len(np.unique(between)) < FEWEST or longer[0] > between.max():
        return loop
    is_throughout = loop.count - longer[-1] <= 2 * between.max()
    is_much = (computed[longer] - usual).sum() >= OUTWEIGHS * computed.sum()
    if not is_throughout or not is_much or _unlike(computed[longer]) > UNLIKE:
        return loop
    return replace(loop, begins=loop.begins[longer], every=(), around=())


def around_rows(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Return the loop whose passes are one step of a kind and a varying number of steps of another kind.

    Such a row is a loop inside that converges, or becomes shorter. Without such a loop, return the given loop.
    """
    kinds, burst = calls.symbols[SymbolDetail.PROCEDURE][part], calls.burst[part]
    covered = loop.end - int(loop.begins[0])
    is_grouped = any(group(loop, burst) is not loop for group in (grouped_by_computing, grouped_by_begin))
    for kind in range(int(kinds.max(initial=-1)) + 1):
        at = np.flatnonzero(kinds == kind)
        at = at[np.diff(at, append=len(kinds) + 1) > 1]  # the last one of a row at the begin
        has_one_more = not is_grouped and len(at) == loop.count + 1 and burst[at[0]] >= USUAL * np.median(burst[at])
        is_known = len(at) >= loop.count and not has_one_more
        if len(at) < ROWS or (is_known and covered >= THROUGHOUT * len(kinds)):
            continue
        between, inside = np.diff(at), np.setdiff1d(np.arange(at[0], at[-1]), at)
        reaches = max(int(at[0]), len(kinds) - 1 - int(at[-1])) <= between.max()
        if reaches and len(np.unique(kinds[inside])) == 1 and varies(between) and _unlike(burst[inside]) <= UNLIKE:
            return SequenceLoop(at.astype(np.int64), len(kinds), loop.regularity)
    return loop


def between_steps(calls: Sequence, part: slice, loop: SequenceLoop) -> SequenceLoop:
    """Return the loop whose passes are single steps, if passes of the given loop are many equal steps and one other.

    The equal steps compute alike. The other step computes little, and is done now and then. Otherwise return the given
    loop.
    """
    kinds, burst = calls.symbols[SymbolDetail.PROCEDURE][part], calls.burst[part]
    steps = np.diff(loop.begins, append=loop.end)
    size = int(np.bincount(steps).argmax())
    at = loop.begins[steps == size][:, None] + np.arange(size)
    counts = np.bincount(kinds[at[0]])
    few = int(np.argmin(np.where(counts > 0, counts, size + 1)))
    if size <= FEW + 1 or counts[few] != 1 or (counts > 0).sum() != 2 or (kinds[at] != kinds[at[0]]).any():
        return loop
    usual = np.median(burst[at], axis=0)
    many = usual[kinds[at[0]] != few]
    if usual[kinds[at[0]] == few][0] > LITTLE * many.min() or many.max() > many.min() * np.exp(UNLIKE):
        return loop
    begins = int(loop.begins[0]) + np.flatnonzero(kinds[loop.begins[0] :] != few)
    stop = np.flatnonzero(~np.isin(kinds[loop.end :], kinds[at[0]]))
    end = loop.end + int(stop[0]) if len(stop) else len(kinds)
    begins = begins[begins < end]
    return SequenceLoop(begins.astype(np.int64), end, loop.regularity, every=(size - 1,), around=(loop,))


def _behind(calls: Sequence, part: slice, loop: SequenceLoop) -> float:
    """Return the time computed after the last step of a loop, ns."""
    behind = part.start + loop.end
    return float(calls.burst[behind]) if behind < len(calls) else float(calls.end_ns - calls.exit[-1])
