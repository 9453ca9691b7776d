"""The loops of a sequence of symbols: of the possible loops, those that the program has."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyzer.structure.calls.candidates import FEWEST, LoopCandidate, longest_first
from analyzer.structure.calls.loop_ends import FIRST_LEAST, bounded
from analyzer.structure.calls.nested import begins_with, is_nested
from analyzer.structure.calls.passes import MOST_PASSES, REGULAR, LoopPasses, counts_of
from analyzer.structure.calls.repeated import repeated
from analyzer.structure.calls.sequence import OutputKind

MOST_JUDGED = 40
"""Largest number of candidates that are examined. Candidates that cover most time come first."""
LEAST_TIME = 0.03
"""A loop that takes a smaller share of the time than this is ignored."""
STEP, SELDOM_STEP, SELDOM = (0.25, 1.0), (0.5, 0.5), 8
"""Limits of a step that a loop makes now and then; a larger step, once a pass, is an outer loop.

Each pair has the step's calls relative to a usual pass's, and its computation relative to a usual pass's. The second
pair holds if SELDOM passes or more lie between two steps."""
STEP_WORK = 1.0
"""Largest computation next to a single seldom call (an output, a norm) that still is a step.

It is relative to the computation of all passes between two such calls."""
MISSING = 0.9
"""A pass with less than this share of the usual calls makes other calls in their place."""
NESTED = 4
"""Largest ratio of the passes of a loop inside to the number of passes between two occurrences of a group of calls."""
SOME = 0.2
"""Smallest share of the usual calls that a pass must make."""
SEVERAL, ALIKE = 1.9, 0.85
"""SEVERAL: least passes of an inner loop relative to the outer loop. ALIKE: share of calls its passes have in common.

If paths are known, any regular loop may be the inner one."""
PARTIAL = 1.3
"""Two loops, one with more context, are the same loop if their numbers of passes differ at most by this ratio."""
QUIET, FEWEST_WORK = 0.25, 0.1
"""Quantiles of the computation of usual passes, and of special passes, which are few.

Low quantiles are used because other programs on the machine only make computation longer. The lowest value is not
used, because calls before a loop may look like a special pass."""
UNEVEN, SAME_DISTANCE = 0.15, 0.1
"""Distances of special passes vary if more than a share of UNEVEN differ from the usual by more than SAME_DISTANCE.

The first distance may be shorter: at the begin, many programs do what they later do now and then."""


@dataclass(frozen=True)
class SequenceLoop:
    """Loop of a rank. Its passes are indices of calls in the sequence.

    Attributes:
        begins: Index of the first call of each pass, int64 of shape (count,).
        end: Index behind the last call of the last pass.
        regularity: Share of calls, in order, that passes have in common. 1: all passes are equal.
        every: Numbers n such that usually each n-th pass does something more.
        around: Loops that would exist if what is done now and then were done around this loop.
        stages: Computing in each part of a pass, ns, if passes of `parts` were grouped. (): they were not.
        parts: The loop before its passes were grouped. None: they were not.
    """

    begins: np.ndarray  # int64 (count,): the first call of each pass
    end: int  # behind the last call of the last pass
    regularity: float  # share of calls that passes have in common, in their order: 1 if all are the same
    every: tuple[int, ...] = ()  # each so many-th pass does something more; the commonest distance
    around: tuple[
        SequenceLoop, ...
    ] = ()  # loops that what is done now and then would make if it were done around this one
    stages: tuple[int, ...] = ()  # ns that each part of a pass computes, where passes of `parts` were grouped
    parts: SequenceLoop | None = None  # the loop before its passes were grouped

    @property
    def count(self) -> int:
        """Number of passes."""
        return len(self.begins)

    def stretch(self, number: int) -> tuple[int, int]:
        """Return the index of the first call of a pass, and the index behind its last call. Passes count from 0."""
        last = self.end if number == self.count - 1 else int(self.begins[number + 1])
        return int(self.begins[number]), last

    def moved(self, places: np.ndarray) -> SequenceLoop:
        """Return this loop in another sequence, whose call places[n] is call n of this one.

        `places` includes the end.
        """
        around = tuple(one.moved(places) for one in self.around)
        parts = self.parts.moved(places) if self.parts else None
        return replace(self, begins=places[self.begins], end=int(places[self.end]), around=around, parts=parts)

    def shifted(self, by: int) -> SequenceLoop:
        """Return this loop in a sequence that has `by` more calls before."""
        around = tuple(one.shifted(by) for one in self.around)
        parts = self.parts.shifted(by) if self.parts else None
        return replace(self, begins=self.begins + by, end=self.end + by, around=around, parts=parts)


def outermost(
    symbols: np.ndarray, enter: np.ndarray, burst: np.ndarray, clocks: np.ndarray, length_ns: int, *,
    knows_paths: bool, output: np.ndarray,
) -> SequenceLoop | None:  # fmt: skip
    """Find the outermost loop of a sequence that covers most time.

    Args:
        symbols: Symbol of each call, numbered from 0, shape (calls,).
        enter: Entry of each call, ns.
        burst: Computing before each call, ns.
        clocks: Number of times that the clock was read before each call.
        length_ns: Time to which LEAST_TIME is relative.
        knows_paths: Whether calls with different paths have different symbols.
        output: OutputKind of each call.

    Returns:
        The loop. None: nothing repeats.
    """
    regular = _regular(symbols, enter, length_ns, knows_paths=knows_paths)
    found = _not_partial(regular)
    if knows_paths:
        found = _own(found, symbols)
    while found:
        outer, steps = _main(found, symbols, burst, output, knows_paths=knows_paths)
        main = _with_first(outer, regular) if knows_paths and not steps else outer
        loop, *around = (_bounded(one, symbols, clocks, knows_paths=knows_paths) for one in (main, *steps))
        if loop is not None:
            every = tuple(k for k in (_distance(main, step) for step in steps) if k > 1)
            return replace(loop, every=every, around=tuple(one for one in around if one is not None))
        found = [one for one in found if one is not outer]
    return None


def _bounded(one: LoopPasses, symbols: np.ndarray, clocks: np.ndarray, *, knows_paths: bool) -> SequenceLoop | None:
    bounds = bounded(symbols, one, clocks, knows_paths=knows_paths)
    return SequenceLoop(*bounds, repeated(symbols).in_order(bounds)) if len(bounds.begins) >= FEWEST else None


def _distance(loop: LoopPasses, step: LoopPasses) -> int:
    """Return the commonest number of passes from one step to the next."""
    return round(float(np.median(np.diff(np.searchsorted(loop.at, step.at)))))


def _regular(symbols: np.ndarray, enter: np.ndarray, length_ns: int, *, knows_paths: bool) -> list[LoopPasses]:
    """Return the candidates whose stretches are passes. The candidate that covers most time comes first.

    Of candidates that cover as much, the one with fewer passes comes first.
    """
    known = repeated(symbols)
    possible = longest_first(known.candidates, enter)
    possible = [one for one in possible if _time(one, enter) >= LEAST_TIME * length_ns][:MOST_JUDGED]
    judged = [known.compared(one) for one in sorted(possible, key=lambda one: -one.count)]
    accepted: list[LoopPasses] = []
    for one in judged:
        if one.is_regular or one.is_regular_around(accepted) or (knows_paths and one.is_of_a_place):
            accepted.append(one)
    return accepted


def _time(one: LoopCandidate | LoopPasses, enter: np.ndarray) -> int:
    """Return the time from the first occurrence to the last, plus one mean stretch, ns."""
    at = one.at
    return int((enter[at[-1]] - enter[at[0]]) * (1 + 1 / (len(at) - 1)))


def _main(
    found: list[LoopPasses], symbols: np.ndarray, burst: np.ndarray, output: np.ndarray, *, knows_paths: bool
) -> tuple[LoopPasses, list[LoopPasses]]:
    """Return the outermost loop, and the steps that it makes now and then.

    Of loops that cover the same calls, the one with the fewest passes is the outermost, unless its passes are only such
    steps of an inner loop.
    """
    computed = np.concatenate([[0], np.cumsum(burst)])
    outputs = np.zeros(int(symbols.max(initial=-1)) + 1, np.uint8)
    outputs[symbols] = output
    span = max(found, key=lambda one: _covered(one))
    around = [one for one in found if _covered(one) >= 0.5 * _covered(span) and _overlap(one, span) > 0.5]
    around.sort(key=lambda one: (one.count, -one.slots))
    loop, steps = _fuller(around[0], around), list[LoopPasses]()
    while True:
        inner = [one for one in around if one.count >= SEVERAL * loop.count]
        inner = [one for one in inner if one.is_alike or (knows_paths and _is_often(one, loop))]
        if not knows_paths:
            inner = _plainest([one for one in inner if one.regularity >= ALIKE])
        found_inner = next(
            (one for one in inner if _is_now_and_then(loop, one, symbols, computed, outputs, knows_paths)), None
        )
        if found_inner is None:
            break
        steps.append(loop)
        loop = _fuller(found_inner, around)
    return loop, steps


def _is_often(inner: LoopPasses, outer: LoopPasses) -> bool:
    """Return True if a place is passed more than NESTED times as often as `outer`.

    Its passes may do different things.
    """
    return inner.is_of_a_place and inner.count > NESTED * outer.count


def _fuller(loop: LoopPasses, others: list[LoopPasses]) -> LoopPasses:
    """Return the same loop, found by other calls, if these are made in more of its passes.

    Otherwise return the loop. Some passes may make other calls in place of those by which the loop was found, such
    as an
    exchange of lists.
    """
    low, high = loop.at[0], loop.at[-1]
    for one in sorted(others, key=lambda one: -one.count):
        inside = one.at[(one.at >= low) & (one.at < high)]
        is_longer = loop.count <= len(inside) and one.count <= PARTIAL * loop.count + 2
        if not is_longer or one.length != loop.length or np.diff(one.at).min() < REGULAR * one.length:
            continue
        if np.diff(np.searchsorted(one.at, loop.at)).min() >= 1:
            return one
    return loop


def _with_first(loop: LoopPasses, others: list[LoopPasses]) -> LoopPasses:
    """Return the same loop, found by other calls, if these calls are also made in one pass before it.

    Otherwise return the loop. A first step may make other calls, because it has no step before it.
    """
    for one in others:
        is_longer = one.count == loop.count + 1 and one.context == loop.context and one.length == loop.length
        if not is_longer or one.slots < FIRST_LEAST * one.length:
            continue
        if np.array_equal(np.searchsorted(one.at, loop.at, side="right"), np.arange(2, one.count + 1)):
            return one
    return loop


def _plainest(loops: list[LoopPasses]) -> list[LoopPasses]:
    """Select, of loops with nearly equal numbers of passes (PARTIAL), the one with most slots.

    Without paths, the others may take calls of the loop around for passes of their own.
    """
    kept: list[LoopPasses] = []
    for one in sorted(loops, key=lambda one: -one.slots):
        if all(max(one.count, other.count) > PARTIAL * min(one.count, other.count) for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.count)


def _not_partial(loops: list[LoopPasses]) -> list[LoopPasses]:
    """Leave out loops that are other loops without some passes.

    Slots of many calls in a row miss passes before which something else comes. Of loops with as many passes, or with
    passes as long, the one with most slots is kept.
    """
    kept: list[LoopPasses] = []
    for one in sorted(loops, key=lambda one: (one.context, -one.slots, -one.regularity - one.kinds)):
        more = [other for other in kept if one.count <= other.count and _overlap(one, other) > 0.5]
        if not any(other.count <= PARTIAL * one.count + 2 or other.length == one.length for other in more):
            kept.append(one)
    return kept


def _own(loops: list[LoopPasses], symbols: np.ndarray) -> list[LoopPasses]:
    """Remove loops of several successive calls that depend on how often a loop inside another one is passed.

    They make no call that the passes of that loop do not make. A loop that a single call shows may have a loop
    around it, if
    equally many of its passes lie between the calls.
    """
    places = [one for one in loops if one.context == 1]

    def is_chance(one: LoopPasses) -> bool:
        around = (other for other in places if other.count >= one.count and _overlap(one, other) > 0.5)
        around = (other for other in around if other.takes_turns or other.slots > 1 or not _is_around(one, other))
        return one.context > 1 and any(_makes_no_others(one, other, symbols) for other in around)

    return [one for one in loops if not is_chance(one)]


def _is_around(outer: LoopPasses, inner: LoopPasses) -> bool:
    """Return True if equally many passes of `inner`, more than one, lie between all neighbouring passes of `outer`."""
    between = np.diff(np.searchsorted(inner.at, outer.at))
    return bool(1 < between.min() == between.max())


def _makes_no_others(outer: LoopPasses, inner: LoopPasses, symbols: np.ndarray) -> bool:
    """Return True if the passes of `inner` that contain calls of `outer` make the same calls as other passes."""
    number = _special(outer, inner, symbols)
    usual = np.setdiff1d(np.arange(inner.count - 1), number)
    if not len(number) or not len(usual):
        return True
    common, there = (_median_pass(symbols, inner, _spread(some)) for some in (usual, number))
    return not ((common > 0) != (there > 0)).any()


def _covered(one: LoopPasses) -> int:
    return int(one.at[-1] - one.at[0])


def _overlap(one: LoopPasses, other: LoopPasses) -> float:
    low, high = max(one.at[0], other.at[0]), min(one.at[-1], other.at[-1])
    return (high - low) / max(min(_covered(one), _covered(other)), 1)


def _special(outer: LoopPasses, inner: LoopPasses, symbols: np.ndarray) -> np.ndarray:
    """Return the numbers of the passes of `inner` that contain what `outer` does once a pass.

    If the slot of `outer` is several successive calls, these are the passes with its first or with its last call,
    whichever differ more from the typical pass.
    """
    found = []
    for place in (outer.at, outer.at - outer.context + 1):
        number = np.unique(np.searchsorted(inner.at, place, side="right").clip(1) - 1)
        number = number[number < inner.count - 1]
        found.append(number)
    off = [np.abs(_median_pass(symbols, inner, _spread(one)) - inner.typical).sum() if len(one) else 0 for one in found]
    return found[int(off[1] > off[0])]


def _spread(numbers: np.ndarray) -> np.ndarray:
    """Return at most MOST_PASSES of the numbers, spread evenly."""
    return numbers[np.unique(np.linspace(0, len(numbers) - 1, min(len(numbers), MOST_PASSES)).astype(np.int64))]


def _median_pass(symbols: np.ndarray, loop: LoopPasses, numbers: np.ndarray) -> np.ndarray:
    """Count the calls of each symbol in the median of these passes of a loop."""
    return np.median(counts_of(symbols, loop.at[numbers], loop.at[numbers + 1], len(loop.typical)), axis=0)


def _is_now_and_then(
    outer: LoopPasses,
    inner: LoopPasses,
    symbols: np.ndarray,
    computed: np.ndarray,
    outputs: np.ndarray,
    knows_paths: bool,
) -> bool:
    """Return True if the passes of `outer` are only special passes of `inner`.

    This holds if special passes make other calls in place of the usual ones, and compute less than the passes
    between. It
    also holds if special passes only add calls, fewer than a usual pass has, and equally many usual passes lie between
    them. (A loop inside that converges would have more or fewer.)
    """
    nested = is_nested(outer, inner, symbols)
    if nested or (nested is not None and knows_paths):
        return not nested
    at = inner.at
    number = _special(outer, inner, symbols)
    usual = np.setdiff1d(np.arange(len(at) - 1), number)
    if not len(number) or not len(usual):
        return True
    usual, some = _spread(usual), _spread(number)
    common, there = _median_pass(symbols, inner, usual), _median_pass(symbols, inner, some)
    shared, usually = np.minimum(common, there).sum(), common.sum()
    between, work = np.diff(number), np.diff(computed[at])
    if outer.context > 1 and not ((common > 0) != (there > 0)).any():  # but for what is inside, they are all alike
        is_around = begins_with(outer, inner, symbols, (there - common).clip(0))
        return not is_around and (knows_paths or not varies(between) or _is_short(work[usual], work[some]))
    lacks = ((common > 0) & (there == 0)).any()  # not only: a loop inside is passed less often
    if shared < MISSING * usually and (lacks or not knows_paths):
        makes_others = ((there > 0) & (common == 0)).any()
        in_place = bool(shared >= SOME * usually and makes_others)
        return in_place and not _outweighs(work[usual], _with_following(work, some, usual), between)
    if not knows_paths and inner.context > 1:  # a part of its body may look like a pass of its own
        return False
    # Its last one may be made in the last pass of `inner`, whose end is not known: `number` does not have it.
    every = np.diff(np.searchsorted(at, outer.at, side="right")) if outer.context == 1 else between
    if varies(every):
        return False
    more = np.where(inner.varying & (common > 0), 0, (there - common).clip(0))  # a loop inside took longer to converge
    if knows_paths and more.sum() > 1 and len(between) and np.median(between) <= NESTED:
        return False
    is_step = more.sum() <= 1 or (knows_paths and _hands_out(outputs[more > 0]))
    special = _with_following(work, some, usual) if is_step else work[some]
    return _is_little(work[usual], special, between, 0.0 if is_step else float(more.sum() / common.sum()))


def _with_following(work: np.ndarray, special: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return the computation of special passes, ns, plus the extra computation with which the pass behind begins."""
    after = np.minimum(special + 1, len(work) - 1)
    more = np.where(np.isin(after, special), 0, work[after] - np.quantile(work[usual], QUIET))
    return work[special] + np.maximum(more, 0)


def _is_little(usual_work: np.ndarray, special_work: np.ndarray, between: np.ndarray, calls: float) -> bool:
    """Return True if special passes do too little, beyond usual passes, for a loop around.

    Args:
        usual_work: Computation of usual passes, ns.
        special_work: Computation of special passes, ns.
        between: Numbers of passes from one special pass to the next.
        calls: Additional calls of a special pass relative to the calls of a usual pass. 0: special passes are a
            step, whose
            computation is compared with that of all passes between.
    """
    usual = float(np.quantile(usual_work, QUIET))
    least = float(np.quantile(special_work, FEWEST_WORK, method="higher"))
    own, distance = least - usual, float(np.median(between)) if len(between) else 0.0
    if not calls:
        return own < STEP_WORK * usual * distance if len(between) else own < usual
    if calls <= STEP[0] and own < STEP[1] * usual:
        return True
    # The first of them may be none: the least would tell nothing.
    own = float(np.quantile(special_work, QUIET)) - usual
    return distance >= SELDOM and calls <= SELDOM_STEP[0] and own < SELDOM_STEP[1] * usual


def _is_short(usual_work: np.ndarray, special_work: np.ndarray) -> bool:
    """Return True if special passes compute less than two usual passes. Arguments are in ns, as in `_is_little`."""
    usual, special = (float(np.quantile(work, QUIET)) for work in (usual_work, special_work))
    return special < 2 * usual


def _outweighs(usual_work: np.ndarray, special_work: np.ndarray, between: np.ndarray) -> bool:
    """Return True if a special pass computes more than all usual passes between two of them together."""
    usual, special = (float(np.quantile(work, QUIET)) for work in (usual_work, special_work))
    return len(between) > 0 and special - usual >= STEP_WORK * usual * float(np.median(between))


def _hands_out(outputs: np.ndarray) -> bool:
    """Return True if calls output a program's results. `outputs` is the OutputKind of each call."""
    return bool((outputs > OutputKind.NONE).all() and (outputs == OutputKind.RESULTS).any())


def varies(between: np.ndarray) -> bool:
    """Return True if the numbers of passes between special ones vary as in a loop that ends by convergence (UNEVEN).

    Steps that are made now and then have equal distances, except for the first one.
    """
    if len(between) < FEWEST:
        return False
    usual = float(np.median(between[1:]))
    others = np.abs(between[1:] - usual) > SAME_DISTANCE * usual
    first_is_longer = between[0] > (1 + SAME_DISTANCE) * usual  # alone it is no sign: some do it when all has begun
    return bool(others.mean() > UNEVEN or (others.any() and first_is_longer))
