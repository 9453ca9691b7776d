"""The loops of a run by its signals over time: perturbed times out, the phase by wavelets, the period by
autocorrelation, and the same again inside one representative iteration.

Source: Casas 2009, sections 3.5, 3.6 and 3.6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from analyzer.structure.calls.candidates import FEWEST
from analyzer.structure.iterations import IterationEvidence
from analyzer.structure.levels.agreed_loops import AgreedLoop
from analyzer.structure.levels.literal_regions import literal_regions
from analyzer.structure.levels.loop_tree import DEEPEST, LoopNode
from analyzer.structure.levels.parts import SignalPeriod
from analyzer.structure.levels.periodic_stretches import (
    alike,
    alike_share,
    cut,
    period_ns,
    periodic_stretches,
    representative,
)
from analyzer.structure.period import LEAST, coarser, period_of
from analyzer.structure.perturbations import PerturbedTime
from analyzer.structure.signals import RunSignal

INSIDE = 1 << 13
"""Number of samples of one iteration in which inner loops are searched."""
SAME = 0.05
"""Two signals agree if their periods differ by less than this share."""
LEAST_TIME, LEAST_VARIANCE = 0.03, 0.25
"""A loop that takes a smaller share of the time than this is left out, as one that is found by calls. Inside an
iteration it is not if it has this share of the variance of the signal."""
SELDOM = 0.5
"""A loop that repeats n times has at least this, divided by n, of the piece in which it is found, or LEAST_VARIANCE of
what varies there: of a signal with few values some come again a few times somewhere by chance."""
PHASE = 1 << 13
"""Number of samples in which phases are searched first."""
THROUGHOUT = 0.5
"""A period belongs to a whole part if it holds in at least this share of the part."""
CALM = 0.05
"""Largest shift of the begin of a period, as a share of the period."""
BINS, UNLIKE = 64, 0.5
"""A period (in BINS bins) is not like the next if their correlation is below UNLIKE of the usual one, and below
LEAST."""
MOST_EDGES = 1 << 20
"""Largest number of iterations. A period that fits more often is not one of iterations."""

Sampled = Callable[[int, int, int], RunSignal]
"""Function that returns the signal between two times, in a number of samples."""


class SignalPhase(NamedTuple):
    """Part of a signal in which one period holds.

    Attributes:
        signal: Samples of the part.
        period_ns: The period.
    """

    signal: RunSignal
    period_ns: float


def nodes_of(
    signal: RunSignal,
    sampled: Sampled,
    disturbed: Sequence[PerturbedTime],
    ranks: int,
    *,
    literal: bool,
    level: int = 1,
) -> list[LoopNode]:
    """Find the loops of a signal, with the loops inside, in order of time.

    Args:
        signal: The signal.
        sampled: Function that samples the signal in a stretch of time.
        disturbed: Perturbed times, which are left out.
        ranks: Number of ranks.
        literal: Whether to use only the rules of the thesis.
        level: Level of the loops.
    """
    found: list[LoopNode] = []
    for piece in _clean(signal, disturbed):
        phases = _phases(piece, literal=literal)
        for phase, room in zip(phases, _rooms(phases, piece), strict=True):
            if _little(phase.signal, signal, level) or (not literal and _is_chance(phase, piece, level)):
                continue
            node = _node(phase, piece, room, sampled, ranks, literal=literal, level=level)
            if node is not None:
                found.append(node)
    return found


def metric_of(signal: RunSignal, begin_ns: int, end_ns: int, disturbed: Sequence[PerturbedTime] = ()) -> SignalPeriod:
    """Return the period of a signal between two times, from its longest stretch without perturbed times."""
    part = undisturbed(signal, begin_ns, end_ns, disturbed)
    found = period_of(part.values)
    if found is None:
        return SignalPeriod(signal.name, None, 1, 0.0)
    period = found.samples * part.width_ns
    return SignalPeriod(signal.name, period, round((end_ns - begin_ns) / period), found.correlation)


def undisturbed(signal: RunSignal, begin_ns: int, end_ns: int, disturbed: Sequence[PerturbedTime]) -> RunSignal:
    """Return the longest stretch of a signal between two times without perturbed times. It may be empty."""
    whole = signal.part(begin_ns, end_ns)
    return max(_clean(whole, disturbed), key=lambda one: len(one.values), default=whole.part(begin_ns, begin_ns))


def chosen(signals: Sequence[RunSignal], disturbed: Sequence[PerturbedTime]) -> RunSignal | None:
    """Choose the signal by which loops are found if calls show none.

    It is the most dependable signal with a period, if another signal has the same period. None: there is no such
    signal.
    """
    periods = [(one, _longest_period(one, disturbed)) for one in signals]
    known = [(one, period) for one, period in periods if period]
    for one, period in known:
        if sum(abs(other / period - 1) < SAME for _, other in known) > 1:
            return one
    return None


def _longest_period(signal: RunSignal, disturbed: Sequence[PerturbedTime]) -> float | None:
    best, longest = None, 0
    for piece in _clean(signal, disturbed):
        for phase in _phases(piece, literal=False):
            if len(phase.signal.values) > longest:
                best, longest = phase.period_ns, len(phase.signal.values)
    return best


def _clean(signal: RunSignal, disturbed: Sequence[PerturbedTime]) -> list[RunSignal]:
    """Return the signal between its perturbed times; what is shorter than a sample is left out."""
    at, found = signal.begin_ns, []
    end = signal.begin_ns + len(signal.values) * signal.width_ns
    for one in sorted(disturbed, key=lambda one: one.begin_ns):
        if one.begin_ns > at:
            found.append(signal.part(at, one.begin_ns))
        at = max(at, one.end_ns)
    if at < end:
        found.append(signal.part(at, end))
    return [piece for piece in found if len(piece.values)]


def _is_chance(phase: SignalPhase, piece: RunSignal, level: int) -> bool:
    """Check whether a phase repeats too seldom for the little time it takes of its piece, while as much varies
    elsewhere."""
    length = len(phase.signal.values)
    repeats = length * piece.width_ns / phase.period_ns
    return level == 1 and repeats * length < SELDOM * len(piece.values) and _varies_little(phase.signal, piece)


def _little(part: RunSignal, signal: RunSignal, level: int) -> bool:
    """Check whether a part takes little time and, inside an iteration, has little of the signal's variation."""
    if len(part.values) >= LEAST_TIME * len(signal.values):
        return False
    return level == 1 or _varies_little(part, signal)


def _varies_little(part: RunSignal, signal: RunSignal) -> bool:
    """Check whether a part has little of the signal's variation."""
    usual = signal.values.mean()
    variation, whole = (float(np.square(one.values - usual).sum()) for one in (part, signal))
    return variation < LEAST_VARIANCE * whole


def _phases(piece: RunSignal, *, literal: bool) -> list[SignalPhase]:
    """Return the parts of highest frequency that have a period. Not literal: of the finest level at which they cover
    most; each without what comes before, between and after its periods."""
    if literal:
        regions = literal_regions(piece.values)
        return [SignalPhase(cut(piece, first, last), period * piece.width_ns) for first, last, period in regions]
    return _by_few_samples(piece) or [
        SignalPhase(part, own) for part, own in periodic_stretches(piece) if own is not None
    ]


def _by_few_samples(piece: RunSignal) -> list[SignalPhase]:
    """Return the phases that are soon found, with their periods as exactly as all samples tell them. None where a short
    period holds, which few samples do not show: they may show a multiple of it. One that holds in little of a phase is
    that of a loop inside. Where all samples together have none, that of a few is chance."""
    found = []
    for coarse, known in periodic_stretches(_coarse(piece)):
        part = piece.part(coarse.begin_ns, coarse.begin_ns + len(coarse.values) * coarse.width_ns)
        own = period_ns(part)
        if own is None:
            continue
        same = known is not None and abs(own / known - 1) < SAME
        if not same and alike_share(part, own) >= THROUGHOUT:
            return []
        period = own if same else known
        if period is not None:
            found.append(SignalPhase(part, period))
    return found


def _coarse(piece: RunSignal) -> RunSignal:
    """Reduce a signal to few samples, so that phases are found quickly."""
    factor = -(-len(piece.values) // PHASE)
    return RunSignal(piece.name, piece.begin_ns, piece.width_ns * factor, coarser(piece.values, factor))


def _rooms(phases: Sequence[SignalPhase], piece: RunSignal) -> list[tuple[int, int]]:
    """Find for each phase the samples of the piece between its neighbours."""
    begins = [(one.begin_ns - piece.begin_ns) // one.width_ns for one, _ in phases]
    ends = [begin + len(one.values) for begin, (one, _) in zip(begins, phases, strict=True)]
    before, behind = [0, *ends], [*begins, len(piece.values)]
    return [(before[number], behind[number + 1]) for number in range(len(phases))]


def _node(
    phase: SignalPhase,
    piece: RunSignal,
    room: tuple[int, int],
    sampled: Sampled,
    ranks: int,
    *,
    literal: bool,
    level: int,
) -> LoopNode | None:
    part, period = phase.signal, phase.period_ns / phase.signal.width_ns
    count, fewest = round(len(part.values) / period), 2 if literal or level > 1 else FEWEST
    if not fewest <= count <= MOST_EDGES:
        return None
    within = _edges(part, piece, period, count)
    if not literal:
        within = _without_others(within, piece.values)
    count = len(within) - 1
    if count < fewest:
        return None
    start = representative(part.values, period, literal=literal)
    before = (part.begin_ns - piece.begin_ns) / part.width_ns
    number = min(max(round((start + before - within[0]) / period), 0), count - 1)
    if not literal:
        within = within + _to_calm(within, number, piece.values, room)
    edges = piece.begin_ns + np.rint(within * part.width_ns).astype(np.int64)
    inside: list[LoopNode] = []
    begin, end = edges[number : number + 2].tolist()
    if level < DEEPEST and end - begin > INSIDE:
        inner = sampled(begin, end, INSIDE)
        inside = nodes_of(inner, sampled, (), ranks, literal=literal, level=level + 1)
    rows = np.broadcast_to(edges, (ranks, count + 1))
    loop = AgreedLoop(count, rows, (), f"found by the signal {part.name}", 1.0, {}, IterationEvidence.SIGNALS)
    return LoopNode(loop, level, number, inside=tuple(inside))


def _edges(part: RunSignal, piece: RunSignal, period: float, count: int) -> np.ndarray:
    """Return begins and ends of `count` periods in the middle of a part, in samples of the piece around it, (count +
    1,)."""
    before = (part.begin_ns - piece.begin_ns) / part.width_ns
    whole = min(count * period, len(piece.values))
    first = min(max(before + (len(part.values) - whole) / 2, 0), len(piece.values) - whole)
    return np.linspace(first, first + whole, count + 1)


def _without_others(edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return edges of periods, without periods at both ends that are not like the next one inside."""
    bins = np.linspace(edges[0], edges[-1], (len(edges) - 1) * BINS + 1)
    sums = np.interp(bins, np.arange(len(values) + 1), np.concatenate([[0.0], np.cumsum(values)]))
    periods = np.diff(sums).reshape(-1, BINS)
    next_one = alike(periods[:-1], periods[1:], 1)
    like = np.flatnonzero(next_one > max(min(LEAST, UNLIKE * float(np.median(next_one))), 0.0))
    return edges[like[0] : like[-1] + 3] if len(like) else edges[:1]


def _to_calm(edges: np.ndarray, number: int, values: np.ndarray, room: tuple[int, int]) -> int:
    """Return by how much edges must move, inside their room, so that a period begins and ends where the signal is calm.

    Calm is where it changes least: the repeated part inside is then not cut in two.
    """
    most = round(CALM * (edges[1] - edges[0]))
    width = most // 4
    if width < 1:
        return 0
    back, forth = max(int(edges[0]) - room[0], 0), max(int(room[1] - edges[-1]), 0)
    change = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(values, prepend=values[0])))])
    moves = np.arange(-min(most, back), min(most, forth) + 1)
    at = (np.rint(edges[number : number + 2]).astype(np.int64)[:, None] + moves).clip(width, len(values) - width)
    around = change[at + width] - change[at - width]
    least = around.sum(axis=0)
    calm = moves[least <= least.min() + 1e-9 * change[-1]]
    return int(calm[np.abs(calm).argmin()])
