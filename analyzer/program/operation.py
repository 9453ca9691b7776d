"""Operation of a program: a burst, and the call that follows it, without the time of any network.

Source: "Dimemas specification", section 1.2 (what a trace must contain).
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

import numpy as np

from analyzer._replay import ffi, lib
from tracelib.schema.procedures import TABLE


def dtype_of(struct: str) -> np.dtype:
    """Return the numpy dtype of a struct of the simulator's header. `struct`: name of the struct, such as "op".

    The header is the only definition of these structs.
    """
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
"""One operation: a burst of `burst` ns, then an action of a `kind`; see csrc/replay/replay.h for the columns."""


class OperationKind(IntEnum):
    """Values of `kind` in OP: the action after the burst."""

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
    FILE = lib.OP_FILE


class FileAccess(IntEnum):
    """Values of `tag` in operations of kind FILE: what is done with the file."""

    LOCAL = lib.FILE_LOCAL
    READ = lib.FILE_READ
    WRITE = lib.FILE_WRITE
    OPEN = lib.FILE_OPEN
    CLOSE = lib.FILE_CLOSE
    SYNC = lib.FILE_SYNC
    BEGIN = lib.FILE_BEGIN


COLLECTIVE_NAMES = TABLE.dimemas_collectives
"""Names of the collectives, in the order of their numbers in a Dimemas trace. `tag` of a COLLECTIVE is this number."""

PORTS = (OperationKind.PORT_SEND, OperationKind.PORT_RECV)
"""Kinds of messages to and from other applications. Their `comm` is the number of the other application."""


class OperationFlag(IntFlag):
    """Bits of `flags` in OP."""

    FIRST = lib.OP_FIRST
    OF_COLLECTIVE = lib.OP_OF_COLLECTIVE
    SHARED = lib.OP_SHARED
    BETWEEN_CALLS = lib.OP_BETWEEN_CALLS
    RENDEZVOUS = lib.OP_RENDEZVOUS
    IMMEDIATE = lib.OP_IMMEDIATE
    STANDARD = lib.OP_STANDARD
    OF_WINDOW = lib.OP_OF_WINDOW
    OF_ACCESS = lib.OP_OF_ACCESS
    OF_FILE = lib.OP_OF_FILE


def between_calls(ops: np.ndarray) -> np.ndarray:
    """Return a mask of the operations (OP) of a trace's program that belong to no call."""
    return (ops["kind"] == OperationKind.EVENT) | ((ops["flags"] & OperationFlag.BETWEEN_CALLS) > 0)


def virtual_threads(ops: np.ndarray) -> int:
    """Return the largest number of virtual threads of an operation (OP); 0: none is parallel."""
    return int(ops["other"][ops["kind"] == OperationKind.PARALLEL].max(initial=0))


def operations(*rows: tuple | dict) -> np.ndarray:
    """Make operations (OP) from dicts of their columns.

    Columns that are not given are 0; peer and request are then -1.
    """
    found = np.zeros(len(rows), OP)
    found["peer"] = found["request"] = -1
    for k, row in enumerate(rows):
        for name, value in dict(row).items():
            found[name][k] = value
    return found
