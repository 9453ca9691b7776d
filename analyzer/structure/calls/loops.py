"""The loops of a sequence of symbols, the outermost first: which of those that are possible the program has."""

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
"""Number of candidates that are examined: those that cover most time."""
LEAST_TIME = 0.03
"""A loop that takes a smaller share of the time than this is left out."""
STEP, SELDOM_STEP, SELDOM = (0.25, 1.0), (0.5, 0.5), 8
"""Limits of a step that a loop makes now and then: its calls relative to the calls of a usual pass, and its computation
relative to a pass's. The second pair holds where SELDOM passes or more lie between. A step that does more once a pass
is an outer loop."""
STEP_WORK = 1.0
"""Largest computation beside a single seldom call (an output or a norm), relative to that of all passes between two
such calls: a step that is made now and then takes less."""
MISSING = 0.9
"""A pass that makes a smaller share than this of the usual calls makes others in their place."""
NESTED = 4
"""Largest ratio of passes of a loop inside to the distance at which a group of calls is made, in passes."""
SOME = 0.2
"""Least share of these calls that a pass makes."""
SEVERAL, ALIKE = 1.9, 0.85
"""An inner loop has so many times the passes of the outer one, and passes that have this share of calls in common.
Where paths are known, any that is regular will do."""
PARTIAL = 1.3
"""Largest ratio of passes at which a loop and one of a longer context are the same loop."""
QUIET, FEWEST_WORK = 0.25, 0.1
"""Quantiles of the computation of usual passes, and of special ones, which are few: others on the machine only make it
longer. What comes before a loop may look like a special pass, so it is not the least."""
UNEVEN, SAME_DISTANCE = 0.15, 0.1
"""Passes between two special ones vary where more than this share of the stretches have another number, by more than
this share of it. The first stretch may be shorter: many programs do at the begin what they do now and then."""


@dataclass(frozen=True)
class SequenceLoop:
    """A loop of a rank: its passes as places in the sequence."""

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
        return len(self.begins)

    def stretch(self, number: int) -> tuple[int, int]:
        """Return the first call of a pass (from 0), and the one behind its last."""
        last = self.end if number == self.count - 1 else int(self.begins[number + 1])
        return int(self.begins[number]), last

    def moved(self, places: np.ndarray) -> SequenceLoop:
        """Return the loop in a sequence in which its call n is call places[n]; with the end of both."""
        around = tuple(one.moved(places) for one in self.around)
        parts = self.parts.moved(places) if self.parts else None
        return replace(self, begins=places[self.begins], end=int(places[self.end]), around=around, parts=parts)

    def shifted(self, by: int) -> SequenceLoop:
        """Return the loop in a sequence in which `by` calls come before."""
        around = tuple(one.shifted(by) for one in self.around)
        parts = self.parts.shifted(by) if self.parts else None
        return replace(self, begins=self.begins + by, end=self.end + by, around=around, parts=parts)


def outermost(
    symbols: np.ndarray, enter: np.ndarray, burst: np.ndarray, clocks: np.ndarray, length_ns: int, *,
    knows_paths: bool, output: np.ndarray,
) -> SequenceLoop | None:  # fmt: skip
    """Return the outermost loop of a sequence that covers most time; None: nothing repeats.

    symbols: (calls,), dense from 0; enter: ns; burst: ns computed before each call; clocks: looks at the clock up
    to each call; length_ns: the time that shares are of; output: as Sequence has it.
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
    """Return candidates whose stretches are passes, the one that covers most time first.

    Of candidates that cover as much, the one with fewer passes is first.
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
    """Return the time from the first occurrence to the last, and one stretch more, ns."""
    at = one.at
    return int((enter[at[-1]] - enter[at[0]]) * (1 + 1 / (len(at) - 1)))


def _main(
    found: list[LoopPasses], symbols: np.ndarray, burst: np.ndarray, output: np.ndarray, *, knows_paths: bool
) -> tuple[LoopPasses, list[LoopPasses]]:
    """Return the outermost loop. Of loops that cover the same calls it has the fewest passes, unless these are but
    steps that an inner loop makes now and then: these steps, too."""
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
    """Check whether a place is passed many times as often: its passes may do different things."""
    return inner.is_of_a_place and inner.count > NESTED * outer.count


def _fuller(loop: LoopPasses, others: list[LoopPasses]) -> LoopPasses:
    """Return the loop, or the same one found by other calls, if these are made in more of its passes: some passes may
    make others in place of those that it was found by, such as an exchange of lists instead of one of values."""
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
    """Return the loop, or the same one found by other calls, if these are made in one pass before it, too: a first step
    may make other calls, as it has no step before it."""
    for one in others:
        is_longer = one.count == loop.count + 1 and one.context == loop.context and one.length == loop.length
        if not is_longer or one.slots < FIRST_LEAST * one.length:
            continue
        if np.array_equal(np.searchsorted(one.at, loop.at, side="right"), np.arange(2, one.count + 1)):
            return one
    return loop


def _plainest(loops: list[LoopPasses]) -> list[LoopPasses]:
    """Choose among loops with nearly equal numbers of passes the one with most slots.

    Where paths are not known, the others may take calls of the loop around for passes of their own.
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
    """Leave out loops of several calls in a row that depend on how often a loop inside another one is passed.

    They make no call that the passes of that loop do not make. A loop that one call alone tells may have a loop around
    it, if as many of its passes lie between the calls each time.
    """
    places = [one for one in loops if one.context == 1]

    def is_chance(one: LoopPasses) -> bool:
        around = (other for other in places if other.count >= one.count and _overlap(one, other) > 0.5)
        around = (other for other in around if other.takes_turns or other.slots > 1 or not _is_around(one, other))
        return one.context > 1 and any(_makes_no_others(one, other, symbols) for other in around)

    return [one for one in loops if not is_chance(one)]


def _is_around(outer: LoopPasses, inner: LoopPasses) -> bool:
    """Check whether equally many passes of `inner`, more than one, lie between all neighbouring passes of `outer`."""
    between = np.diff(np.searchsorted(inner.at, outer.at))
    return bool(1 < between.min() == between.max())


def _makes_no_others(outer: LoopPasses, inner: LoopPasses, symbols: np.ndarray) -> bool:
    """Check whether the passes of `inner` that hold calls of `outer` make the calls of other passes, be it more
    often."""
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
    """Return the passes of `inner`, by number, that hold what `outer` does once a pass. Its slot is several calls in a
    row: of the passes that hold the first and the last of them those that differ more from the typical one."""
    found = []
    for place in (outer.at, outer.at - outer.context + 1):
        number = np.unique(np.searchsorted(inner.at, place, side="right").clip(1) - 1)
        number = number[number < inner.count - 1]
        found.append(number)
    off = [np.abs(_median_pass(symbols, inner, _spread(one)) - inner.typical).sum() if len(one) else 0 for one in found]
    return found[int(off[1] > off[0])]


def _spread(numbers: np.ndarray) -> np.ndarray:
    """Return some of them, spread over all."""
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
    """Check whether passes of `outer` are only special passes of `inner`.

    They are if special passes make other calls in place of the usual ones, and compute less than the passes between; or
    if they only add calls, less than a usual pass has, and equally many usual passes lie between them each time (a loop
    inside that converges has more or fewer).
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
    """Return the computation of special passes with what is computed after their last call, which the pass behind
    begins with."""
    after = np.minimum(special + 1, len(work) - 1)
    more = np.where(np.isin(after, special), 0, work[after] - np.quantile(work[usual], QUIET))
    return work[special] + np.maximum(more, 0)


def _is_little(usual_work: np.ndarray, special_work: np.ndarray, between: np.ndarray, calls: float) -> bool:
    """Return True if what special passes do beside the others is too little for a loop around. Work: computation of
    usual and of special passes, ns; between: passes from one of these to the next; calls: theirs more, as a share of a
    usual pass's; 0: they are a step, whose work counts beside that of all passes between."""
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
    """Check whether special passes compute less than two usual ones; ns, as in _is_little."""
    usual, special = (float(np.quantile(work, QUIET)) for work in (usual_work, special_work))
    return special < 2 * usual


def _outweighs(usual_work: np.ndarray, special_work: np.ndarray, between: np.ndarray) -> bool:
    """Check whether special passes compute more than all usual ones between them together; ns, as in _is_little."""
    usual, special = (float(np.quantile(work, QUIET)) for work in (usual_work, special_work))
    return len(between) > 0 and special - usual >= STEP_WORK * usual * float(np.median(between))


def _hands_out(outputs: np.ndarray) -> bool:
    """Check whether calls (OutputKind of each) hand out a program's results."""
    return bool((outputs > OutputKind.NONE).all() and (outputs == OutputKind.RESULTS).any())


def varies(between: np.ndarray) -> bool:
    """Check whether the numbers of passes between special ones vary as in a loop that ends when it has converged.

    Steps that are made now and then are made at even distances, but for the first.
    """
    if len(between) < FEWEST:
        return False
    usual = float(np.median(between[1:]))
    others = np.abs(between[1:] - usual) > SAME_DISTANCE * usual
    first_is_longer = between[0] > (1 + SAME_DISTANCE) * usual  # alone it is no sign: some do it when all has begun
    return bool(others.mean() > UNEVEN or (others.any() and first_is_longer))
