"""The structure of a run: its loops on all levels, and what each part of it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.events import recorded
from analyzer.structure.iterations import IterationEvidence, Iterations, mean_lengths
from analyzer.structure.levels.agreed_loops import Sequences, whole
from analyzer.structure.levels.by_signals import chosen, metric_of, nodes_of
from analyzer.structure.levels.loop_tree import DEEPEST, LoopNode, tree
from analyzer.structure.levels.parts import PartCost, PartKind, RunPart, Structure, spent
from analyzer.structure.perturbations import PerturbedTime, disturbing, times_of
from analyzer.structure.signals import RunSignal, signals
from analyzer.structure.signals.from_calls import BURSTS, COLLECTIVE, COMPUTING, MESSAGES, steps_of
from analyzer.trace import Losses, State, Trace, TracerTime

SLIVER = 0.005
"""A part shorter than this share of the time around it is merged into the loop beside it."""
SLOW, MOST_SLOW = 1.5, 3
"""Iterations longer than SLOW times the typical one are listed, at most MOST_SLOW of them."""


class IterationMethod(Enum):
    """How iterations are found: by calls, by signals, by both, or by the rules of the thesis."""

    CALLS = "calls"  # by the sequences of calls alone
    BOTH = "both"  # by these; where they say nothing, by signals that agree
    SIGNALS = (
        "signals"  # by the steps of each rank's signals; where these say nothing, or one is named, by autocorrelation
    )
    THESIS = "thesis"  # by one signal and the rules of the thesis (Casas 2009, section 3.6.1) alone


DEFAULT_SIGNALS = (BURSTS, COMPUTING, MESSAGES, COLLECTIVE)
"""Signals that are examined by default, the most dependable first (Casas 2009, section 3.7.2)."""


def structure(
    trace: Trace, team: Team, method: IterationMethod = IterationMethod.BOTH, named: Sequence[str] = ()
) -> Structure:
    """Find the structure of a run. Collective over the team.

    Args:
        trace: The run.
        team: Processes that share the work.
        method: How iterations are found.
        named: Names of the signals that are examined. (): DEFAULT_SIGNALS.
    """
    names = named or DEFAULT_SIGNALS
    ranks, flushed = _readable(trace, team), _flushes(trace, team)
    if method is IterationMethod.CALLS:
        return _structure(trace, team, _by_calls(trace, team, ranks, flushed), ranks, flushed)
    disturb = tuple(disturbing(trace, team))
    disturbed = times_of(disturb, trace.duration_ns)
    found = signals(trace, team, names)

    def sampled(begin: int, end: int, samples: int) -> RunSignal:
        return signals(trace, team, names[:1], samples=samples, begin_ns=begin, end_ns=end)[names[0]]

    nodes: list[LoopNode] = []
    if method is IterationMethod.BOTH or (method is IterationMethod.SIGNALS and not named):
        sequences = (
            Sequences(trace)
            if method is IterationMethod.BOTH
            else Sequences(trace, read=steps_of, source=IterationEvidence.SIGNALS)
        )
        nodes = tree(sequences, whole(sequences, ranks), team, _with_times(flushed, disturbed))
    taken = None if nodes or method is IterationMethod.THESIS else chosen(list(found.values()), disturbed)
    if method in (IterationMethod.SIGNALS, IterationMethod.THESIS):
        taken = taken or found[names[0]]
    if not nodes and taken is not None:
        names = [taken.name]
        nodes = nodes_of(taken, sampled, disturbed, trace.size, literal=method is IterationMethod.THESIS)
    main = max(nodes, key=lambda node: node.loop.end_ns - node.loop.begin_ns, default=None)
    begin, end = (main.loop.begin_ns, main.loop.end_ns) if main else (0, trace.duration_ns)
    metrics = tuple(metric_of(one, begin, end, disturbed) for one in found.values())
    if nodes:  # before and after all loops, MPI_Init and what is alike disturb nothing that is compared
        first, last = min(node.loop.begin_ns for node in nodes), max(node.loop.end_ns for node in nodes)
        disturbed = [one for one in disturbed if one.begin_ns < last and one.end_ns > first]
    known = _structure(trace, team, nodes, ranks, flushed)
    return replace(
        known, metrics=metrics, perturbed=tuple(disturbed), signals=tuple(found.values()), disturbing=disturb
    )


def main_loop(trace: Trace, team: Team, *, by_signals: bool = False) -> RunPart | None:
    """Find the main loop as `structure` does, without its costs and the loops inside it. Collective over the team.

    Args:
        trace: The run.
        team: Processes that share the work.
        by_signals: Whether to use signals if the calls show no loop, as IterationMethod.BOTH does.

    Returns:
        The main loop. None: there is none.
    """
    nodes = _by_calls(trace, team, _readable(trace, team), _flushes(trace, team), deepest=1)
    if not nodes and by_signals:
        return structure(trace, team).main
    parts = _Plan(trace.duration_ns, nodes).parts(_NoCosts())
    return Structure(str(trace.path), trace.size, trace.duration_ns, tuple(parts), 0.0).main


def all_loops(trace: Trace, team: Team) -> list[RunPart]:
    """Find all loops as `structure` does, but without their costs. Collective over the team.

    Returns:
        The loops in the order of Structure.loops.
    """
    ranks, flushed = _readable(trace, team), _flushes(trace, team)
    disturbed = times_of(disturbing(trace, team), trace.duration_ns)
    nodes = _by_calls(trace, team, ranks, _with_times(flushed, disturbed))
    if not nodes:
        return structure(trace, team).loops
    parts = _Plan(trace.duration_ns, nodes).parts(_NoCosts())
    return Structure(str(trace.path), trace.size, trace.duration_ns, tuple(parts), 0.0).loops


def _with_times(flushed: np.ndarray, disturbed: Sequence[PerturbedTime]) -> np.ndarray:
    """Append the perturbed times to the flushes: begins and ends, int64 (n, 2), ns."""
    times = np.array([(one.begin_ns, one.end_ns) for one in disturbed], np.int64).reshape(-1, 2)
    return np.concatenate([flushed, times])


def _readable(trace: Trace, team: Team) -> list[int]:
    """Return the ranks of this process that could be read."""
    missing = set(trace.extra(Losses).missing)
    return [rank for rank in trace.share(team) if rank not in missing]


def _by_calls(
    trace: Trace, team: Team, ranks: Sequence[int], disturbed: np.ndarray, deepest: int = DEEPEST
) -> list[LoopNode]:
    sequences = Sequences(trace)
    return tree(sequences, whole(sequences, ranks), team, disturbed, deepest=deepest)


def _structure(
    trace: Trace, team: Team, nodes: Sequence[LoopNode], ranks: Sequence[int], flushed: np.ndarray
) -> Structure:
    plan = _Plan(trace.duration_ns, nodes)
    costs = _Costs(trace, team, plan.times(), ranks, flushed)
    agreement = max((node.loop.agreement for node in nodes), default=0.0)
    return Structure(str(trace.path), trace.size, trace.duration_ns, tuple(plan.parts(costs)), agreement)


def structure_of_signal(signal: RunSignal, file: str, *, literal: bool = False) -> Structure:
    """Find the structure of a signal alone, without a trace.

    Args:
        signal: Values over time.
        file: Name for the structure.
        literal: Whether to use only the rules of the thesis (Casas 2009, section 3.6.1).
    """
    duration = len(signal.values) * signal.width_ns

    def sampled(begin: int, end: int, samples: int) -> RunSignal:
        return signal.part(begin, end)

    plan = _Plan(duration, nodes_of(signal, sampled, (), 1, literal=literal))
    metrics = (metric_of(signal, 0, duration),)
    return Structure(file, 1, duration, tuple(plan.parts(_NoCosts())), 1.0, metrics, signals=(signal,))


def _flushes(trace: Trace, team: Team) -> np.ndarray:
    """Return begins and ends of the flushes of all ranks, int64 (n, 2) ns, sorted by begin.

    The flush that closes a rank's file is left out.
    """
    mine = [np.zeros((0, 2), np.int64)]
    for rank in trace.share(team):
        rows = trace.extra(TracerTime).flushes(rank)
        rows = rows[(rows["state"] == State.IO) & (rows["end"] < trace.span(rank)[1])]
        mine.append(np.stack([rows["begin"], rows["end"]], axis=1))
    every = np.concatenate(team.allgather(np.concatenate(mine)))
    return every[np.argsort(every[:, 0], kind="stable")]


class _Plan:
    """Parts of a run before their costs are known."""

    def __init__(self, duration_ns: int, nodes: Sequence[LoopNode]) -> None:
        self._duration, self._nodes = duration_ns, nodes

    def times(self) -> np.ndarray:
        """Return all begins and ends of parts and of typical iterations, int64 (n,), in order."""
        found = {0, self._duration}
        for top in self._nodes:
            for node in top.walk():
                found |= {*_bounds(node), *_typical(node)}
        return np.array(sorted(found), np.int64)

    def parts(self, costs: _NoCosts) -> list[RunPart]:
        """Return all parts of level 1."""
        return _around(self._nodes, 0, self._duration, 1, costs)


def _bounds(node: LoopNode) -> tuple[int, int]:
    return node.loop.begin_ns, node.loop.end_ns


def _typical(node: LoopNode) -> tuple[int, int]:
    """Return the span of the typical iteration over all ranks, ns."""
    known, number = node.loop.edges[:, 0] >= 0, node.representative
    return int(node.loop.edges[known, number].min()), int(node.loop.edges[known, number + 1].max())


def _around(nodes: Sequence[LoopNode], begin: int, end: int, level: int, costs: _NoCosts) -> list[RunPart]:
    """Return the loops between two times, and what comes before, between and after them."""
    found: list[RunPart] = []
    at, least = begin, SLIVER * (end - begin)
    for number, node in enumerate(nodes):
        first, last = _bounds(node)
        first, last = max(first, at), min(last, end)
        following = min(_bounds(nodes[number + 1])[0], end) if number + 1 < len(nodes) else end
        last = following if abs(following - last) < least else last
        if first - at < least:
            first = at
        if first > at:
            kind = PartKind.BETWEEN if number or level > 1 else PartKind.INITIALISATION
            found.append(RunPart(kind, level, at, first, costs.between(at, first)))
        found.append(_loop(node, first, last, costs))
        at = last
    if at < end:
        kind = PartKind.FINAL if nodes and level == 1 else PartKind.BETWEEN
        found.append(RunPart(kind, level, at, end, costs.between(at, end)))
    return found


def _loop(node: LoopNode, begin: int, end: int, costs: _NoCosts) -> RunPart:
    loop = node.loop
    lengths = mean_lengths(loop.edges)
    period = round(float(np.median(lengths)))
    iterations = Iterations(node.level, loop.edges, period, loop.body, loop.source)
    inside: list[RunPart] = []
    if node.inside:
        inside = _around(node.inside, *_typical(node), node.level + 1, costs)
    worst = np.argsort(-lengths, kind="stable")[:MOST_SLOW]
    slow = [(int(k) + 1, float(lengths[k] / period)) for k in worst if period and lengths[k] >= SLOW * period]
    return RunPart(
        PartKind.LOOP,
        node.level,
        begin,
        end,
        costs.between(begin, end),
        iterations,
        loop.every,
        node.fewest,
        node.most,
        node.total,
        tuple(slow),
        node.representative,
        loop.tasks,
        loop.share,
        tuple(inside),
    )


class _NoCosts:
    """Costs of parts when there is no trace: they have no ranks."""

    def between(self, begin: int, end: int) -> PartCost:
        """Return a cost that has only the length of the part."""
        return PartCost(end - begin, np.zeros(0, np.int64), np.zeros(0, np.int64))


class _Costs(_NoCosts):
    """Costs of parts that begin and end at times known in advance."""

    def __init__(self, trace: Trace, team: Team, times: np.ndarray, ranks: Sequence[int], flushed: np.ndarray) -> None:
        mine = {rank: spent(trace, rank, times) for rank in ranks}
        every = {rank: sums for part in team.allgather(mine) for rank, sums in part.items()}
        self._times = times
        self._sums = np.array([every[rank] for rank in sorted(every)]).reshape(len(every), 3, len(times))
        self._flushed = flushed

    def between(self, begin: int, end: int) -> PartCost:
        """Return the cost between two of these times, for all ranks."""
        first, last = np.searchsorted(self._times, (begin, end))
        difference = self._sums[:, :, last] - self._sums[:, :, first]
        useful, mpi, lost = difference.T
        low, high = np.clip(self._flushed, begin, end).T
        return PartCost(end - begin, useful, mpi, int(lost.min(initial=end - begin)), int((high - low).sum()))


def iterations(trace: Trace, team: Team, level: int = 1, *, by_signals: bool = False) -> Iterations | None:
    """Find the iterations of a loop of a level. Collective over the team.

    Level 1 is the main loop, level 2 the longest loop inside its typical iteration, and so on. If the trace itself
    stores
    its iterations, these are level 1.

    Args:
        trace: The run.
        team: Processes that share the work.
        level: Level of the loop, from 1.
        by_signals: Whether to use signals if the calls show no loop.

    Returns:
        The iterations. None: there is no such loop.
    """
    if level == 1 and (known := recorded(trace, team)):
        return known
    part = main_loop(trace, team, by_signals=by_signals) if level == 1 else next(iter(all_loops(trace, team)), None)
    for _ in range(level - 1):
        inner = [one for one in part.inside if one.iterations] if part else []
        part = max(inner, key=lambda one: one.span_ns, default=None)
    return part.iterations if part else None


def numbered_loops(trace: Trace, team: Team) -> list[Iterations]:
    """Find the iterations of all loops, in the order in which `analyze structure` numbers them. Collective.

    If the trace itself stores the iterations of the first loop, these are used.
    """
    found = [part.iterations for part in all_loops(trace, team) if part.iterations]
    known = recorded(trace, team)
    return [known, *found[1:]] if known else found
