"""The loops of a run by its signals over time: perturbed times out, the phase by wavelets, the period by
autocorrelation, and the same again inside one representative iteration.

Source: Casas 2009, sections 3.5, 3.6 and 3.6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analyzer.structure.iterations import Source
from analyzer.structure.levels.agreed import Agreed
from analyzer.structure.levels.parts import Metric
from analyzer.structure.levels.tree import DEEPEST, Node
from analyzer.structure.period import period_of
from analyzer.structure.period.autocorrelation import LEAST, coarser
from analyzer.structure.period.representative import representative
from analyzer.structure.period.thesis import literal_period
from analyzer.structure.perturbed.morphology import runs
from analyzer.structure.perturbed.perturbed import Perturbed
from analyzer.structure.phase.wavelet import MOST_PIECES, active, levels
from analyzer.structure.signals import Signal

INSIDE = 1 << 13
"""Samples of one iteration, in which inner loops are looked for."""
SAME = 0.05
"""Signals whose periods differ by less than this share say the same."""
LEAST_TIME = 0.03
"""A loop that takes a smaller share of the time than this is left out, as one that is found by calls."""
PHASE = 1 << 13
"""Samples in which phases are looked for first."""
MORE = 1.02
"""A coarser division into phases is taken if it covers so many times as much."""
LIKE, STEPS = 0.75, 8
"""Periods in a row that correlate by a smaller share of what is usual are not both of the loop; so many places a period
are looked at."""
OVER = 0.19
"""By this share of a period stretches that are alike reach beyond each end of a loop."""
MOST_EDGES = 1 << 20
"""A period that fits more often than this is none of iterations."""

Sampled = Callable[[int, int, int], Signal]
"""The signal between two times, in so many samples."""


def nodes_of(
    signal: Signal, sampled: Sampled, disturbed: Sequence[Perturbed], ranks: int, *, literal: bool, level: int = 1
) -> list[Node]:
    """The loops of a signal by time, with those inside. literal: by the rules of the thesis alone."""
    found: list[Node] = []
    for piece in _clean(signal, disturbed):
        for part in _phases(piece, literal=literal):
            if not literal and len(part.values) < LEAST_TIME * len(signal.values):
                continue
            node = _node(part, piece, sampled, ranks, literal=literal, level=level)
            if node is not None:
                found.append(node)
    return found


def metric_of(signal: Signal, begin_ns: int, end_ns: int, disturbed: Sequence[Perturbed] = ()) -> Metric:
    """The period of a signal between two times, by the longest stretch that nothing disturbs."""
    part = undisturbed(signal, begin_ns, end_ns, disturbed)
    found = period_of(part.values)
    if found is None:
        return Metric(signal.name, None, 1, 0.0)
    period = found.samples * part.width_ns
    return Metric(signal.name, period, round((end_ns - begin_ns) / period), found.correlation)


def undisturbed(signal: Signal, begin_ns: int, end_ns: int, disturbed: Sequence[Perturbed]) -> Signal:
    """The longest stretch of a signal between two times that nothing disturbs; it may be empty."""
    whole = signal.part(begin_ns, end_ns)
    return max(_clean(whole, disturbed), key=lambda one: len(one.values), default=whole.part(begin_ns, begin_ns))


def chosen(signals: Sequence[Signal], disturbed: Sequence[Perturbed]) -> Signal | None:
    """The signal that a structure is taken from where calls say nothing: the most dependable of those with a period, if
    another one has the same period."""
    periods = [(one, _longest_period(one, disturbed)) for one in signals]
    known = [(one, period) for one, period in periods if period]
    for one, period in known:
        if sum(abs(other / period - 1) < SAME for _, other in known) > 1:
            return one
    return None


def _longest_period(signal: Signal, disturbed: Sequence[Perturbed]) -> float | None:
    best, longest = None, 0
    for piece in _clean(signal, disturbed):
        for part in _phases(piece, literal=False):
            found = period_of(part.values)
            if found is not None and len(part.values) > longest:
                best, longest = found.samples * part.width_ns, len(part.values)
    return best


def _clean(signal: Signal, disturbed: Sequence[Perturbed]) -> list[Signal]:
    """The signal between its perturbed times; what is shorter than a sample is left out."""
    at, found = signal.begin_ns, []
    end = signal.begin_ns + len(signal.values) * signal.width_ns
    for one in sorted(disturbed, key=lambda one: one.begin_ns):
        if one.begin_ns > at:
            found.append(signal.part(at, one.begin_ns))
        at = max(at, one.end_ns)
    if at < end:
        found.append(signal.part(at, end))
    return [piece for piece in found if len(piece.values)]


def _phases(piece: Signal, *, literal: bool) -> list[Signal]:
    """The parts of highest frequency. Not literal: of the finest level at which the parts with a period cover most;
    each without what comes before, between and after its periods."""
    if literal:
        return [_cut(piece, first, last) for first, last in active(piece.values, literal=True).tolist()]
    found = periodic_stretches(_coarse(piece)) or periodic_stretches(piece)
    return [piece.part(one.begin_ns, one.begin_ns + len(one.values) * one.width_ns) for one in found]


def _coarse(piece: Signal) -> Signal:
    """The same in so few samples that phases are soon found."""
    factor = -(-len(piece.values) // PHASE)
    return Signal(piece.name, piece.begin_ns, piece.width_ns * factor, coarser(piece.values, factor))


def periodic_stretches(piece: Signal) -> list[Signal]:
    """The periodic stretches of the level at which they cover most; of levels alike the finest."""
    best, most = list[Signal](), 0.0
    for cuts in (*levels(piece.values), np.array([[0, len(piece.values)]])):
        if len(cuts) > MOST_PIECES or np.diff(cuts).sum() <= MORE * most:
            continue
        parts = [part for first, last in cuts.tolist() for part in _periodic(_cut(piece, first, last))]
        covered = sum(len(part.values) for part in parts)
        if covered > MORE * most:
            best, most = parts, covered
    return best


def _cut(piece: Signal, first: int, last: int) -> Signal:
    return Signal(piece.name, piece.begin_ns + first * piece.width_ns, piece.width_ns, piece.values[first:last])


def _periodic(part: Signal) -> list[Signal]:
    """The stretches of a part in which each period is like the next one; none: it has no period."""
    found = period_of(part.values)
    if found is None:
        return []
    width = round(found.samples)
    step = max(width // STEPS, 1)
    windows = np.lib.stride_tricks.sliding_window_view(part.values, width)[::step]
    ahead = np.lib.stride_tricks.sliding_window_view(part.values[width:], width)[::step]
    alike = _alike(windows[: len(ahead)], ahead)
    stretches = runs(alike >= max(LIKE * np.quantile(alike, 0.75), LEAST)).tolist()
    over = round(OVER * width)
    ends = [(first * step, min((last - 1) * step + 2 * width, len(part.values))) for first, last in stretches]
    return [
        _cut(part, first and first + over, last if last > len(part.values) - over else last - over)
        for first, last in ends
    ]


def _alike(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The correlations of stretches, (n, samples) each, with others; 0 where one does not vary."""
    one, other = one - one.mean(axis=1, keepdims=True), other - other.mean(axis=1, keepdims=True)
    energy = np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
    return np.where(energy > 0, (one * other).sum(axis=1) / np.where(energy > 0, energy, 1), 0.0)


def _node(part: Signal, piece: Signal, sampled: Sampled, ranks: int, *, literal: bool, level: int) -> Node | None:
    period = _period(part.values, literal=literal)
    if period is None:
        return None
    length = len(part.values)
    count = round(length / period)
    if not 2 <= count <= MOST_EDGES:
        return None
    before = (part.begin_ns - piece.begin_ns) / part.width_ns
    whole = min(count * period, len(piece.values))
    first = min(max(before + (length - whole) / 2, 0), len(piece.values) - whole)
    within = np.linspace(first, first + whole, count + 1)
    edges = piece.begin_ns + np.rint(within * part.width_ns).astype(np.int64)
    start = representative(part.values, period, literal=literal)
    number = min(max(round((start + before - first) / period), 0), count - 1)
    inside: list[Node] = []
    begin, end = edges[number : number + 2].tolist()
    if level < DEEPEST and end - begin > INSIDE:
        inner = sampled(begin, end, INSIDE)
        inside = nodes_of(inner, sampled, (), ranks, literal=literal, level=level + 1)
    rows = np.broadcast_to(edges, (ranks, count + 1))
    loop = Agreed(count, rows, (), f"found by the signal {part.name}", 1.0, {}, Source.SIGNALS)
    return Node(loop, level, number, inside=tuple(inside))


def _period(values: np.ndarray, *, literal: bool) -> float | None:
    if literal:
        return literal_period(values)
    found = period_of(values)
    return found.samples if found else None
