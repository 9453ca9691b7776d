"""Replay on the ideal network, where ranks only wait for each other. The processes of a team share the ranks.

A rank needs to know of other ranks only what it waits for. So each process lets its own ranks go on as far as possible,
and tells the other processes what their ranks wait for. The simulator (`simulate`) gives the same times, but uses one
process and goes in order of time. These times are T_ideal of the spec ("Speedup model", sections 3.1 and 4.2.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count
from typing import Any

import numpy as np

from analyzer._replay import ffi, lib
from analyzer.parallel import Team
from analyzer.program.model import Program
from analyzer.program.operation import dtype_of
from analyzer.replay.c_program import KeptMemory, fill_program
from analyzer.replay.simulate import TIME

TOLD = dtype_of("told")
"""Fact that one process sends to another: `struct told` in csrc/replay/ideal/ideal.h."""

_NO_LIMIT = 1 << 62
"""Eager limit in bytes that no message reaches."""
_NOTHING = np.zeros(0, TOLD)

AT_ONCE = 1 << 20
"""Largest number of operations that a process makes between two meetings (exchanges with the other processes)."""
TRIAL = 64
"""Number of meetings between two checks whether sharing the ranks is worth it."""
WORTH = 5000
"""Number of operations that one process makes in the time of a meeting.

If all processes together make fewer in a meeting on average, one process alone is faster.
"""


@dataclass(frozen=True)
class IdealTimes:
    """Times of a run on the ideal network, ns."""

    end_ns: int
    most_computing_ns: int  # longest computing time of a rank
    times: np.ndarray | None  # TIME: times of the operations of this member's ranks; None: not asked for


class FallbackReason(Enum):
    """Reason why the replay must be made in another way: by the simulator, or in one process."""

    TO_SIMULATOR = "the program has more than ranks of one thread each that wait for each other, or an error"
    TO_ONE_PROCESS = "members would meet too often"


def ideal_times(own: Program, team: Team, eager_limit: int, *, times: bool = False) -> IdealTimes | FallbackReason:
    """Replay a program on the ideal network. Each member of the team has some neighbouring ranks, in order of members.

    All members of the team must call this function.

    Args:
        own: Program with the streams of this member's ranks and the communicators of all ranks.
        team: Processes that share the ranks.
        eager_limit: Size in bytes from which on a send waits for its receive.
        times: Also return the times of the operations of this member's ranks.

    Returns:
        The times, or why the replay must be made in another way.
    """
    first = _first_ranks(own, team)
    if first is None:
        return FallbackReason.TO_SIMULATOR
    replay = _Replay(own, first, team, eager_limit, times=times)
    told = _NOTHING
    for meetings in count(1):
        telling, counts, state = replay.go_on(told)
        told, states = team.exchange(telling, counts, state)
        failed, goes_on, operations = states.sum(axis=0).tolist()
        if failed:
            return FallbackReason.TO_SIMULATOR
        if meetings % TRIAL == 0 and team.size > 1 and operations < WORTH * meetings:
            return FallbackReason.TO_ONE_PROCESS
        if not goes_on:
            break
    found = team.allgather((replay.unfinished, replay.end_ns, replay.most_computing_ns))
    if any(unfinished for unfinished, *_ in found):
        return FallbackReason.TO_SIMULATOR
    return IdealTimes(max(end for _, end, _ in found), max(most for *_, most in found), replay.times)


def _first_ranks(own: Program, team: Team) -> list[int] | None:
    """Return the first rank of each member, and the number of ranks.

    None: some ranks do not have one stream each, or the ranks are not in order of members.
    """
    alone = (
        own.shared_slots is None
        and not own.most_virtual_threads()
        and not own.thread.any()
        and bool((np.diff(own.rank) == 1).all())
    )
    said = team.allgather((alone, len(own.rank), int(own.rank[0]) if len(own.rank) else -1))
    firsts = np.cumsum([0, *(count for _, count, _ in said)]).tolist()
    in_order = all(first in (-1, begin) for (_, _, first), begin in zip(said, firsts, strict=False))
    return firsts if all(alone for alone, *_ in said) and in_order and firsts[-1] == own.ranks else None


class _Replay:
    """Replay of the ranks of this process."""

    def __init__(self, own: Program, first: Sequence[int], team: Team, eager_limit: int, *, times: bool) -> None:
        self._keep = KeptMemory()
        program = self._keep.new("struct program *")
        fill_program(self._keep, program, own, [0] * own.ranks, buffers=False)
        self.times = np.zeros(len(own.ops), TIME) if times else None
        firsts = self._keep.pointer(np.array(first, np.int32), "int32_t *")
        at = ffi.NULL if self.times is None else self._keep.pointer(self.times, "struct op_time *")
        limit = min(eager_limit, _NO_LIMIT)
        self._ideal = ffi.gc(lib.ideal_new(program, firsts, team.size, team.rank, limit, at), lib.ideal_free)
        self._state: Any = ffi.new("struct ideal_state *")
        self._members = team.size

    def go_on(self, told: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take in the facts (TOLD) from other processes, and let the own ranks go on.

        Returns:
            The facts for other processes, ordered by process. The number of facts for each process. Three numbers:
            whether the replay failed, whether it goes on, and how many operations were made.
        """
        given = ffi.cast("struct told *", ffi.from_buffer(told)) if len(told) else ffi.NULL
        answer = lib.IDEAL_NO_MEMORY
        if self._ideal:
            answer = lib.ideal_go_on(self._ideal, given, len(told), AT_ONCE, self._state)
        n = self._state.n_telling
        telling = np.frombuffer(ffi.buffer(self._state.telling, n * TOLD.itemsize), TOLD) if n else _NOTHING
        whom = telling["process"]
        counts = np.bincount(whom, minlength=self._members)
        state = np.array([answer != lib.IDEAL_OK, self._state.goes_on or n > 0, self._state.operations], np.int64)
        return telling[np.argsort(whom, kind="stable")], counts, state

    @property
    def unfinished(self) -> int:
        return self._state.unfinished

    @property
    def end_ns(self) -> int:
        return self._state.end

    @property
    def most_computing_ns(self) -> int:
        return self._state.most_computing
