"""Reader of Dimemas traces: the operations of each thread, without times of messages.

Source: "Dimemas 5.5.0 input format". The reader accepts what Dimemas accepts, except for parts that Dimemas ignores
silently: records of a thread after records of a later thread, and text after the offsets.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.errors import TracelibError
from analyzer.program.model import Program
from analyzer.program.operation import OP
from analyzer.program.storage import OperationSpill
from analyzer.trace import SELF, WORLD, Communicator
from analyzer.trace.read_sizes import DEFAULT_SIZES

_LEAST_RECORD = 4
"""Lower bound of the bytes of an operation's line. It limits the number of operations of a block."""
_MOST_TASKS = 1 << 24
_GZIP = b"\x1f\x8b"
_HEADER = re.compile(
    rb'#DIMEMAS:"(?P<name>[^"]*)":\d+(?:,(?P<end>\d+))?:(?P<tasks>\d+)\((?P<threads>[\d,]*)\),\d+(?:,\S*)?'
)
_COMMUNICATOR = re.compile(rb"d:1:(\d+):(\d+)((?::\d+)*):?")
_OTHER_DEFINITION = re.compile(rb"d:[23]:.*")
_LARGEST = 2**31 - 1

_WRONG = {
    lib.DIM_NO_RECORD: "is not a record",
    lib.DIM_UNKNOWN_RECORD: "is a record of an unknown kind (known are 0, 1, 2, 3, 10, 20, and 30 and 31 of tracelib)",
    lib.DIM_BAD_FIELD: "has too few or too many fields, or an impossible one",
    lib.DIM_NO_THREAD: "names a task or thread that the header does not have",
    lib.DIM_NO_PEER: "names a partner that the header does not have",
    lib.DIM_NO_COMMUNICATOR: "names a communicator that is not defined",
    lib.DIM_NO_MEMBER: "is of a task that is not in the communicator",
    lib.DIM_NO_OPERATION: "names a global operation that there is not (0 to 15; a nonblocking one is its blocking one, "
    "of type 0 where it begins and 2 where it is waited for)",
    lib.DIM_NOTHING_TO_WAIT_FOR: "waits for an operation that did not begin",
    lib.DIM_OUT_OF_ORDER: "comes after records of a later task or thread",
    lib.DIM_AFTER_OFFSETS: "comes after the offsets, which must be last",
    lib.DIM_LATE_DEFINITION: "is a definition among the records",
    lib.DIM_ACCELERATOR: "is a burst of an accelerator, which is not simulated",
    lib.DIM_BAD_TIME: "has an impossible duration",
    lib.DIM_BAD_SIZE: "has a size that no memory holds",
}
_HINT = "docs/analyze-dim.md says what a .dim may hold"


@dataclass(frozen=True)
class DimFile:
    """Contents of a .dim. Communicator 0 of the program is the world; number k + 1 is communicators[k]."""

    program: Program
    communicators: tuple[Communicator, ...]
    name: str  # name of the application


def communicators_of(defined: dict[int, tuple[int, ...]], ranks: int) -> tuple[Communicator, ...]:
    """Order the communicators of a .dim as in runs of tracelib: the world, one for each single rank, then the others.

    Args:
        defined: Members by id, as the file defines them.
        ranks: Number of ranks.
    """
    everyone, unused = tuple(range(ranks)), max(defined, default=0) + 1
    world = next((id_ for id_, members in defined.items() if members == everyone), None)
    selves = (Communicator(unused + 1 + rank, (rank,), name=SELF) for rank in everyone)
    others = (Communicator(id_, members) for id_, members in defined.items() if id_ != world)
    return Communicator(unused if world is None else world, everyone, name=WORLD), *selves, *others


def read_dim(path: str | os.PathLike[str], block_bytes: int = DEFAULT_SIZES.text_bytes) -> DimFile:
    """Read a .dim or .dim.gz. The operations of a long file lie in a temporary file without a name.

    Bursts are rounded to whole ns. Consecutive bursts stay separate. The root of a collective is known only on the
    root. A wait completes the first open receive with the same source, tag, communicator and size. If no size fits, it
    completes the first with the same source, tag and communicator.

    Args:
        path: The file.
        block_bytes: Number of bytes that are parsed at a time.

    Raises:
        TracelibError: A line cannot be understood; the message names the line.
    """
    path = Path(path)
    with _open(path) as file:
        return _Reader(path, file, block_bytes).read()


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(len(_GZIP)) == _GZIP
    return cast(BinaryIO, gzip.open(path)) if packed else path.open("rb")


class _Reader:
    """Reader of one .dim, from its header to its end."""

    def __init__(self, path: Path, file: BinaryIO, block_bytes: int) -> None:
        self._path, self._file, self._block_bytes = path, file, block_bytes
        self._line = 0  # number of lines before the records
        self._offsets = 0  # position of the offsets in bytes, as the header says

    def read(self) -> DimFile:
        name, threads = self._header(self._next_line())
        defined, first = self._definitions(len(threads))
        communicators = communicators_of(defined, len(threads))
        spill, lengths, slots, eager_limit = self._records(_kernel(threads, communicators), sum(threads), first)
        program = Program(
            ops=spill.operations(),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            rank=np.repeat(np.arange(len(threads), dtype=np.int32), threads),
            thread=np.concatenate([np.arange(n, dtype=np.int32) for n in threads]),
            slots=slots,
            communicators=(communicators[0].members, *(c.members for c in communicators)),
            ranks=len(threads),
            name=self._path.name,
            buffered=eager_limit - 1,
        )
        return DimFile(program, communicators, name)

    def _next_line(self) -> bytes:
        self._line += 1
        return self._file.readline()

    def _error(self, line: int, text: bytes, what: str) -> TracelibError:
        shown = text.rstrip(b"\r\n").decode("utf-8", "replace")
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return TracelibError(f"{self._path}, line {line}: {shown!r} {what}", _HINT)

    def _header(self, line: bytes) -> tuple[str, list[int]]:
        found = _HEADER.fullmatch(line.strip())
        if not found:
            raise self._error(self._line, line, "is not the header of a Dimemas trace")
        self._offsets = int(found["end"] or 0)
        threads = [int(n) for n in found["threads"].split(b",") if n]
        tasks = int(found["tasks"])
        if tasks != len(threads) or not 0 < tasks <= _MOST_TASKS:
            raise self._error(self._line, line, f"announces {tasks} tasks and lists the threads of {len(threads)}")
        if min(threads) < 1 or sum(threads) > _MOST_TASKS:
            raise self._error(self._line, line, "has a task without threads, or too many")
        return found["name"].decode("utf-8", "replace"), threads

    def _definitions(self, tasks: int) -> tuple[dict[int, tuple[int, ...]], bytes]:
        """Return the members of the communicators by id, and the line after the definitions."""
        found: dict[int, tuple[int, ...]] = {}
        while (line := self._next_line()).startswith(b"d:") or (line and not line.strip()):
            match = _COMMUNICATOR.fullmatch(line.strip())
            if not match:
                if line.strip() and not _OTHER_DEFINITION.fullmatch(line.strip()):
                    raise self._error(self._line, line, "is not a definition of a communicator, file or window")
                continue
            id_, size = int(match[1]), int(match[2])
            members = tuple(int(task) for task in match[3].split(b":")[1:])
            if len(members) != size:
                raise self._error(self._line, line, f"announces {size} tasks and lists {len(members)}")
            if len(set(members)) != size or any(task >= tasks for task in members):
                raise self._error(self._line, line, "names a task twice, or one that the header does not have")
            if id_ in found or id_ > _LARGEST:
                raise self._error(self._line, line, "defines a communicator again, or with too large a number")
            found[id_] = members
        self._line -= 1
        return found, line

    def _records(self, reader: Any, streams: int, first: bytes) -> tuple[OperationSpill, np.ndarray, np.ndarray, int]:
        """Read all operations.

        Returns:
            The operations; the number of operations of each thread; the largest number of open requests of each thread;
            the size in bytes from which on a send waits, 0 if the trace does not tell it.
        """
        spill, rest = OperationSpill(), first
        while block := self._file.read(self._block_bytes):
            rest = self._block(reader, rest + block, spill)
        self._check_whole()
        if rest:  # the last line has no end
            self._block(reader, rest + b"\n", spill)
        last = np.zeros(1, OP)
        spill.append(last[: lib.dim_read_end(reader, pointer(last))])
        lengths, slots = np.zeros(streams, np.int64), np.zeros(streams, np.int32)
        lib.dim_reader_streams(reader, pointer(lengths, "int64_t *"), pointer(slots, "int32_t *"))
        return spill, lengths, slots, lib.dim_reader_eager_limit(reader)

    def _check_whole(self) -> None:
        """Raise TracelibError if the file ends before its offsets: then records are missing."""
        if (size := self._file.tell()) <= self._offsets:
            text = f"{self._path} is cut off after {size} bytes: by its header the records end at byte {self._offsets}"
            raise TracelibError(text, "copy or write it again")

    def _block(self, reader: Any, text: bytes, spill: OperationSpill) -> bytes:
        """Read the complete lines of a text. Return the rest of the text."""
        used, line, at = ffi.new("int64_t *"), ffi.new("int64_t *"), 0
        buffer = ffi.from_buffer("char[]", text)
        while True:
            out = np.empty(min(len(text) // _LEAST_RECORD, self._block_bytes // 16) + 2, OP)
            count = lib.dim_read(reader, buffer + at, len(text) - at, pointer(out), len(out), used)
            if count:
                spill.append(out[:count])
            at += used[0]
            if reason := lib.dim_reader_problem(reader, line):
                if reason == lib.DIM_NO_MEMORY:
                    raise MemoryError
                end = text.index(b"\n", at)
                raise self._error(self._line + line[0], text[at:end], _WRONG[reason])
            if not used[0]:
                return text[at:]


def _kernel(threads: Sequence[int], communicators: Sequence[Communicator]) -> Any:
    """Make the kernel's reader. It does not get the communicators of single ranks, which no .dim defines."""
    order = sorted((k for k, c in enumerate(communicators) if c.name != SELF), key=lambda k: communicators[k].id)
    groups = [sorted(communicators[k].members) for k in order]
    offsets = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    members = np.array([task for group in groups for task in group], np.int32)
    ids = np.array([communicators[k].id for k in order], np.int32)
    index = np.array([k + 1 for k in order], np.int32)
    counts = np.array(threads, np.int32)
    reader = lib.dim_reader_new(
        len(threads), pointer(counts, "int32_t *"), len(order), pointer(ids, "int32_t *"),
        pointer(index, "int32_t *"), pointer(offsets, "int64_t *"), pointer(members, "int32_t *"),
    )  # fmt: skip
    if not reader:
        raise MemoryError
    return ffi.gc(reader, lib.dim_reader_free)
