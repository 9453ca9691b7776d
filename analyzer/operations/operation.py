"""What the ranks of a program do, without the times of any network: the simulator's input.

Source: "Dimemas specification", section 1.2 (what a trace must contain).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer._replay import ffi, lib

if TYPE_CHECKING:
    from analyzer.operations.spill import PackedOperations


def dtype_of(struct: str) -> np.dtype:
    """The numpy dtype of a struct of the simulator's header, which is the one definition of it."""
    kind = ffi.typeof(f"struct {struct}")
    fields = kind.fields or ()
    names = [name for name, _ in fields]
    formats = [np.dtype(f"{_letter(f.type.cname)}{ffi.sizeof(f.type)}") for _, f in fields]
    return np.dtype(
        {"names": names, "formats": formats, "offsets": [f.offset for _, f in fields], "itemsize": ffi.sizeof(kind)}
    )


def _letter(ctype: str) -> str:
    return "f" if ctype == "double" else "u" if ctype.startswith("uint") else "i"


OP = dtype_of("op")
"""One operation: a burst of `burst` ns, then what `kind` says; see csrc/replay/replay.h."""


class Kind(IntEnum):
    """`kind` of an OP."""

    NONE = lib.OP_NONE
    SEND = lib.OP_SEND
    RECV = lib.OP_RECV
    IRECV = lib.OP_IRECV
    WAIT = lib.OP_WAIT
    COLLECTIVE = lib.OP_COLLECTIVE
    COLLECTIVE_START = lib.OP_COLLECTIVE_START
    EVENT = lib.OP_EVENT
    PRIORITY = lib.OP_PRIORITY
    SEM_WAIT = lib.OP_SEM_WAIT
    SEM_SIGNAL = lib.OP_SEM_SIGNAL
    PUT = lib.OP_PUT
    GET = lib.OP_GET
    ACCESSES_WAIT = lib.OP_ACCESSES_WAIT
    PARALLEL = lib.OP_PARALLEL
    PORT_SEND = lib.OP_PORT_SEND
    PORT_RECV = lib.OP_PORT_RECV
    LOCK = lib.OP_LOCK
    UNLOCK = lib.OP_UNLOCK


COLLECTIVE_NAMES = (
    "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv",
    "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Alltoallw",
)  # fmt: skip
"""By their number in a Dimemas trace, the `tag` of a COLLECTIVE."""

PORTS = (Kind.PORT_SEND, Kind.PORT_RECV)
"""Messages to and from other applications; `comm` is the number of theirs."""


class Flag(IntFlag):
    """`flags` of an OP."""

    FIRST = lib.OP_FIRST
    OF_COLLECTIVE = lib.OP_OF_COLLECTIVE
    SHARED = lib.OP_SHARED
    BETWEEN_CALLS = lib.OP_BETWEEN_CALLS
    RENDEZVOUS = lib.OP_RENDEZVOUS
    IMMEDIATE = lib.OP_IMMEDIATE
    STANDARD = lib.OP_STANDARD
    OF_WINDOW = lib.OP_OF_WINDOW


def between_calls(ops: np.ndarray) -> np.ndarray:
    """Which operations (OP) of a trace's program are of no call."""
    return (ops["kind"] == Kind.EVENT) | ((ops["flags"] & Flag.BETWEEN_CALLS) > 0)


def virtual_threads(ops: np.ndarray) -> int:
    """How many virtual threads the operation (OP) with the most has; 0: none is parallel."""
    return int(ops["other"][ops["kind"] == Kind.PARALLEL].max(initial=0))


@dataclass(frozen=True)
class Program:
    """The operations of all threads of an application, stream after stream.

    Stream k is the operations offsets[k] to offsets[k+1] of rank[k], thread[k]; it has at most slots[k] requests open,
    and those of rank r together shared_slots[r] with Flag.SHARED, which one of them may open and another one close.
    `factors[b]` multiplies the bursts of operations with block b; negative: such a burst lasts -factor seconds.
    """

    ops: np.ndarray | PackedOperations  # OP
    offsets: np.ndarray  # (streams + 1,) int64
    rank: np.ndarray  # (streams,) int32
    thread: np.ndarray  # (streams,) int32
    slots: np.ndarray  # (streams,) int32
    communicators: tuple[tuple[int, ...], ...]  # members by rank
    ranks: int
    name: str = ""
    factors: np.ndarray = field(default_factory=lambda: np.ones(1))
    priority: np.ndarray | None = None  # (ranks,) int64, smaller is better
    shared_slots: np.ndarray | None = None  # (ranks,) int32; None: no stream closes what another one opens
    cpu_time: bool = False  # bursts are CPU time, not time that passed
    buffered: int = -1  # bytes up to which Flag.STANDARD does not wait, as the run shows; -1: it is as it says

    def most_virtual_threads(self) -> int:
        """How many virtual threads the block with the most has; 0: no block is parallel."""
        return virtual_threads(self.ops) if isinstance(self.ops, np.ndarray) else self.ops.virtual_threads

    def stream_of(self, rank: int, thread: int) -> int:
        """Index of the stream of a thread. Raises IndexError where there is none."""
        return int(np.flatnonzero((self.rank == rank) & (self.thread == thread))[0])

    def stream(self, index: int) -> slice:
        """The operations of a stream."""
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))

    @classmethod
    def of(
        cls, streams: Sequence[np.ndarray], communicators: Sequence[Sequence[int]] | None = None, **more: Any
    ) -> Program:
        """A program of one thread a rank: streams[r] are the operations (OP) of rank r; communicator 0 is the world."""
        lengths = [len(s) for s in streams]
        ranks = len(streams)
        empty = np.zeros(0, OP)
        world = (tuple(range(ranks)),)
        return cls(
            ops=np.concatenate([empty, *streams]),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            rank=np.arange(ranks, dtype=np.int32),
            thread=np.zeros(ranks, np.int32),
            slots=np.array([int(s["request"].max(initial=-1)) + 1 for s in streams], np.int32),
            communicators=tuple(map(tuple, communicators)) if communicators is not None else world,
            ranks=ranks,
            **more,
        )


def operations(*rows: tuple | dict) -> np.ndarray:
    """OP from dicts of their columns; what is not given is 0, peer and request -1."""
    found = np.zeros(len(rows), OP)
    found["peer"] = found["request"] = -1
    for k, row in enumerate(rows):
        for name, value in dict(row).items():
            found[name][k] = value
    return found
