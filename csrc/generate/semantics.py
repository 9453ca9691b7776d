"""What each MPI procedure means: the kind of record its wrapper makes. A new call is a line here.

Procedures that are not named are recorded with their times, and with the communicator, window or file that they have.
"""

import re
from dataclasses import dataclass

KINDS: dict[str, str] = {
    "send": "Send Bsend Ssend Rsend",
    "isend": "Isend Ibsend Issend Irsend",
    "recv": "Recv",
    "irecv": "Irecv",
    "sendrecv": "Sendrecv Sendrecv_replace",
    "isendrecv": "Isendrecv Isendrecv_replace",
    "send_init": "Send_init Bsend_init Ssend_init Rsend_init",
    "recv_init": "Recv_init",
    "start": "Start",
    "startall": "Startall",
    "wait": "Wait",
    "waitall": "Waitall",
    "waitany": "Waitany",
    "waitsome": "Waitsome",
    "test": "Test",
    "testall": "Testall",
    "testany": "Testany",
    "testsome": "Testsome",
    "poll_only": "Request_get_status Request_get_status_all Request_get_status_any Request_get_status_some",
    "asked": "Comm_rank Comm_size Initialized Finalized Get_count",
    "cancel": "Cancel",
    "request_free": "Request_free",
    "probe": "Probe",
    "iprobe": "Iprobe",
    "mprobe": "Mprobe",
    "improbe": "Improbe",
    "mrecv": "Mrecv",
    "imrecv": "Imrecv",
    "comm_create": "Comm_create Comm_create_group Comm_split Comm_split_type Comm_dup Comm_dup_with_info "
    "Intercomm_merge Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent",
    "comm_idup": "Comm_idup Comm_idup_with_info",
    "intercomm_create": "Intercomm_create",
    "comm_connect": "Comm_accept Comm_connect Comm_spawn Comm_spawn_multiple",
    "comm_free": "Comm_free Comm_disconnect",
    "comm_join": "Comm_join",
    "comm_parent": "Comm_get_parent",
    "win_create": "Win_create Win_allocate Win_allocate_shared Win_create_dynamic",
    "win_free": "Win_free",
    "win_test": "Win_test",
    "group_free": "Group_free",
    "file_open": "File_open",
    "file_close": "File_close",
    "file_view": "File_set_view",
    "comm_name": "Comm_set_name",
    "comm_named": "Comm_create_from_group Intercomm_create_from_groups",
    "partitioned_init": "Psend_init Precv_init",
    "pready": "Pready Pready_range Pready_list",
    "parrived": "Parrived",
    "session_init": "Session_init",
    "session_finalize": "Session_finalize",
    "init": "Init Init_thread",
    "finalize": "Finalize",
    "pcontrol": "Pcontrol",
    "abort": "Abort",
}

COLLECTIVES: dict[str, str] = {
    "Barrier": "BARRIER",
    "Bcast": "BCAST",
    "Gather": "GATHER",
    "Gatherv": "GATHERV",
    "Scatter": "SCATTER",
    "Scatterv": "SCATTERV",
    "Allgather": "ALLGATHER",
    "Allgatherv": "ALLGATHERV",
    "Alltoall": "ALLTOALL",
    "Alltoallv": "ALLTOALLV",
    "Alltoallw": "ALLTOALLW",
    "Reduce": "REDUCE",
    "Allreduce": "ALLREDUCE",
    "Scan": "SCAN",
    "Exscan": "EXSCAN",
    "Reduce_scatter": "REDUCE_SCATTER",
    "Reduce_scatter_block": "REDUCE_SCATTER_BLOCK",
    "Neighbor_allgather": "NEIGHBOR_ALLGATHER",
    "Neighbor_allgatherv": "NEIGHBOR_ALLGATHERV",
    "Neighbor_alltoall": "NEIGHBOR_ALLTOALL",
    "Neighbor_alltoallv": "NEIGHBOR_ALLTOALLV",
    "Neighbor_alltoallw": "NEIGHBOR_ALLTOALLW",
}
"""Blocking collective -> SHAPE_... of csrc/runtime/calls/collective.h; the I... and ..._init forms follow from it."""

ONE_SIDED: dict[str, tuple[str, str]] = {
    "Put": ("origin", ""),
    "Get": ("", "origin"),
    "Accumulate": ("origin", ""),
    "Get_accumulate": ("origin", "result"),
    "Fetch_and_op": ("element", "element"),
    "Compare_and_swap": ("element", "element"),
}
"""Operation -> the arguments that say what is handed over and what is taken: origin_count origin_datatype, ...; one
element of `datatype`. The forms with a request (Rput) follow from it."""

WINDOW_FLAVORS = {
    "Win_create": "WINDOW_CREATE",
    "Win_allocate": "WINDOW_ALLOCATE",
    "Win_allocate_shared": "WINDOW_SHARED",
    "Win_create_dynamic": "WINDOW_DYNAMIC",
}

FILE_PLACES = {
    "MPI_File_seek": "io_position({file})",
    "MPI_File_set_size": "{size}",
    "MPI_File_preallocate": "{size}",
    "MPI_File_get_byte_offset": "io_at({file}, {offset})",
}
"""Calls on a file that move no data, but name a place in it."""

_TRANSFER = re.compile(r"MPI_File_(i?)(read|write)(_at|_shared|_ordered)?(?:_all)?(_begin|_end)?")


@dataclass(frozen=True)
class Transfer:
    """What a procedure that reads or writes a file does."""

    direction: str  # IO_READ or IO_WRITE
    place: str  # "offset": an argument; "pointer": the individual file pointer; "shared": the shared one
    phase: str  # "": blocking; "begin", "end": halves of a split collective; "request": nonblocking


def transfer_of(procedure: str) -> Transfer | None:
    """What "MPI_File_iwrite_at" does; None if it moves no data."""
    match = _TRANSFER.fullmatch(procedure)
    if not match:
        return None
    immediate, verb, pointer, phase = match.groups()
    place = {None: "pointer", "_at": "offset"}.get(pointer, "shared")
    return Transfer(f"IO_{verb.upper()}", place, "request" if immediate else (phase or "").strip("_"))


LEFT_OUT = {
    "MPI_Get_version": "mpi4py asks which library defines it to find out which MPI it runs on",
    "MPI_Get_library_version": "the same",
    "MPI_File_c2f": "MPICH's Fortran procedures for files call it; no program means anything by it",
    "MPI_File_f2c": "the same",
    "MPI_Op_create_c": "its callback cannot be passed to an MPI that lacks the large-count form",
    "MPI_Register_datarep_c": "the same",
}
"""Symbols that are not defined, with the reason."""


def kind_of(procedure: str) -> tuple[str, str]:
    """(kind, shape of a collective or "") of an MPI procedure's name, such as "MPI_Iallreduce"."""
    name = procedure.removeprefix("MPI_")
    for kind, names in KINDS.items():
        if name in names.split():
            return kind, ""
    if name in COLLECTIVES:
        return "collective", COLLECTIVES[name]
    if name.endswith("_init") and name.removesuffix("_init") in COLLECTIVES:
        return "collective_init", COLLECTIVES[name.removesuffix("_init")]
    if name.startswith("I") and name[1:].capitalize() in COLLECTIVES:
        return "icollective", COLLECTIVES[name[1:].capitalize()]
    if name in ONE_SIDED or (name.startswith("R") and name[1:].capitalize() in ONE_SIDED):
        return "rma", ""
    if transfer_of(procedure):
        return "io", ""
    return "timed", ""


_CLASS_OF_KIND = {
    "P2P": "send isend recv irecv sendrecv isendrecv send_init recv_init start startall probe iprobe mprobe improbe "
    "mrecv imrecv",
    "COMPLETION": "wait waitall waitany waitsome test testall testany testsome poll_only cancel request_free",
    "COLLECTIVE": "collective icollective collective_init",
    "COMMUNICATOR": "comm_create comm_idup intercomm_create comm_connect comm_free",
    "ALWAYS": "init finalize abort",
}
_CLASS_OF_NAME = {
    "RMA": r"Win_.*|R?(Put|Get|Accumulate|Get_accumulate|put|get|accumulate|get_accumulate)|Fetch_and_op|"
    r"Compare_and_swap",
    "IO": r"File_.*|Register_datarep",
    "COMMUNICATOR": r"(Comm|Cart|Cartdim|Graph|Graphdims|Dist_graph|Intercomm|Group|Topo)_.*",
}


def class_of(procedure: str) -> str:
    """CLASS_... of csrc/runtime/mpi/procedures.h: the kinds of calls that TRACELIB_CALLS tells apart."""
    kind, _ = kind_of(procedure)
    for name, kinds in _CLASS_OF_KIND.items():
        if kind in kinds.split():
            return name
    for name, pattern in _CLASS_OF_NAME.items():
        if re.fullmatch(pattern, procedure.removeprefix("MPI_")):
            return name
    return "OTHER"


_ROLES = {
    "CALL_SENDS": "send isend sendrecv isendrecv",
    "CALL_RECEIVES": "recv",
    "CALL_POSTS": "irecv isendrecv mprobe improbe",
    "CALL_MEETS": "collective",
    "CALL_BEGINS_TO_MEET": "icollective",
}


def role_of(procedure: str) -> str:
    """Bits of `enum call_role` of csrc/runtime/mpi/procedures.h, as C."""
    kind, _ = kind_of(procedure)
    return " | ".join(role for role, kinds in _ROLES.items() if kind in kinds.split()) or "0"
