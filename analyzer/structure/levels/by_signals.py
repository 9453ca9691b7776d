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
from analyzer.structure.period.representative import representative
from analyzer.structure.period.thesis import literal_period
from analyzer.structure.perturbed.perturbed import Perturbed
from analyzer.structure.phase.wavelet import active
from analyzer.structure.signals import Signal

INSIDE = 1 << 13
"""Samples of one iteration, in which inner loops are looked for."""
SAME = 0.05
"""Signals whose periods differ by less than this share say the same."""
LEAST_TIME = 0.03
"""A loop that takes a smaller share of the time than this is left out, as one that is found by calls."""
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
            node = _node(part, sampled, ranks, literal=literal, level=level)
            if node is not None:
                found.append(node)
    return found


def metric_of(signal: Signal, begin_ns: int, end_ns: int) -> Metric:
    """The period of a signal between two times."""
    part = signal.part(begin_ns, end_ns)
    found = period_of(part.values)
    if found is None:
        return Metric(signal.name, None, 1, 0.0)
    period = found.samples * part.width_ns
    return Metric(signal.name, period, round((end_ns - begin_ns) / period), found.correlation)


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
    """The signal between its perturbed times."""
    at, found = signal.begin_ns, []
    end = signal.begin_ns + len(signal.values) * signal.width_ns
    for one in sorted(disturbed, key=lambda one: one.begin_ns):
        if one.begin_ns > at:
            found.append(signal.part(at, one.begin_ns))
        at = max(at, one.end_ns)
    return [*found, signal.part(at, end)] if at < end else found


def _phases(piece: Signal, *, literal: bool) -> list[Signal]:
    """The parts of highest frequency; all of it where they have no period and it has."""
    cut = active(piece.values, literal=literal).tolist()
    parts = [
        Signal(piece.name, piece.begin_ns + first * piece.width_ns, piece.width_ns, piece.values[first:last])
        for first, last in cut
    ]
    if literal or any(period_of(part.values) for part in parts):
        return parts
    return [piece]


def _node(part: Signal, sampled: Sampled, ranks: int, *, literal: bool, level: int) -> Node | None:
    period = _period(part.values, literal=literal)
    if period is None:
        return None
    length = len(part.values)
    count = round(length / period)
    if not 2 <= count <= MOST_EDGES:
        return None
    edges = part.begin_ns + np.rint(np.linspace(0, length, count + 1) * part.width_ns).astype(np.int64)
    start = representative(part.values, period, literal=literal)
    number = min(max(round(start / period), 0), count - 1)
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
