"""What operation each MPI procedure is.

Source: "Dimemas 5.5.0 input format"; flags and identifiers as prv2dim writes them.
"""

from __future__ import annotations

from analyzer._replay import lib
from analyzer.paraver import COLLECTIVES, base_name, is_one_sided

(
    NOTHING, SEND, RECEIVE, GLOBAL, GLOBAL_START, GLOBAL_ON_WORLD, GLOBAL_INIT, FENCE,
    PART_READY, ACCESS_PUT, ACCESS_GET, ACCESS_WAIT,
) = range(12)  # fmt: skip
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

_IN_ORDER_OF_ID = """
Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Reduce Allreduce
Reduce_scatter Reduce_scatter_block Scan Alltoallw
"""
OPERATIONS = {name: number for number, name in enumerate(_IN_ORDER_OF_ID.split())}
"""Collective operations of Dimemas."""
_ACCESSES = {
    **dict.fromkeys(("Put", "Rput", "Accumulate", "Raccumulate"), ACCESS_PUT),
    **dict.fromkeys(
        ("Get", "Rget", "Get_accumulate", "Rget_accumulate", "Fetch_and_op", "Compare_and_swap"), ACCESS_GET
    ),
}
_COMPLETES_ACCESSES = ("Win_complete", "Win_unlock", "Win_flush")
OPERATIONS["Exscan"] = OPERATIONS["Scan"]  # unknown to Dimemas; communicates as a Scan does


def plan_of(procedure: str) -> tuple[int, int]:
    """What a call becomes: kind of operation (above), and its sync flag or collective operation.

    Receives posted in advance and the receiving half of MPI_Sendrecv follow from the trace's requests, and
    where persistent collectives are started.
    What Dimemas does not know of (I/O, neighbourhood collectives) becomes nothing; one-sided operations are none of
    its records either, but our own replay knows them.
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
    if name == "Win_fence":
        return FENCE, OPERATIONS["Barrier"]
    if name in _ACCESSES:
        return _ACCESSES[name], 0
    return (ACCESS_WAIT, 0) if name.startswith(_COMPLETES_ACCESSES) else (NOTHING, 0)


def is_in_dimemas(procedure: str) -> bool:
    """Whether Dimemas has a record for the procedure."""
    return NOTHING < plan_of(procedure)[0] < ACCESS_PUT


def moves_data(procedure: str) -> bool:
    """Whether leaving the procedure out changes what is replayed."""
    name = base_name(procedure)
    return name in COLLECTIVES or is_one_sided(name) or name.startswith("MPI_File_")
