"""The loops that most ranks have. Loops are found for each rank by itself; then the ranks vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass, replace

import numpy as np

from analyzer.parallel import Team
from analyzer.structure.calls.loops import SequenceLoop
from analyzer.structure.calls.sequence import Sequence, SymbolDetail, names_of, sequence_of
from analyzer.structure.iterations import IterationEvidence, TaskPasses
from analyzer.structure.levels.each_rank import RankStretch, RankStretches, edges_of, loops_of_each
from analyzer.structure.levels.iteration_text import body_of, typical_pass
from analyzer.trace import Trace
from tracelib.schema.procedures import (
    IMMEDIATE_RECEIVES,
    IMMEDIATE_SENDS,
    POINT_TO_POINT,
    RECEIVES,
    SEND_RECEIVES,
    SENDS,
    base_name,
)

SENDING, RECEIVING = SENDS | IMMEDIATE_SENDS | SEND_RECEIVES, RECEIVES | IMMEDIATE_RECEIVES | SEND_RECEIVES
"""Procedures that send, and procedures that receive, point to point."""
MOST_KEPT = 1 << 21
"""Largest number of calls whose sequences are kept in memory; sequences of further ranks are read again."""
NEAR = 0.02
"""Two ranks mean the same loop if their numbers of passes differ by at most this share, or by one."""
MOST_AT_ONCE = 1 << 20
"""Largest number of values of which medians are computed at once, which bounds the memory."""
IN_COMMON = 0.5
"""Parts of a pass stay one pass if they differ by at least this share on all ranks together.

The share is of the differences on single ranks. Where ranks take turns to compute long, all ranks together compute
alike in each part, and the parts are passes of their own."""
MAJORITY = 0.5
"""A loop is accepted if more than this share of the ranks that make calls have it."""

Reads = Callable[[Trace, int, int, int | None], Sequence]
"""Function that reads the sequence of a rank of a trace between two times in ns. None: to the end."""


class Sequences:
    """Sequences of calls of the ranks of a trace, which are read when they are needed."""

    def __init__(
        self,
        trace: Trace,
        begin_ns: int = 0,
        read: Reads = sequence_of,
        source: IterationEvidence = IterationEvidence.CALLS,
    ) -> None:
        """Prepare the reading of sequences.

        Args:
            trace: The trace.
            begin_ns: Only calls that were entered from this time on are read.
            read: Function that reads a sequence.
            source: Name of what the sequences are made of.
        """
        self.trace, self.source, self._begin, self._read = trace, source, begin_ns, read
        self._kept: dict[int, Sequence] = {}
        self._calls = 0
        self._lengths: dict[int, int] = {}

    def __getitem__(self, rank: int) -> Sequence:
        if rank in self._kept:
            return self._kept[rank]
        found = self._read(self.trace, rank, self._begin, None)
        self._lengths[rank] = len(found)
        if self._calls + len(found) <= MOST_KEPT:
            self._kept[rank] = found
            self._calls += len(found)
        return found

    def length(self, rank: int) -> int:
        """Return the number of calls in a rank's sequence."""
        return self._lengths[rank] if rank in self._lengths else len(self[rank])

    def around(self, rank: int, number: int, loop: SequenceLoop, edges: np.ndarray) -> tuple[Sequence, int]:
        """Return the part of a rank's sequence that holds the calls of a pass, and the index where the part begins.

        The pass before and the pass after are read, too. If times leave a doubt that these are the right calls, as
        times of damaged calls may, the whole sequence is returned, with 0.

        Args:
            rank: The rank.
            number: Number of the pass, from 0.
            loop: The loop.
            edges: Edges of the loop's iterations, ns, shape (passes + 1,).
        """
        if rank not in self._kept and 0 < number < loop.count - 1:
            first, last = loop.stretch(number - 1)[0], loop.stretch(number + 1)[1]
            some = self._read(self.trace, rank, int(edges[number - 1]), int(edges[number + 2]))
            if len(some) == last - first and _is_pass(some, loop.stretch(number), first, edges[number : number + 2]):
                return some, first
        return self[rank], 0


def _is_pass(some: Sequence, stretch: tuple[int, int], first: int, edges: np.ndarray) -> bool:
    """Return True if the begin and end of a pass are at the given edges.

    Args:
        some: Part of a sequence, which begins with call `first` of the sequence.
        stretch: First and last call of the pass, as indices into the whole sequence.
        first: Index of the first call of `some` in the whole sequence.
        edges: Begin and end of the pass, ns.
    """
    at = np.array(stretch) - first
    return bool(((some.left[at] == edges) | (some.enter[at] == edges)).all())


def whole(sequences: Sequences, ranks: Several[int]) -> RankStretches:
    """Return, for each of some ranks, the stretch that holds all of its calls. A stretch is read when it is needed."""

    def of(rank: int) -> RankStretch:
        calls = sequences[rank]
        return RankStretch(rank, calls, 0, 0, len(calls))

    return RankStretches(ranks, of)


@dataclass(frozen=True)
class AgreedLoop:
    """Loop that more than half of the ranks have.

    Attributes:
        count: Number of passes.
        edges: Begins of the passes and end of the last pass, ns, int64 (ranks, count + 1). -1: no call of the rank.
        every: Numbers n such that each n-th pass does something more.
        body: What a pass does, as text.
        agreement: Share of the ranks that make calls which have the loop with exactly this number of passes.
        own: The loop in the sequence of each rank of this process that has it.
        source: What the loop was found by.
        share: Share of a rank's calls that lie in the loop.
        tasks: Passes of ranks that are each handed their share of the passes. None: all ranks pass equally often.
    """

    count: int
    edges: np.ndarray  # int64 (ranks, count + 1) ns; -1: the rank does not have it
    every: tuple[int, ...]
    body: str
    agreement: float  # share of the ranks that make calls
    own: dict[int, SequenceLoop]  # of the ranks of this process
    source: IterationEvidence = IterationEvidence.CALLS
    share: float = 0.0  # of the calls of a rank
    tasks: TaskPasses | None = None  # of ranks that are each handed their share of the passes

    @property
    def begin_ns(self) -> int:
        """Begin of the first pass on the earliest rank, ns."""
        return int(self.edges[self.edges[:, 0] >= 0, 0].min())

    @property
    def end_ns(self) -> int:
        """End of the last pass on the latest rank, ns."""
        return int(self.edges[:, -1].max())


@dataclass(frozen=True)
class _Said:
    """Loop of one rank, in the form that is sent to other processes."""

    count: int
    begin_ns: int
    end_ns: int
    served: frozenset[int] = frozenset()  # procedures of a pass that sends to one rank and receives from it alone
    around: tuple[_Said, ...] = ()  # what it would be if what is done now and then were done around it
    tasks: TaskPasses | None = None  # of all ranks that do the same

    def each(self) -> Iterator[_Said]:
        """Yield this loop and the other forms that it may have."""
        yield self
        yield from self.around


@dataclass(frozen=True)
class _Own:
    """Loop of one rank of this process."""

    loop: SequenceLoop  # as places in the whole sequence
    said: _Said
    edges: np.ndarray  # int64 (count + 1,) ns
    typical: np.ndarray  # int32: the procedures of a pass
    around: tuple[_Own, ...] = ()  # as SequenceLoop.around

    @property
    def told(self) -> _Said:
        """Statement for other processes: this loop, and the other forms that it may have."""
        return replace(self.said, around=tuple(one.said for one in self.around))

    def each(self) -> Iterator[_Own]:
        """Yield this loop and the other forms that it may have."""
        yield self
        yield from self.around

    @classmethod
    def from_loop(cls, loop: SequenceLoop, of: RankStretch, procedures: tuple[str, ...]) -> _Own:
        """Make a loop from the calls of a stretch. `procedures` are the names from `names_of`."""
        calls = of.calls
        times = int(calls.enter[loop.begins[0]]), int(calls.exit[loop.end - 1])
        said = _Said(loop.count, *times, _served(calls, loop, procedures))
        typical = calls.call[slice(*typical_pass(loop.begins, loop.end))].copy()
        around = tuple(cls.from_loop(one, of, procedures) for one in loop.around)
        return cls(loop.shifted(of.offset), said, edges_of(calls, loop), typical, around)


@dataclass(frozen=True)
class _Found:
    """Loop of one rank of this process. If parts were grouped to passes, it also holds the loop of these parts."""

    loop: _Own
    parts: _Own | None
    stages: tuple[int, ...]  # as SequenceLoop.stages

    @classmethod
    def from_loop(cls, loop: SequenceLoop, of: RankStretch, procedures: tuple[str, ...]) -> _Found:
        parts = None if loop.parts is None else _Own.from_loop(loop.parts, of, procedures)
        return cls(_Own.from_loop(loop, of, procedures), parts, loop.stages)

    def chosen(self, common: frozenset[int]) -> _Own:
        """Return the loop of grouped passes if the size of its groups is in `common`.

        Otherwise return the loop of the parts.
        """
        return self.loop if self.parts is None or len(self.stages) in common else self.parts


def _stages_in_common(stages: Several[tuple[int, ...]], team: Team) -> frozenset[int]:
    """Return the sizes of groups whose parts differ on all ranks together, by IN_COMMON. Collective."""
    mine: dict[int, list[int]] = {}
    for times in filter(None, stages):
        sums = mine.setdefault(len(times), [0] * (len(times) + 1))
        mine[len(times)] = [total + one for total, one in zip(sums, (*times, max(times) - min(times)), strict=True)]
    every: dict[int, np.ndarray] = {}
    for part in team.allgather(mine):
        for size, sums in part.items():
            every[size] = every.get(size, 0) + np.array(sums, np.int64)
    return frozenset(size for size, (*total, differ) in every.items() if max(total) - min(total) >= IN_COMMON * differ)


def _served(calls: Sequence, loop: SequenceLoop, procedures: tuple[str, ...]) -> frozenset[int]:
    """Return the procedures of a loop that exchanges messages with one rank alone, as a worker does with its master.

    Returns:
        Numbers of the procedures. Empty: the loop is not of this kind.
    """
    part = slice(int(loop.begins[0]), loop.end)
    made = np.unique(calls.call[part])
    names = {base_name(procedures[number]) for number in made.tolist()}
    if not names <= POINT_TO_POINT or not names & SENDING or not names & RECEIVING:
        return frozenset()
    partners, places = (len(np.unique(calls.symbols[one][part])) for one in (SymbolDetail.PEER, SymbolDetail.PROCEDURE))
    return frozenset(made.tolist()) if partners == places else frozenset()


def agreed(sequences: Sequences, stretches: RankStretches, team: Team) -> list[AgreedLoop]:
    """Find the loops that more than half of the ranks have. Collective.

    Args:
        sequences: Sequences of calls.
        stretches: Stretches of the ranks of this process in which loops are searched.
        team: Processes that share the work.

    Returns:
        Loops that follow one another, in order of time.
    """
    names = names_of(sequences.trace)
    found = {
        one.rank: [_Found.from_loop(loop, one, names) for loop in loops]
        for one, loops in loops_of_each(stretches, sequences.trace.size, team)
    }
    common = _stages_in_common([one.stages for loops in found.values() for one in loops], team)
    own = {rank: [one.chosen(common) for one in loops] for rank, loops in sorted(found.items())}
    said = {rank: [one.told for one in loops] for rank, loops in own.items()}
    everybody = {rank: loops for part in team.allgather(said) for rank, loops in part.items()}
    chosen = [_agree(sequences, own, everybody, one, team) for one in _voted(everybody)]
    return sorted((one for one in chosen if one is not None), key=lambda one: one.begin_ns)


def _voted(everybody: Mapping[int, list[_Said]]) -> list[_Said]:
    """Return loops that more than half of the ranks have, each as one of these ranks has it. They do not overlap."""
    rank = np.array([rank for rank, loops in everybody.items() for _ in loops], np.int64)
    every = [one for loops in everybody.values() for one in loops]
    times = np.array([(one.begin_ns, one.end_ns) for one in every], np.int64).reshape(-1, 2)
    left, found = np.arange(len(every)), list[_Said]()
    while len(left):
        lengths = times[left, 1] - times[left, 0]
        longest = every[left[np.lexsort((times[left, 0], -lengths))[0]]]
        same = _overlap(times[left, 0], times[left, 1], longest)
        overlapping, left = left[same], left[~same]
        first = [every[k] for k in overlapping[np.unique(rank[overlapping], return_index=True)[1]].tolist()]
        chosen = _handed_out(first, len(everybody)) or _most([[one] for one in first], len(everybody))
        chosen = chosen or _most([list(one.each()) for one in first], len(everybody))
        if chosen:
            found.append(chosen)
    return found


def _most(said: Several[Several[_Said]], ranks: int) -> _Said | None:
    """Return the statement that more than half of all ranks make. None: there is none. A rank may make several."""
    votes = Counter(count for one in said for count in {each.count for each in one})

    def near(count: int) -> int:
        return sum(any(abs(each.count - count) <= max(1, NEAR * count) for each in one) for one in said)

    count = min(votes, key=lambda count: (-votes[count], -near(count), count))
    if near(count) <= MAJORITY * ranks:
        return None
    return next(each for one in said for each in one if each.count == count)


def _handed_out(said: Several[_Said], ranks: int) -> _Said | None:
    """Return the loop of ranks that are handed tasks, with the median number of passes. None: there is no such loop.

    More than half of the ranks, but not all, exchange the same messages with one rank each, and not equally often.
    """
    served = Counter(one.served for one in said if one.served)
    usual = max(served, key=lambda made: (served[made], sorted(made)), default=frozenset[int]())
    if not MAJORITY * ranks < served[usual] < ranks:
        return None
    workers = sorted((one for one in said if one.served == usual), key=lambda one: one.count)
    counts = [one.count for one in workers]
    if counts[0] == counts[-1]:
        return None
    chosen = workers[(len(workers) - 1) // 2]
    return replace(chosen, around=(), tasks=TaskPasses(counts[0], counts[-1], sum(counts)))


def _overlap(begin: np.ndarray | int, end: np.ndarray | int, other: _Said) -> np.ndarray:
    """Return a mask of the loops that overlap `other` by more than half of the shorter of the two."""
    shared = np.minimum(end, other.end_ns) - np.maximum(begin, other.begin_ns)
    return shared > 0.5 * np.minimum(end - begin, other.end_ns - other.begin_ns)


def _agree(
    sequences: Sequences,
    own: Mapping[int, list[_Own]],
    everybody: Mapping[int, list[_Said]],
    wanted: _Said,
    team: Team,
) -> AgreedLoop | None:
    """Combine the iterations of all ranks to one loop. A rank with another number of passes gets the median times."""
    mine: dict[int, SequenceLoop] = {}
    times: dict[int, np.ndarray] = {}
    names = names_of(sequences.trace)
    bodies = Counter[tuple]()  # what passes do, in words; every; share
    for rank, loops in own.items():
        possible = (one for every in loops for one in every.each())
        fits = (
            one
            for one in possible
            if one.said.count == wanted.count and _overlap(one.said.begin_ns, one.said.end_ns, wanted)
        )
        match = next(fits, None)
        if match is None:
            continue
        mine[rank], times[rank] = match.loop, match.edges
        share = float(match.loop.end - match.loop.begins[0]) / sequences.length(rank)
        bodies[body_of(names, match.typical), match.loop.every, share] += 1
    parts = team.allgather((times, bodies))
    edges = np.full((sequences.trace.size, wanted.count + 1), -1, np.int64)
    for part, _ in parts:
        for rank, row in part.items():
            edges[rank] = row
    known = edges[:, 0] >= 0
    if not known.any():
        return None
    others = [rank for rank in everybody if not known[rank]]
    if others:
        edges[others] = _usual(edges[known])
    body, every, share = _commonest([said for _, said in parts])
    agreement = float(known.sum() / len(everybody))
    return AgreedLoop(wanted.count, edges, every, body, agreement, mine, sequences.source, share, wanted.tasks)


def _commonest(parts: Several[Counter[tuple]]) -> tuple[str, tuple[int, ...], float]:
    """Find the commonest body of a loop, and the rest as the first rank with this body has it."""
    bodies = Counter[str]()
    for part in parts:
        for (body, *_), ranks in part.items():
            bodies[body] += ranks
    usual = bodies.most_common(1)[0][0]
    return next(said for part in parts for said in part if said[0] == usual)


def _usual(edges: np.ndarray) -> np.ndarray:
    """Return the median over the ranks of each edge, int64 of shape (count + 1,)."""
    parts = np.array_split(edges, 1 + edges.size // MOST_AT_ONCE, axis=1)
    return np.concatenate([np.median(part, axis=0).astype(np.int64) for part in parts])
