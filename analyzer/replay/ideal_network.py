"""Replay on the ideal network, where ranks only wait for each other: shared by the processes of a team.

A rank needs to know of the others only what it waits for. So each process lets its own ranks go on as far as they can,
tells the others what their ranks wait for, and goes on with what it was told. The simulator (`simulate`) gives the same
times, for one process and in order of time; the spec's T_ideal is theirs ("Speedup model", sections 3.1 and 4.2.1).
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
"""Record that one process sends to another: csrc/replay/ideal/ideal.h."""

_NO_LIMIT = 1 << 62
"""Bytes; no message has more."""
_NOTHING = np.zeros(0, TOLD)

AT_ONCE = 1 << 20
"""Operations of a process between two meetings at most."""
TRIAL = 64
"""Meetings after which it is looked at whether sharing is worth it, and again each time as many were."""
WORTH = 5000
"""Operations of all processes between two meetings that take one process as long as to meet."""


@dataclass(frozen=True)
class IdealTimes:
    """Times that the replay found."""

    end_ns: int
    most_computing_ns: int  # of one rank
    times: np.ndarray | None  # TIME of the own operations, where they were asked for


class FallbackReason(Enum):
    """Why the replay was left to another way."""

    TO_SIMULATOR = "the program has more than ranks of one thread each that wait for each other, or an error"
    TO_ONE_PROCESS = "members would meet too often"


def ideal_times(own: Program, team: Team, eager_limit: int, *, times: bool = False) -> IdealTimes | FallbackReason:
    """Replay a program of which each member of a team has some neighbouring ranks, in their order: `own` has their
    streams, and the communicators of all ranks.

    eager_limit: bytes from which a send waits. Collective.
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

    None: some ranks have not one stream each.
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
    """The ranks of this process."""

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
        """Take what others told (TOLD), and go on. Returns what is to be told, in order of whom, and how much of it
        to each; and whether this failed, whether something is to come, and how many operations were done."""
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
