"""Operation that each MPI procedure becomes in a replay, from the columns of procedures.toml.

Source: "Dimemas 5.5.0 input format"; flags and identifiers as prv2dim writes them.
"""

from __future__ import annotations

from functools import lru_cache

from analyzer._kernels import lib as kernels
from analyzer._replay import lib
from analyzer.program.operation import COLLECTIVE_NAMES
from tracelib.schema.procedures import (
    COLLECTIVES,
    TABLE,
    base_name,
    base_procedure,
    is_of_files,
    is_one_sided,
    value_of,
)

NOTHING = kernels.PLAN_NOTHING
SEND = kernels.PLAN_SEND
RECEIVE = kernels.PLAN_RECEIVE
GLOBAL = kernels.PLAN_GLOBAL
GLOBAL_START = kernels.PLAN_GLOBAL_START
GLOBAL_ON_WORLD = kernels.PLAN_GLOBAL_ON_WORLD
GLOBAL_INIT = kernels.PLAN_GLOBAL_INIT
FENCE = kernels.PLAN_FENCE
PART_READY = kernels.PLAN_PART_READY
ACCESS_PUT = kernels.PLAN_ACCESS_PUT
ACCESS_GET = kernels.PLAN_ACCESS_GET
ACCESS_WAIT = kernels.PLAN_ACCESS_WAIT
WIN_POST = kernels.PLAN_WIN_POST
WIN_START = kernels.PLAN_WIN_START
WIN_COMPLETE = kernels.PLAN_WIN_COMPLETE
WIN_WAIT = kernels.PLAN_WIN_WAIT
WIN_LOCK = kernels.PLAN_WIN_LOCK
WIN_UNLOCK = kernels.PLAN_WIN_UNLOCK
FILE = kernels.PLAN_FILE
"""Kinds of operations that calls become: `enum op_plan` of the kernel."""

_BLOCKING, _RENDEZVOUS, _IMMEDIATE, _IMMEDIATE_RENDEZVOUS = range(4)
_STANDARD = lib.OP_STANDARD // lib.OP_RENDEZVOUS | _RENDEZVOUS
_FLAGS = {
    "": 0,
    "STANDARD": _STANDARD,
    "BLOCKING": _BLOCKING,
    "RENDEZVOUS": _RENDEZVOUS,
    "IMMEDIATE": _IMMEDIATE,
    "IMMEDIATE_RENDEZVOUS": _IMMEDIATE_RENDEZVOUS,
    "WITH_REQUEST": 1,
    "ALL_TARGETS": 1,
}
"""Number of each value of `replay_flag`. For sends it is the flag `sync`; STANDARD:

MPI decides whether the send waits.
"""

OPERATIONS = {name: number for number, name in enumerate(COLLECTIVE_NAMES)}
"""Number of each collective operation of Dimemas, by its name in Dimemas."""
_COLLECTIVE = (GLOBAL, GLOBAL_START, GLOBAL_ON_WORLD, GLOBAL_INIT, FENCE)


def operation_of(procedure: str) -> int | None:
    """Return the number of the Dimemas collective that stands for an MPI procedure; None: Dimemas has none."""
    return OPERATIONS.get(value_of("operation", procedure) or base_procedure(procedure).removeprefix("MPI_"))


def _file_access(procedure: str) -> int:
    """Return the bits that describe a call on a file:

    FILE_READ, ... of the replay, and FILE_OF_ALL, ... of the kernel.
    """
    transfer = TABLE.find_transfer(base_name(procedure).removeprefix("MPI_"))
    if not transfer:
        access = getattr(lib, f"FILE_{value_of('file_access', procedure)}")
        return access | (kernels.FILE_OF_ALL if value_of("file_members", procedure) else 0)
    access = lib.FILE_READ if transfer.verb == "read" else lib.FILE_WRITE
    access |= kernels.FILE_OF_ALL if transfer.of_all or transfer.place == "_ordered" else 0
    access |= kernels.FILE_STARTS if transfer.starts else 0
    return access | {"": 0, "begin": kernels.FILE_BEGINS, "end": kernels.FILE_ENDS}[transfer.half]


@lru_cache(maxsize=1 << 14)
def plan_of(procedure: str) -> tuple[int, int]:
    """Return the operation that a call of an MPI procedure becomes in our own replay.

    Receives posted in advance, the receiving half of MPI_Sendrecv and the starts of persistent collectives follow from
    the trace's requests. Collectives that Dimemas does not know (neighbourhood collectives) become NOTHING. One-sided
    operations and operations on files have a plan, although Dimemas has no records for them.

    Returns:
        Kind of the operation (`enum op_plan`), and a number that depends on the kind: the flag `sync` of a send, the
        Dimemas collective, or the bits of an access to a file.
    """
    kind = getattr(kernels, f"PLAN_{value_of('replay', procedure) or 'NOTHING'}")
    if kind == FILE:
        return kind, _file_access(procedure)
    if kind not in _COLLECTIVE:
        return kind, _FLAGS[value_of("replay_flag", procedure)]
    operation = operation_of(procedure)
    return (NOTHING, 0) if operation is None else (kind, operation)


def is_on_window(procedure: str) -> bool:
    """Return True if the procedure becomes an operation on an RMA window."""
    kind, _ = plan_of(procedure)
    return kind == FENCE or ACCESS_PUT <= kind <= WIN_UNLOCK


def dimemas_plan_of(procedure: str) -> tuple[int, int]:
    """Return the operation that a call becomes in a Dimemas trace, as `plan_of`.

    NOTHING if Dimemas has no record for it.
    """
    return plan_of(procedure) if is_in_dimemas(procedure) else (NOTHING, 0)


def is_in_dimemas(procedure: str) -> bool:
    """Return True if Dimemas has a record for the procedure."""
    return NOTHING < plan_of(procedure)[0] < ACCESS_PUT


def is_on_file(procedure: str) -> bool:
    """Return True if the procedure becomes an operation on a file."""
    return plan_of(procedure)[0] == FILE


def moves_data(procedure: str) -> bool:
    """Return True for collectives, one-sided operations and operations on files.

    A replay that leaves out a call of such a procedure does not have its data or its waiting.
    """
    name = base_name(procedure)
    return name in COLLECTIVES or is_one_sided(name) or is_of_files(name)
