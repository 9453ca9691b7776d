"""The operation of each MPI procedure.

Source: "Dimemas 5.5.0 input format"; flags and identifiers as prv2dim writes them.
"""

from __future__ import annotations

import re

from analyzer._kernels import lib as kernels
from analyzer._replay import lib
from analyzer.program.operation import COLLECTIVE_NAMES
from tracelib.schema.procedures import COLLECTIVES, base_name, is_of_files, is_one_sided

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
"""`enum op_plan` of the kernel."""

_BLOCKING, _RENDEZVOUS, _IMMEDIATE, _IMMEDIATE_RENDEZVOUS = range(4)
_STANDARD = lib.OP_STANDARD // lib.OP_RENDEZVOUS | _RENDEZVOUS
_SENDS = {
    "Send": _STANDARD, "Ssend": _RENDEZVOUS, "Rsend": _RENDEZVOUS,
    "Isend": _IMMEDIATE, "Bsend": _IMMEDIATE, "Ibsend": _IMMEDIATE, "Issend": _IMMEDIATE,
    "Irsend": _IMMEDIATE_RENDEZVOUS,
    "Sendrecv": _BLOCKING, "Sendrecv_replace": _BLOCKING,
    "Isendrecv": _IMMEDIATE, "Isendrecv_replace": _IMMEDIATE,
}  # fmt: skip
"""Flag `sync` of each send, and that MPI decides whether it waits."""

OPERATIONS = {name: number for number, name in enumerate(COLLECTIVE_NAMES)}
"""Collective operations of Dimemas."""
OPERATIONS["Exscan"] = OPERATIONS["Scan"]  # unknown to it; communicates as a Scan does
_WITH_REQUEST, _ALL_TARGETS = 1, 1
_ON_WINDOWS = {
    **dict.fromkeys(("Put", "Accumulate"), (ACCESS_PUT, 0)),
    **dict.fromkeys(("Rput", "Raccumulate"), (ACCESS_PUT, _WITH_REQUEST)),
    **dict.fromkeys(("Get", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"), (ACCESS_GET, 0)),
    **dict.fromkeys(("Rget", "Rget_accumulate"), (ACCESS_GET, _WITH_REQUEST)),
    **dict.fromkeys(("Win_flush", "Win_flush_local"), (ACCESS_WAIT, 0)),
    **dict.fromkeys(("Win_flush_all", "Win_flush_local_all"), (ACCESS_WAIT, _ALL_TARGETS)),
    "Win_fence": (FENCE, OPERATIONS["Barrier"]),
    "Win_post": (WIN_POST, 0),
    "Win_start": (WIN_START, 0),
    "Win_complete": (WIN_COMPLETE, 0),
    "Win_wait": (WIN_WAIT, 0),
    "Win_test": (WIN_WAIT, 0),
    "Win_lock": (WIN_LOCK, 0),
    "Win_lock_all": (WIN_LOCK, _ALL_TARGETS),
    "Win_unlock": (WIN_UNLOCK, 0),
    "Win_unlock_all": (WIN_UNLOCK, _ALL_TARGETS),
}
_ON_FILES = {
    "open": lib.FILE_OPEN | kernels.FILE_OF_ALL,
    "close": lib.FILE_CLOSE | kernels.FILE_OF_ALL,
    "sync": lib.FILE_SYNC | kernels.FILE_OF_ALL,
    "set_size": lib.FILE_OPEN | kernels.FILE_OF_ALL,
    "preallocate": lib.FILE_OPEN | kernels.FILE_OF_ALL,
    "set_view": lib.FILE_LOCAL | kernels.FILE_OF_ALL,
    "set_info": lib.FILE_LOCAL | kernels.FILE_OF_ALL,
    "set_atomicity": lib.FILE_LOCAL | kernels.FILE_OF_ALL,
    "seek_shared": lib.FILE_LOCAL | kernels.FILE_OF_ALL,
    "delete": lib.FILE_OPEN,
}
"""Calls that reach the file system without reading or writing, and calls that all ranks make. Others are local."""
_TRANSFER = re.compile(r"(i?)(read|write)(_at|_shared|_ordered)?(_all)?(_begin|_end)?")


def _on_file(name: str) -> int:
    """Return the flags of a file procedure's operation, by its name without MPI_File_, such as "iwrite_at_all"."""
    found = _TRANSFER.fullmatch(name)
    if not found:
        return _ON_FILES.get(name, lib.FILE_LOCAL)
    started, verb, where, of_all, half = found.groups()
    does = lib.FILE_READ if verb == "read" else lib.FILE_WRITE
    does |= kernels.FILE_OF_ALL if of_all or where == "_ordered" else 0
    does |= kernels.FILE_STARTS if started else 0
    return does | {None: 0, "_begin": kernels.FILE_BEGINS, "_end": kernels.FILE_ENDS}[half]


def plan_of(procedure: str) -> tuple[int, int]:
    """Return the kind of operation (above) that a call becomes, and its sync flag or collective operation.

    Receives posted in advance, the receiving half of MPI_Sendrecv and the starts of persistent collectives follow from
    the trace's requests. Procedures that Dimemas does not know (neighbourhood collectives) become nothing. Dimemas has
    no records for one-sided operations and operations on files either, but our own replay knows them.
    """
    name = base_name(procedure).removeprefix("MPI_")
    started = name[1:].capitalize() if name[:1] == "I" else ""
    if name in _SENDS:
        return SEND, _SENDS[name]
    if name == "Recv":
        return RECEIVE, 0
    if name in ("Init", "Init_thread"):
        return GLOBAL_ON_WORLD, OPERATIONS["Barrier"]
    if name in OPERATIONS:
        return GLOBAL, OPERATIONS[name]
    if started in OPERATIONS:
        return GLOBAL_START, OPERATIONS[started]
    if name.removesuffix("_init") in OPERATIONS:
        return GLOBAL_INIT, OPERATIONS[name.removesuffix("_init")]
    if name.startswith("Pready"):
        return PART_READY, 0
    if name.startswith("File_"):
        return FILE, _on_file(name.removeprefix("File_"))
    return _ON_WINDOWS.get(name, (NOTHING, 0))


def is_on_window(procedure: str) -> bool:
    """Return True if the procedure's operation is one on a window."""
    kind, _ = plan_of(procedure)
    return kind == FENCE or ACCESS_PUT <= kind <= WIN_UNLOCK


def dimemas_plan_of(procedure: str) -> tuple[int, int]:
    """Return the plan of a procedure (`plan_of`) for a Dimemas trace: NOTHING if Dimemas has no record for it."""
    return plan_of(procedure) if is_in_dimemas(procedure) else (NOTHING, 0)


def is_in_dimemas(procedure: str) -> bool:
    """Return True if Dimemas has a record for the procedure."""
    return NOTHING < plan_of(procedure)[0] < ACCESS_PUT


def is_on_file(procedure: str) -> bool:
    """Return True if the procedure's operation is one on a file."""
    return plan_of(procedure)[0] == FILE


def moves_data(procedure: str) -> bool:
    """Return True if leaving the procedure out changes the replay."""
    name = base_name(procedure)
    return name in COLLECTIVES or is_one_sided(name) or is_of_files(name)
