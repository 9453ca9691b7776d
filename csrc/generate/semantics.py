"""What each MPI procedure means: the kind of record its wrapper makes. A new call is a line here.

Procedures that are not named are recorded with their times, and with their communicator where they have one.
"""

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
    "init": "Init Init_thread",
    "finalize": "Finalize",
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
    "Exscan": "SCAN",
    "Reduce_scatter": "REDUCE_SCATTER",
    "Reduce_scatter_block": "REDUCE_SCATTER_BLOCK",
    "Neighbor_allgather": "NEIGHBOR_ALLGATHER",
    "Neighbor_allgatherv": "NEIGHBOR_ALLGATHERV",
    "Neighbor_alltoall": "NEIGHBOR_ALLTOALL",
    "Neighbor_alltoallv": "NEIGHBOR_ALLTOALLV",
    "Neighbor_alltoallw": "NEIGHBOR_ALLTOALLW",
}
"""Blocking collective -> SHAPE_... of csrc/runtime/decode.h; the I... and ..._init forms follow from it."""

LEFT_OUT = {
    "MPI_Get_version": "mpi4py asks which library defines it to find out which MPI it runs on",
    "MPI_Get_library_version": "the same",
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
        return "collective_init", ""
    if name.startswith("I") and name[1:].capitalize() in COLLECTIVES:
        return "icollective", COLLECTIVES[name[1:].capitalize()]
    return "timed", ""
