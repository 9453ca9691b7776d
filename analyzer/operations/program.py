"""The simulator's program of a trace: the operations of all its ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from analyzer.errors import TracelibError
from analyzer.metrics.eager import shown_eager_limit
from analyzer.operations.bursts import is_any_measured
from analyzer.operations.virtual import VirtualThreads
from analyzer.operations.walk import RankOperations
from analyzer.parallel import Team
from analyzer.program.gathered import gathered
from analyzer.program.program import Program
from analyzer.program.storage import OperationSpill
from analyzer.trace import Trace

Found = TypeVar("Found")

_TOGETHER = 256
"""Ranks whose rows are read together, if all of them can be."""


def program_of(
    trace: Trace,
    team: Team | None = None,
    *,
    cpu_time: bool = True,
    virtual: bool = True,
    buffered: bool = False,
    everywhere: bool = True,
) -> Program:
    """All operations of a trace, rank after rank; those of a long run lie in a temporary file that has no name.

    Communicator 0 is the world, k + 1 that of index k in the trace; where there are fences, windows (all of
    Objects.known) come after them. An intercommunicator has no members here: nothing
    names it. Each thread of a rank is a stream. Bursts are as long as their CPU time
    says, where it was measured and `cpu_time` is wanted. Those in regions that stand for several threads are shared by
    so many `virtual` ones. buffered: find out, too, up to which size MPI_Send does not wait. A Dimemas trace is its
    program.

    A team shares the ranks, and all its members must ask; each then has the program, or (not `everywhere`) the first
    one, and others one without operations. Raises TracelibError on all members where one cannot read its ranks.
    """
    if trace.program is not None:
        return trace.program
    team = team or Team()
    walk = RankOperations(trace, cpu_time=cpu_time, by_thread=True)
    mine = _together(team, lambda: _Translated.of(trace, walk, trace.share(team), virtual=virtual))
    every = team.allgather((mine.lengths, mine.slots, mine.threads, mine.shared))
    lengths, slots, threads, shared = ([n for part in column for n in part] for column in zip(*every, strict=True))
    groups = [c.members if not c.remote else () for c in trace.communicators]
    return Program(
        ops=gathered(mine.spill, team, everywhere=everywhere).operations(),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        rank=np.repeat(np.arange(trace.size, dtype=np.int32), threads),
        thread=np.concatenate([np.arange(n, dtype=np.int32) for n in threads]),
        slots=np.array(slots, np.int32),
        shared_slots=np.array(shared, np.int32) if any(shared) else None,
        communicators=(tuple(range(trace.size)), *groups, *walk.windows),
        ranks=trace.size,
        name=Path(trace.path).name,
        buffered=shown_eager_limit(trace, team) if buffered else -1,
        cpu_time=cpu_time and is_any_measured(trace),
    )


@dataclass(frozen=True)
class _Translated:
    """Some ranks: the operations of their streams; how many these are, and how many requests each has open; of each
    rank the number of streams, and of requests that one of them opens and another one closes."""

    spill: OperationSpill
    lengths: list[int]
    slots: list[int]
    threads: list[int]
    shared: list[int]

    @classmethod
    def of(cls, trace: Trace, walk: RankOperations, ranks: range, *, virtual: bool) -> _Translated:
        found = cls(OperationSpill(), [], [], [], [])
        for first in range(ranks.start, ranks.stop, _TOGETHER):
            some = range(first, min(first + _TOGETHER, ranks.stop))
            lengths, slots = walk.append_ranks(found.spill, some)
            found._add(lengths.tolist(), slots.tolist(), [1] * len(lengths), [0] * len(lengths))
            for rank in some[len(lengths) :]:
                shares = VirtualThreads(trace, rank) if virtual else None
                streams = _streams(walk, rank, shares, found.spill)
                found._add(streams, [walk.slots] * len(streams), [len(streams)], [walk.shared_slots])
        return found

    def _add(self, lengths: list[int], slots: list[int], threads: list[int], shared: list[int]) -> None:
        self.lengths.extend(lengths)
        self.slots.extend(slots)
        self.threads.extend(threads)
        self.shared.extend(shared)


def _together(team: Team, work: Callable[[], Found]) -> Found:
    """What each member of a team finds; where one of them fails, all fail as it did."""
    error: TracelibError | None = None
    try:
        found = work()
    except TracelibError as failed:
        error = failed
    for said in team.allgather(error):
        if said:
            raise said
    return found


def _streams(walk: RankOperations, rank: int, shares: VirtualThreads | None, spill: OperationSpill) -> list[int]:
    """Append the operations of a rank, thread after thread; returns how many each thread has."""
    spill.begin_stream()
    if not (shares and shares.are_any) and (count := walk.append_to(spill, rank)) is not None:
        return [count]
    lengths: list[int] = [0]
    others: list[OperationSpill] = []
    for block in walk.of(rank):
        of_main = block if walk.threads == 1 else block[block["block"] == 0]
        lengths[0] += spill.append(shares.share_out(of_main) if shares else of_main)
        while len(others) < walk.threads - 1:
            others.append(OperationSpill())
        for thread, other in enumerate(others, 1):
            mine = block[block["block"] == thread]
            mine["block"] = 0
            other.append(mine)
    for other in others:
        spill.begin_stream()
        lengths.append(sum(spill.append(piece) for piece in other.packed().pieces()))
    return lengths
