"""Writer of Dimemas traces: the computation and communication of each rank, without the times of the network.

Dimemas replays such a trace on another machine. Source: "Dimemas 5.5.0 input format" (header with an offset block,
records 1 burst, 2 send, 3 receive, 10 global operation, 20 event). A kernel formats the records.
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
"""Largest number of bytes of the text of one operation (see the kernel's header)."""


def communicator_ids(trace: Trace) -> list[int]:
    """Return a unique id for each communicator: its own id, unless an earlier communicator has the same id.

    In a Paraver trace of several applications, each application numbers its communicators separately.
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
    """Return the id of the communicator of all ranks: the first communicator of that size, or else a new id."""
    ids = communicator_ids(trace)
    for id_, communicator in zip(ids, trace.communicators, strict=True):
        if is_definable(communicator) and len(communicator.members) == trace.size:
            return id_
    return max(ids, default=0) + 1


def window_ids(trace: Trace) -> list[int]:
    """Return a new id for each group of `window_groups`, which no communicator has."""
    first = max([world_id(trace), *communicator_ids(trace)]) + 1
    return [*range(first, first + len(window_groups(trace)))]


class RankWriter:
    """Formatter of the Dimemas records of ranks, one rank at a time. All ranks share its tables and its memory."""

    def __init__(self, trace: Trace, buffered: int, events: np.ndarray = NO_EVENTS) -> None:
        """Prepare the tables.

        Args:
            trace: The trace.
            buffered: Largest message in bytes for which the run shows that MPI_Send does not wait for the receive. -1:
                the run does not show it.
            events: Additional events (EVENT) in order of time, which the trace does not have.
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
        """Number of calls of each procedure that move data but have no Dimemas record, int64 of shape (procedures,)."""
        return self._walk.left_out[0] if self._walk else np.zeros(self._procedures, np.int64)

    @property
    def idle_events(self) -> int:
        """Number of events that are left out because Dimemas would understand them as something else (type 0)."""
        return self._walk.idle_events if self._walk else 0

    def write(self, rank: int, file: BinaryIO) -> list[int]:
        """Write the records of one rank to a file. Return the size of each thread's records in bytes."""
        return [self._write_thread(rank, thread, blocks, file) for thread, blocks in self._threads(rank)]

    def _threads(self, rank: int) -> Iterator[tuple[int, Iterator[np.ndarray]]]:
        """Yield the number of each thread with its operations, as blocks."""
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
        """Return the text of a block of operations as a bytes-like object, valid until the next call."""
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
    """Result of writing a .dim file, with the facts that the file cannot hold.

    Attributes:
        left_out: Number of calls by procedure that move data but have no Dimemas record, and of left-out events.
        buffered: Largest message in bytes for which the run shows that MPI_Send does not wait; -1: unknown.
    """

    path: Path
    size_bytes: int
    left_out: dict[str, int]  # calls by procedure that move data but have no Dimemas record, and events
    buffered: int  # bytes up to which the run shows that MPI_Send does not wait; -1: nothing is known


def write_dim(trace: Trace, path: str | Path, team: Team | None = None, events: np.ndarray = NO_EVENTS) -> DimReport:
    """Write a trace as a Dimemas file. Collective over the team; the bytes do not depend on the number of its members.

    A burst lasts from the end of an MPI call to the begin of the next call, in whole ns. If the trace tells the
    tracer's time from computation (Origin.tracer_times), bursts begin at the start of the process and exclude flushes
    and the tracer's own time after each call. So they sum up to the useful time. In other traces, bursts begin at 0 and
    include flushes, as in prv2dim.

    A nonblocking receive has a record where it was posted, with the source, tag and size of the message that it
    received, and a second one (kind 2) where it completed. Dimemas 5.5.0 has no such second record for sends. A
    nonblocking collective has type 0 at its call and type 2 at its completion. MPI_Init is a barrier. A blocking send
    waits for its receive, unless the run shows that MPI buffered messages of its size (`shown_eager_limit`); an event
    of tracelib's own states that size. Other MPI calls take no time, and data that they move is counted in `left_out`.

    Regions and events of the program are event records. They cut the burst that contains them into parts with the same
    sum.

    Args:
        trace: The trace.
        path: The new file.
        team: Processes that share the work. None: this process alone.
        events: Additional events (EVENT) in order of time, which the trace does not have.

    Raises:
        TracelibError: The file cannot be written. Nothing of it remains then.
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
    """Return the results of work() of all members. An error of one member is raised on all members, so none waits."""

    def written() -> Any:
        try:
            return work()
        except OSError as error:
            raise cannot_write(path, error) from error

    return team.gather(written)


def _head(trace: Trace, body_bytes: int) -> bytes:
    """Return the header and the communicators. The header holds the offset of the block at the end of the file."""
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
    """Return True if the trace has a communicator (MPI_COMM_SELF) that its Dimemas file did not define.

    Every Trace has the communicators of single ranks, but a Dimemas program defines only its own.
    """
    return not trace.has_call_times and communicator.name == SELF


def _assemble(trace: Trace, path: Path, sizes: list[list[int]], parts: list[Path]) -> int:
    """Write the head, the parts in order of rank, and the offset of each thread's first record.

    Returns:
        Size of the file in bytes.
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
