"""Makes the simulator's program of a trace: the operations of all its ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from analyzer.metrics.eager import shown_eager_limit
from analyzer.operations.bursts import is_any_measured
from analyzer.operations.virtual import VirtualThreads
from analyzer.operations.walk import RankOperations
from analyzer.parallel import Team
from analyzer.program.files import gathered, together
from analyzer.program.model import LeftOut, Program
from analyzer.program.operation import OperationFlag
from analyzer.program.storage import OperationSpill
from analyzer.trace import Leftovers, Trace

_TOGETHER = 256
"""Number of ranks whose rows are read together, if the kernel can read all of them."""


def program_of(
    trace: Trace,
    team: Team | None = None,
    *,
    cpu_time: bool = True,
    virtual: bool = True,
    buffered: bool = False,
    everywhere: bool = True,
) -> Program:
    """Translate a trace into a program: the operations of all its ranks, rank after rank.

    Each thread of a rank is a stream. The operations of a long run lie in a temporary file without a name. A Dimemas
    trace already is a program, which is returned.

    The communicators of the program are: number 0 the world; number k + 1 the communicator with index k in the trace;
    then, if the run has fences, one for each of Objects.known, for the RMA windows; then once more the communicators in
    which files were opened, because calls on files are in no order with other calls. Intercommunicators have no members
    here, because no operation names them.

    Args:
        trace: The trace.
        team: Processes that share the ranks; all of them must call this function. None: this process alone.
        cpu_time: Make bursts as long as their CPU time, if it was measured.
        virtual: Share the bursts in regions that stand for several threads among as many virtual threads.
        buffered: Also find the size up to which MPI_Send does not wait.
        everywhere: Give the whole program to each member. False: only to the first; other members get one without
            operations.

    Raises:
        TracelibError: On all members, if one of them cannot read its ranks.
    """
    if trace.program is not None:
        return trace.program
    team = team or Team()
    program = SharedProgram.translate(trace, team, cpu_time=cpu_time, virtual=virtual).whole(everywhere=everywhere)
    return replace(program, buffered=shown_eager_limit(trace, team)) if buffered else program


@dataclass(frozen=True)
class SharedProgram:
    """Program of a trace in parts: each member of a team has the operations of its own ranks."""

    trace: Trace
    team: Team
    communicators: tuple[tuple[int, ...], ...]
    cpu_time: bool
    _mine: _Translated

    @classmethod
    def translate(cls, trace: Trace, team: Team, *, cpu_time: bool, virtual: bool) -> SharedProgram:
        """Translate this member's ranks. Arguments are as in `program_of`.

        All members of the team must call this method.

        Raises:
            TracelibError: On all members, if one of them cannot read its ranks.
        """
        trace.extra(Leftovers).leave_out()
        walk = RankOperations(trace, cpu_time=cpu_time, by_thread=True)
        mine = together(team, lambda: _Translated.translate(trace, walk, trace.share(team), virtual=virtual))
        groups = [c.members if not c.remote else () for c in trace.communicators]
        communicators = (tuple(range(trace.size)), *groups, *walk.windows, *walk.files)
        return cls(trace, team, communicators, cpu_time and is_any_measured(trace), mine)

    def own(self) -> Program:
        """Return a program with the operations of this member's ranks only.

        All members of the team must call this method.

        Raises:
            TracelibError: On all members, if one of them has no room for its operations.
        """
        return together(self.team, lambda: self._program(self._mine, self._mine.spill, self.trace.share(self.team)))

    def whole(self, *, everywhere: bool) -> Program:
        """Return the program with the operations of all ranks.

        All members of the team must call this method.

        Args:
            everywhere: Give all operations to each member. False: only to the first; other members get none.

        Raises:
            TracelibError: On all members, if one of them has no room for the operations.
        """
        spill = gathered(self._mine.spill, self.team, everywhere=everywhere)
        return self._program(_Translated.joined(self._mine, self.team), spill, range(self.trace.size))

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the calls of all ranks whose data no network moves in the replay.

        All members of the team must call this method.
        """
        return _left_out(self.trace.procedures, np.sum(self.team.allgather(self._mine.left_out), axis=0))

    def _program(self, translated: _Translated, spill: OperationSpill, ranks: range) -> Program:
        threads = translated.threads
        return Program(
            ops=spill.operations(),
            offsets=np.concatenate([[0], np.cumsum(translated.lengths)]).astype(np.int64),
            rank=np.repeat(np.arange(ranks.start, ranks.stop, dtype=np.int32), threads),
            thread=np.concatenate([np.zeros(0, np.int32), *(np.arange(n, dtype=np.int32) for n in threads)]),
            slots=np.array(translated.slots, np.int32),
            shared_slots=np.array(translated.shared, np.int32) if any(translated.shared) else None,
            communicators=self.communicators,
            ranks=self.trace.size,
            name=Path(self.trace.path).name,
            cpu_time=self.cpu_time,
            left_out=_left_out(self.trace.procedures, translated.left_out),
        )


@dataclass(frozen=True)
class _Translated:
    """Operations of some ranks, and the numbers that describe their streams.

    lengths: number of operations of each stream. slots: requests that a stream has open at once. threads: number of
    streams of each rank. shared: for each rank, open requests that another thread completes.
    """

    spill: OperationSpill
    lengths: list[int]
    slots: list[int]
    threads: list[int]
    shared: list[int]
    left_out: np.ndarray  # int64 (2, procedures): number of calls whose data no network moves, and ns in them

    @classmethod
    def translate(cls, trace: Trace, walk: RankOperations, ranks: range, *, virtual: bool) -> _Translated:
        found = cls(OperationSpill(), [], [], [], [], walk.left_out)
        for first in range(ranks.start, ranks.stop, _TOGETHER):
            some = range(first, min(first + _TOGETHER, ranks.stop))
            counts, slots = walk.append_ranks(found.spill, some)
            found._add(counts.tolist(), slots.tolist(), [1] * len(counts), [0] * len(counts))
            for rank in some[len(counts) :]:
                shares = VirtualThreads(trace, rank) if virtual else None
                lengths, open_requests = _streams(walk, rank, shares, found.spill)
                found._add(lengths, open_requests, [len(lengths)], [walk.shared_slots])
        return found

    @classmethod
    def joined(cls, mine: _Translated, team: Team) -> _Translated:
        """Join the counts of all members, but not their operations. All members must call this method."""
        every = team.allgather((mine.lengths, mine.slots, mine.threads, mine.shared))
        lengths, slots, threads, shared = ([n for part in column for n in part] for column in zip(*every, strict=True))
        return cls(mine.spill, lengths, slots, threads, shared, np.sum(team.allgather(mine.left_out), axis=0))

    def _add(self, lengths: list[int], slots: list[int], threads: list[int], shared: list[int]) -> None:
        self.lengths.extend(lengths)
        self.slots.extend(slots)
        self.threads.extend(threads)
        self.shared.extend(shared)


def _left_out(procedures: Sequence[str], counts: np.ndarray) -> tuple[LeftOut, ...]:
    """List the calls whose data no network moves, the longest time first. `counts` has calls and ns by procedure."""
    rows = zip(procedures, *counts.tolist(), strict=True)
    found = [LeftOut(name, calls, ns) for name, calls, ns in rows if calls]
    return tuple(sorted(found, key=lambda row: (-row.time_ns, row.procedure)))


def _streams(
    walk: RankOperations, rank: int, shares: VirtualThreads | None, spill: OperationSpill
) -> tuple[list[int], list[int]]:
    """Append the operations of a rank, thread after thread.

    Returns:
        For each thread the number of operations, and the number of requests that it has open at once.
    """
    spill.begin_stream()
    if not (shares and shares.are_any) and (count := walk.append_to(spill, rank)) is not None:
        return [count], [walk.slots]
    length = 0
    requests, others = [_Requests()], list[OperationSpill]()
    for block in walk.of(rank):
        if walk.threads == 1:
            length += spill.append(shares.share_out(block) if shares else block)
            continue
        while len(requests) < walk.threads:
            requests.append(_Requests())
            others.append(OperationSpill())
        for thread, mine in _by_thread(block):
            mine["block"] = 0
            requests[thread].number(mine)
            if thread:
                others[thread - 1].append(mine)
            else:
                length += spill.append(shares.share_out(mine) if shares else mine)
    if walk.threads == 1:
        return [length], [walk.slots]
    lengths = [length]
    for other in others:
        spill.begin_stream()
        lengths.append(sum(spill.append(piece) for piece in other.packed().pieces()))
    return lengths, [of_thread.count for of_thread in requests]


def _by_thread(block: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the number of each thread that has operations (OP) in a block, ascending, and its operations in order."""
    ordered = block[np.argsort(block["block"], kind="stable")]
    threads, first = np.unique(ordered["block"], return_index=True)
    ends = [*first[1:].tolist(), len(ordered)]
    for thread, begin, end in zip(threads.tolist(), first.tolist(), ends[: len(threads)], strict=True):
        yield thread, ordered[begin:end]


class _Requests:
    """New numbers, from 0 on, for the requests of one thread.

    A rank numbers the requests of all its threads together. With these numbers, each thread would need room for all of
    them.
    """

    def __init__(self) -> None:
        self._number: dict[int, int] = {}

    @property
    def count(self) -> int:
        """Number of different requests so far."""
        return len(self._number)

    def number(self, ops: np.ndarray) -> None:
        """Renumber the requests of the thread's next operations (OP), in place."""
        own = (ops["request"] >= 0) & (ops["flags"] & OperationFlag.SHARED == 0)
        of_rank, which = np.unique(ops["request"][own], return_inverse=True)
        new = [self._number.setdefault(number, len(self._number)) for number in of_rank.tolist()]
        ops["request"][own] = np.array(new, ops["request"].dtype)[which]
