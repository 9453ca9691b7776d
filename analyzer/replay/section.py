"""The section of a run that a prediction is compared with: from the end of MPI_Init to the begin of MPI_Finalize.

The time in which MPI starts and ends is no communication of the program, and no machine has a parameter for it. In a
short run it is most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analyzer.operations.program import program_of
from analyzer.pairing.parts import Part, parts
from analyzer.parallel import Team
from analyzer.program.model import Program, rewritten
from analyzer.program.operation import OperationFlag, OperationKind
from analyzer.trace import Trace
from tracelib.schema.procedures import FINALIZE, INIT, base_name

NOT_COMPARED = (*INIT, *FINALIZE)
"""Procedures that bound the section and lie outside of it: MPI_Init, MPI_Finalize and their variants."""

_BLOCK = 1 << 20


@dataclass(frozen=True)
class ReplaySection:
    """Section of a run: the program in which only the section takes time, and the section's times in the measured run.

    If not all ranks called MPI_Init, the section begins with the run. If not all ranks called MPI_Finalize, it ends
    with the run. The section of a Dimemas trace is the whole trace.
    """

    program: Program
    begin: np.ndarray  # int64 (ranks,): time in the trace at which the section of each rank begins, ns
    end: np.ndarray  # int64 (ranks,): time in the trace at which the section of each rank ends, ns

    @property
    def measured_ns(self) -> int:
        """Measured length of the section, from the first rank's begin to the last rank's end, ns."""
        return int(self.end.max() - self.begin.min())

    @property
    def ends_ns(self) -> np.ndarray:
        """Measured end of each rank's section, in ns after the first rank's begin: int64 of shape (ranks,)."""
        return self.end - self.begin.min()


def section_of(
    trace: Trace, team: Team | None = None, *, cpu_time: bool = True, buffered: bool = False, everywhere: bool = True
) -> ReplaySection:
    """Find the section of a trace that replays are compared with. Arguments and errors are as in `program_of`."""
    team = team or Team()
    program = program_of(trace, team, cpu_time=cpu_time, buffered=buffered, everywhere=everywhere)
    inits, finals = _inits_and_finalizes(trace, team)
    begin, end = _bounds(trace, inits, finals)
    if not trace.has_call_times or (team.rank and not everywhere):
        return ReplaySection(program, begin, end)
    of_all = inits if len(inits) == trace.size else finals if len(finals) == trace.size else []
    main = [program.stream_of(rank, of_all[rank].thread if of_all else 0) for rank in range(trace.size)]

    def cut(stream: int, ops: np.ndarray) -> None:
        rank = int(program.rank[stream])
        if stream != main[rank]:
            return
        after = _operation_of(ops, inits[rank].number) + 1 if len(inits) == trace.size else 0
        _silence(ops[:after])
        if len(finals) == trace.size:
            _silence(ops[_operation_of(ops, finals[rank].number) + 1 :])
        if after < len(ops):
            ops["burst"][after] += begin[rank] - begin.min()

    return ReplaySection(rewritten(program, cut), begin, end)


def section_bounds(trace: Trace, team: Team) -> tuple[np.ndarray, np.ndarray]:
    """Return the begins and ends of the ranks' sections without making the program.

    All members of the team must call this function.

    Returns:
        Begin and end, each int64 ns of shape (ranks,), as in `ReplaySection`.
    """
    return _bounds(trace, *_inits_and_finalizes(trace, team))


class _Call(NamedTuple):
    thread: int
    number: int  # among the calls of its thread, where threads are streams of their own
    enter: int
    exit: int


def _inits_and_finalizes(trace: Trace, team: Team) -> tuple[list[_Call], list[_Call]]:
    """Return the calls that begin the sections (MPI_Init) and those that end them, by rank.

    A Dimemas trace has none.
    """
    if not trace.has_call_times:
        return [], []
    found = _Edges(trace)
    for part in parts(trace, trace.share(team)):
        found.look(part)
    every = team.allgather(found.calls)
    inits, finals = ({rank: call for of_member in every for rank, call in of_member[k].items()} for k in range(2))
    return [inits[rank] for rank in sorted(inits)], [finals[rank] for rank in sorted(finals)]


class _Edges:
    """Search for the first MPI_Init and the first MPI_Finalize of each rank."""

    def __init__(self, trace: Trace) -> None:
        names = [base_name(name) for name in trace.procedures]
        self._wanted = [np.array([name in kind for name in names], bool) for kind in (INIT, FINALIZE)]
        self._before: dict[tuple[int, int], int] = {}  # calls of a thread in the parts of its rank so far
        self.calls: tuple[dict[int, _Call], dict[int, _Call]] = {}, {}  # by rank

    def look(self, part: Part) -> None:
        """Search the calls of a part. The parts of a rank must come in order of time."""
        rank, rows = part.calls
        for found, wanted in zip(self.calls, self._wanted, strict=True):
            for at in np.flatnonzero(wanted[rows["call"]]).tolist():
                of = int(rank[at])
                if of not in found:
                    thread, mine = int(rows["thread"][at]), slice(int(np.searchsorted(rank, of)), at)
                    number = self._before.get((of, thread), 0) + np.count_nonzero(rows["thread"][mine] == thread)
                    found[of] = _Call(thread, int(number), int(rows["enter"][at]), int(rows["exit"][at]))
        if not part.is_whole:
            keys, counts = np.unique(rank << 32 | rows["thread"], return_counts=True)
            for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
                place = key >> 32, key & 0xFFFFFFFF
                self._before[place] = self._before.get(place, 0) + count


def _bounds(trace: Trace, inits: list[_Call], finals: list[_Call]) -> tuple[np.ndarray, np.ndarray]:
    spans = np.array([trace.span(rank) for rank in range(trace.size)], np.int64).reshape(-1, 2)
    begin = np.array([c.exit for c in inits], np.int64) if len(inits) == trace.size else spans[:, 0]
    end = np.array([c.enter for c in finals], np.int64) if len(finals) == trace.size else spans[:, 1]
    return begin, end


def _operation_of(ops: np.ndarray, call: int) -> int:
    """Return the index of the first operation of the call with number `call`."""
    before = 0
    for start in range(0, len(ops), _BLOCK):
        first = np.flatnonzero(ops["flags"][start : start + _BLOCK] & OperationFlag.FIRST)
        if before + len(first) > call:
            return start + int(first[call - before])
        before += len(first)
    raise IndexError(call)


def _silence(ops: np.ndarray) -> None:
    """Make operations take no time and wait for no other rank.

    Events and semaphores stay, so that threads still begin and end.
    """
    ops["burst"] = 0
    stays = (OperationKind.EVENT, OperationKind.SEM_SIGNAL, OperationKind.SEM_WAIT)
    ops["kind"][~np.isin(ops["kind"], stays)] = OperationKind.NONE
