"""What each MPI procedure becomes in a Dimemas trace.

Source: "Dimemas 5.5.0 input format"; flags and identifiers as prv2dim writes them.
"""

from __future__ import annotations

from analyzer.paraver import COLLECTIVES, base_name, is_one_sided

NOTHING, SEND, RECEIVE, GLOBAL, GLOBAL_START, GLOBAL_ON_WORLD = range(6)
"""`enum dim_plan` of the kernel."""

_BLOCKING, _RENDEZVOUS, _IMMEDIATE, _IMMEDIATE_RENDEZVOUS = range(4)
_SENDS = {
    "Send": _RENDEZVOUS, "Ssend": _RENDEZVOUS, "Rsend": _RENDEZVOUS,
    "Isend": _IMMEDIATE, "Bsend": _IMMEDIATE, "Ibsend": _IMMEDIATE, "Issend": _IMMEDIATE,
    "Irsend": _IMMEDIATE_RENDEZVOUS,
    "Sendrecv": _BLOCKING, "Sendrecv_replace": _BLOCKING,
    "Isendrecv": _IMMEDIATE, "Isendrecv_replace": _IMMEDIATE,
}  # fmt: skip
"""Flag `sync` of each send."""

_IN_ORDER_OF_ID = """
Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Reduce Allreduce
Reduce_scatter Reduce_scatter_block Scan Alltoallw
"""
_OPERATIONS = {name: number for number, name in enumerate(_IN_ORDER_OF_ID.split())}
_OPERATIONS["Exscan"] = _OPERATIONS["Scan"]  # unknown to Dimemas; communicates as a Scan does


def plan_of(procedure: str) -> tuple[int, int]:
    """What a call becomes: kind of record (above), and its sync flag or global operation.

    Receives posted in advance and the receiving half of MPI_Sendrecv follow from the trace's requests.
    Operations that Dimemas does not know (one-sided, I/O, neighbourhood collectives) become nothing.
    """
    name = base_name(procedure).removeprefix("MPI_")
    started = name[1:].capitalize() if name[:1] == "I" else ""
    if name in _SENDS:
        return SEND, _SENDS[name]
    if name == "Recv":
        return RECEIVE, 0
    if name in ("Init", "Init_thread"):
        return GLOBAL_ON_WORLD, _OPERATIONS["Barrier"]
    if name in _OPERATIONS:
        return GLOBAL, _OPERATIONS[name]
    return (GLOBAL_START, _OPERATIONS[started]) if started in _OPERATIONS else (NOTHING, 0)


def moves_data(procedure: str) -> bool:
    """Whether leaving the procedure out changes what is replayed."""
    name = base_name(procedure)
    return name in COLLECTIVES or is_one_sided(name) or name.startswith("MPI_File_")
