"""Messages about a replay that came to no end: which rank waits for which, or what is wrong with trace or machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from analyzer._replay import lib
from analyzer.errors import TracelibError
from analyzer.program.model import Program
from analyzer.program.operation import COLLECTIVE_NAMES, PORTS, OperationFlag, OperationKind
from analyzer.program.storage import unreadable
from analyzer.trace.description import ranks_named, ranks_text

_WAITS_IN = {
    OperationKind.SEND: "a send to rank {peer}, tag {tag}",
    OperationKind.RECV: "a receive from rank {peer}, tag {tag}",
    OperationKind.WAIT: "a wait for its receive from rank {peer}, tag {tag}",
    OperationKind.COLLECTIVE: "{collective}",
    OperationKind.SEM_WAIT: "semaphore {tag}",
    OperationKind.PORT_RECV: "a receive from port {tag}",
    OperationKind.ACCESSES_WAIT: "the end of its one-sided operations",
    OperationKind.LOCK: "{lock}",
}
_WAITS_ON_WINDOW = {
    lib.WINDOW_POSTED: "an access epoch, for MPI_Win_post of rank {peer}",
    lib.WINDOW_COMPLETED: "MPI_Win_wait, for MPI_Win_complete of rank {peer}",
}

_MOST_SHOWN = 4
_AT_ONCE = 1 << 20  # operations


class ReplayBlocked(TracelibError):
    """Error of a replay in which no thread can go on: the program is wrong, or the trace does not hold all of it."""


def failure(result: Any, programs: Sequence[Program], blocked: np.ndarray, *, eager: bool) -> TracelibError:
    """Make the error that describes why a replay failed.

    Args:
        result: `struct result *` of the simulator.
        programs: The replayed programs.
        blocked: For each stream of all programs, the index of the operation in which it waits; -1: it does not wait.
        eager: True if the machine has an eager limit.
    """
    program = programs[result.application]
    if result.error == lib.REPLAY_NO_MEMORY:
        return TracelibError("the replay needs more memory than there is", "replay fewer ranks")
    if result.error == lib.REPLAY_TOO_LONG:
        return TracelibError("the replay takes longer than 73 years", "check the numbers of the machine")
    if result.error == lib.REPLAY_MISMATCH:
        first = _where(program, result.stream, result.op)
        other = _where(program, result.other_stream, result.other_op)
        return TracelibError(f"the ranks of a communicator make different calls: {first}, {other}", "check the trace")
    if result.error == lib.REPLAY_UNREADABLE:
        return unreadable()
    if result.error == lib.REPLAY_UNWRITABLE:
        return TracelibError("a temporary file cannot be written", "set TMPDIR to a folder with room")
    if result.error == lib.REPLAY_BAD_OP:
        row = program.ops[result.op] if result.op < len(program.ops) else None
        if row is not None and row["kind"] in PORTS:
            who = (
                f"rank {program.rank[result.stream]} communicates with rank {row['peer']} of application {row['comm']}"
            )
            hint = "add its trace with --app; FILE is application 0, the first --app is 1"
            return TracelibError(f"{who}, which is not there", hint)
        shown = "its end" if row is None else row
        return TracelibError(
            f"operation {result.op} of rank {program.rank[result.stream]} names something that does not exist: {shown}",
            "check the trace",
        )
    if result.error == lib.REPLAY_STARVED:
        where = _where(program, result.stream, result.op) if result.op < len(program.ops) else f"{program.name} ends"
        return TracelibError(
            f"application {result.application} never ends, because others begin again and again: {where}",
            "give it a processor or a link of its own, or another scheduling policy",
        )
    hint = "were all ranks and calls recorded?"
    waiting = [(p, stream, op) for p, ops in _by_program(programs, blocked) for stream, op in enumerate(ops) if op >= 0]
    if any(p.ops[op]["kind"] == OperationKind.SEND for p, _, op in waiting) and not eager:
        hint = "a program that needs MPI to buffer its messages needs an eager limit, such as --eager-limit 32k"
    if result.error == lib.REPLAY_TURNS:
        hint = 'ranks that wait busily keep their processors: leave out busy_wait_us = "inf", or set policy = "rr"'
    return ReplayBlocked(f"the replay cannot go on, all ranks wait: {_shown(waiting)}{_ended(programs, blocked)}", hint)


def _by_program(programs: Sequence[Program], blocked: np.ndarray) -> Iterator[tuple[Program, list[int]]]:
    ends = np.cumsum([len(p.rank) for p in programs])
    yield from zip(programs, (ops.tolist() for ops in np.split(blocked, ends[:-1])), strict=True)


def _shown(waiting: list[tuple[Program, int, int]]) -> str:
    more = f"; and {len(waiting) - _MOST_SHOWN} more" if len(waiting) > _MOST_SHOWN else ""
    return "; ".join(_where(*one) for one in waiting[:_MOST_SHOWN]) + more


def _ended(programs: Sequence[Program], blocked: np.ndarray) -> str:
    """Name the ranks of a single program that made all their calls: another rank may wait for them."""
    if len(programs) > 1:
        return ""
    rank = np.asarray(programs[0].rank)
    ended = np.setdiff1d(rank, rank[blocked >= 0]).tolist()
    if not ended:
        return ""
    return f"; {ranks_named(ended)} ended"


def _where(program: Program, stream: int, op: int) -> str:
    """Describe where a stream is: "rank 3 in a receive from rank 2, tag 7 (call 12)"."""
    row = program.ops[op]
    members = program.communicators[row["comm"]] if 0 <= row["comm"] < len(program.communicators) else ()
    name = COLLECTIVE_NAMES[row["tag"] % len(COLLECTIVE_NAMES)]
    if name == "Barrier" and row["comm"] == 0:
        name = "Init or MPI_Barrier"
    called = "a collective call on a file" if row["flags"] & OperationFlag.OF_FILE else f"MPI_{name}"
    collective = f"{called} of ranks {ranks_text(members)}"
    text = _WAITS_IN.get(OperationKind(row["kind"]), "an operation")
    if row["kind"] == OperationKind.WAIT and row["flags"] & OperationFlag.OF_COLLECTIVE:
        text = "a wait for {collective}"
    if row["flags"] & OperationFlag.OF_WINDOW:
        text = _WAITS_ON_WINDOW[int(row["tag"])]
    lock = f"MPI_Win_lock of rank {row['peer']}" if row["peer"] >= 0 else "MPI_Win_lock_all"
    what = text.format(peer=row["peer"], tag=row["tag"], collective=collective, lock=lock)
    number = _calls(program, int(program.offsets[stream]), op + 1)
    return f"rank {program.rank[stream]} in {what}" + (f" (call {number})" if number else "")


def _calls(program: Program, first: int, stop: int) -> int:
    """Count the calls that begin among the operations [first, stop)."""
    cuts = pairwise((*range(first, stop, _AT_ONCE), stop))
    return sum(int(np.count_nonzero(program.ops[a:b]["flags"] & OperationFlag.FIRST)) for a, b in cuts)
