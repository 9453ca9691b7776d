"""Writer of Dimemas traces: each rank's computation and communication, without the times of the network.

Dimemas replays it on another machine. Source: "Dimemas 5.5.0 input format" (header with an offset block, records 1
burst, 2 send, 3 receive, 10 global operation, 20 event).

Also the records of one rank of a Dimemas trace: its operations, formatted by a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO

import numpy as np

from analyzer._kernels import lib
from analyzer.atomic_file import cannot_write, temporary_name, whole_file
from analyzer.c_arrays import pointer
from analyzer.metrics.eager import shown_eager_limit
from analyzer.operations.events import NO_EVENTS
from analyzer.operations.virtual import VirtualThreads
from analyzer.operations.walk import RankOperations, is_definable
from analyzer.operations.windows import window_groups
from analyzer.parallel import Team
from analyzer.program.model import pieces
from analyzer.signal_handling import discard
from analyzer.trace import SELF, Communicator, Trace

OPERATION_BYTES = 320
"""Room for the text of one operation (see the kernel's header)."""


def communicator_ids(trace: Trace) -> list[int]:
    """Return a different id for each communicator: its own, if no other has it.

    In a Paraver trace of several applications each application numbers its own communicators.
    """
    ids, used = [], set[int]()
    free = max((c.id for c in trace.communicators), default=0) + 1
    for communicator in trace.communicators:
        is_new = communicator.id not in used
        ids.append(communicator.id if is_new else free)
        free += not is_new
        used.add(ids[-1])
    return ids


def world_id(trace: Trace) -> int:
    """Return the id of the communicator of all ranks: the first of that size, else a new one."""
    ids = communicator_ids(trace)
    for id_, communicator in zip(ids, trace.communicators, strict=True):
        if is_definable(communicator) and len(communicator.members) == trace.size:
            return id_
    return max(ids, default=0) + 1


def window_ids(trace: Trace) -> list[int]:
    """Return ids that no communicator has, for `window_groups`."""
    first = max([world_id(trace), *communicator_ids(trace)]) + 1
    return [*range(first, first + len(window_groups(trace)))]


class RankWriter:
    """Formatter of ranks' records, one rank after the other with the same tables and the same memory."""

    def __init__(self, trace: Trace, buffered: int, events: np.ndarray = NO_EVENTS) -> None:
        """Prepare the tables.

        buffered: bytes up to which the run shows that MPI_Send does not wait; -1: the run does not show it.
        events: EVENT in order of time, which the trace does not have.
        """
        self._buffered = buffered
        self._trace, self._program = trace, trace.program
        self._walk = RankOperations(trace, events=events) if trace.has_call_times else None
        windows = window_ids(trace) if trace.has_call_times else []
        self._comm_ids = np.array([world_id(trace), *communicator_ids(trace), *windows], np.int32)
        self._out = np.zeros(0, np.uint8)
        self._procedures = len(trace.procedures)

    @property
    def left_out(self) -> np.ndarray:
        """Calls by procedure that move data and have no record in Dimemas."""
        return self._walk.left_out[0] if self._walk else np.zeros(self._procedures, np.int64)

    @property
    def idle_events(self) -> int:
        """Events that would mean something else to Dimemas."""
        return self._walk.idle_events if self._walk else 0

    def write(self, rank: int, file: BinaryIO) -> list[int]:
        """Write the records of one rank. Return the size in bytes of each thread's records."""
        return [self._write_thread(rank, thread, blocks, file) for thread, blocks in self._threads(rank)]

    def _threads(self, rank: int) -> Iterator[tuple[int, Iterator[np.ndarray]]]:
        """Number and operations of each thread."""
        if self._walk:
            yield 0, map(VirtualThreads(self._trace, rank).share_out, self._walk.of(rank))
        if self._program:
            for stream in self._program.streams_of(rank):
                yield int(self._program.thread[stream]), pieces(self._program, stream)

    def _write_thread(self, rank: int, thread: int, blocks: Iterator[np.ndarray], file: BinaryIO) -> int:
        head = f"1:{rank}:{thread}:0.000000000\n"
        if rank == thread == 0 and self._buffered >= 0:
            head += f"20:0:0:{lib.DIM_EAGER_LIMIT}:{self._buffered + 1}\n"
        size = file.write(head.encode())
        return size + sum(file.write(self._text(rank, thread, operations)) for operations in blocks)

    def _text(self, rank: int, thread: int, operations: np.ndarray):
        """Return the text (bytes-like) of a block."""
        if len(self._out) < len(operations) * OPERATION_BYTES:
            self._out = np.empty(len(operations) * OPERATION_BYTES, np.uint8)
        size = lib.dim_text(
            pointer(operations), len(operations), rank, thread,
            pointer(self._comm_ids, "int32_t *"), self._buffered,
            pointer(self._out, "char *"),
        )  # fmt: skip
        return self._out[:size].data


IDLE_EVENTS = "events of type 0"


@dataclass(frozen=True)
class DimReport:
    """Contents of a .dim file, and the facts that it cannot hold."""

    path: Path
    size_bytes: int
    left_out: dict[str, int]  # calls by procedure that move data but have no Dimemas record, and events
    buffered: int  # bytes up to which the run shows that MPI_Send does not wait; -1: nothing is known


def write_dim(trace: Trace, path: str | Path, team: Team | None = None, events: np.ndarray = NO_EVENTS) -> DimReport:
    """Write `trace` as a Dimemas file, with the same bytes for any number of team members.

    Bursts last from the end of an MPI call to the begin of the next, in whole ns. Where the tracer's time is told apart
    from computation (Origin.tracer_times) they begin at the start of the process and leave out flushes and the tracer's
    own time after each call, so that they sum up to the useful time. In other traces they begin at 0 and keep flushes,
    as prv2dim does.
    Nonblocking receives stand where they were posted, with the source, tag and size that they turned out to have, and
    again (kind 2) where they completed. Sends have no second record of this kind in Dimemas 5.5.0. A nonblocking
    collective is its operation with type 0 at the call and type 2 at its completion. MPI_Init is a barrier. A blocking
    send waits for its receive unless the run shows that MPI buffered messages of its size (`shown_eager_limit`), which
    an event of ours also states. Other MPI calls take no time; data that they would have moved is reported in
    `left_out`.
    Regions and events of the program are event records and cut the burst in which they lie; its parts sum up to it. So
    are `events` (EVENT, in order of time) that the trace does not have.
    Raises TracelibError if the file cannot be written; then nothing of it remains.
    """
    path, team = Path(path), team or Team()
    part = temporary_name(path, f"part{team.rank}")
    buffered = shown_eager_limit(trace, team) if trace.program is None else trace.program.buffered
    writer = RankWriter(trace, buffered, events)

    def write_part() -> list[list[int]]:
        with part.open("xb") as file:
            return [writer.write(rank, file) for rank in trace.share(team)]

    try:
        pieces = _together(team, write_part, path)
        parts = team.allgather(part)
        sizes = [size for piece in pieces for size in piece]
        size_bytes, *_ = _together(team, lambda: _assemble(trace, path, sizes, parts) if team.rank == 0 else 0, path)
    finally:
        discard(part)
    left_out = sum(team.allgather(writer.left_out))
    names = {p: int(n) for p, n in zip(trace.procedures, left_out, strict=True) if n}
    idle_events = sum(team.allgather(writer.idle_events))
    idle = {IDLE_EVENTS: idle_events} if idle_events else {}
    return DimReport(path, size_bytes, dict(sorted(names.items())) | idle, buffered)


def _together(team: Team, work: Callable[[], Any], path: Path) -> list[Any]:
    """Return the results of work() of all members. The failure of one is raised on all, so that none waits for it."""

    def written() -> Any:
        try:
            return work()
        except OSError as error:
            raise cannot_write(path, error) from error

    return team.gather(written)


def _head(trace: Trace, body_bytes: int) -> bytes:
    """Write header and communicators; the header holds the offset of the block that follows everything else."""
    numbered = zip(communicator_ids(trace), trace.communicators, strict=True)
    defined = [(id_, c.members) for id_, c in numbered if is_definable(c) and not _is_only_ours(trace, c)]
    if world_id(trace) not in dict(defined):
        defined.append((world_id(trace), tuple(range(trace.size))))
    if trace.has_call_times:
        windows = zip(window_ids(trace), window_groups(trace), strict=True)
        defined += [(id_, members) for id_, members in windows if members]
    lines = [f"d:1:{id_}:{len(members)}:{':'.join(map(str, members))}\n" for id_, members in defined]
    communicators = "".join(lines).encode()
    name = (Path(trace.path).name if trace.has_call_times else trace.origin.command).replace('"', "'")
    threads = ["1"] * trace.size if trace.has_call_times else map(str, trace.threads)
    tail = f":{trace.size}({','.join(threads)}),{len(lines)}\n"
    offset = 0
    while True:  # the offset counts its own digits
        head = f'#DIMEMAS:"{name}":1,{offset}{tail}'.encode() + communicators
        if len(head) + body_bytes == offset:
            return head
        offset = len(head) + body_bytes


def _is_only_ours(trace: Trace, communicator: Communicator) -> bool:
    """Return True if a communicator is in the trace only because all runs have it.

    A program defines its own communicators; the ones of one rank are in its Trace although it did not.
    """
    return not trace.has_call_times and communicator.name == SELF


def _assemble(trace: Trace, path: Path, sizes: list[list[int]], parts: list[Path]) -> int:
    """Write the head, the parts in order of rank, and the offset of each thread's first record.

    Return the size in bytes.
    """
    head = _head(trace, sum(map(sum, sizes)))
    with whole_file(path) as file:
        file.write(head)
        for part in parts:
            with part.open("rb") as source:
                copyfileobj(source, file, 1 << 20)
        at = len(head)
        for rank, threads in enumerate(sizes):
            offsets = at + np.cumsum([0, *threads])
            file.write(f"s:{rank}:{':'.join(map(str, offsets[:-1]))}\n".encode())
            at = int(offsets[-1])
        return file.tell()
