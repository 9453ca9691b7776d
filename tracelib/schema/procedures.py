"""The procedures of MPI by what they do: one table, from which all sets of them come.

Each procedure that the tracer decodes has one family, or is in NO_FAMILY with the reason why no reader needs it.
Names are without the `_c` of large counts (`base_name`).
"""

from __future__ import annotations

import re

FAMILIES: dict[str, str] = {
    "start of MPI": "Init Init_thread",
    "end of MPI": "Finalize",
    "send": "Send Bsend Ssend Rsend",
    "immediate send": "Isend Ibsend Issend Irsend",
    "receive": "Recv",
    "immediate receive": "Irecv",
    "probe": "Probe Iprobe",
    "matched probe": "Mprobe Improbe",
    "matched receive": "Mrecv",
    "immediate matched receive": "Imrecv",
    "send and receive": "Sendrecv Sendrecv_replace",
    "immediate send and receive": "Isendrecv Isendrecv_replace",
    "start": "Start Startall",
    "part handed over": "Pready Pready_range Pready_list",
    "part asked for": "Parrived",
    "wait": "Wait Waitall Waitany Waitsome",
    "test": "Test Testall Testany Testsome",
    "status": "Request_get_status Request_get_status_all Request_get_status_any Request_get_status_some",
    "cancel": "Cancel",
    "barrier": "Barrier",
    "from or to a root": "Bcast Gather Gatherv Reduce Scatter Scatterv",
    "all to all": "Allgather Allgatherv Alltoall Allreduce Reduce_scatter Reduce_scatter_block",
    "all to some": "Alltoallv Alltoallw",
    "from those before": "Scan Exscan",
    "neighbourhood": "Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw",
    "one-sided": "Put Get Accumulate Get_accumulate Fetch_and_op Compare_and_swap",
    "one-sided with a request": "Rput Rget Raccumulate Rget_accumulate",
    "window made together": "Win_create Win_allocate Win_allocate_shared Win_create_dynamic Win_free",
    "fence": "Win_fence",
    "wait for a window": "Win_wait",
    "window asked": "Win_test",
    "clock": "Wtime Wtick",
    "asks MPI": "Comm_rank Comm_size Initialized Finalized Get_count",
    "spawn": "Comm_spawn Comm_spawn_multiple",
    "connect": "Comm_accept Comm_connect Comm_join",
}
"""Family -> its procedures, each in one family."""

NO_FAMILY: dict[str, str] = {
    "Send_init Bsend_init Ssend_init Rsend_init Recv_init Psend_init Precv_init": "what they make is in `requests`",
    "Request_free": "the same",
    "Comm_create Comm_create_group Comm_split Comm_split_type Comm_dup Comm_dup_with_info Comm_idup "
    "Comm_idup_with_info Intercomm_merge Intercomm_create Cart_create Cart_sub Graph_create Dist_graph_create "
    "Dist_graph_create_adjacent Comm_create_from_group Intercomm_create_from_groups Comm_free Comm_disconnect "
    "Comm_get_parent Comm_set_name Group_free": "they are read from the table of communicators",
    "File_open File_close File_set_view": "told by the beginning of their names, as all of files",
    "Session_init Session_finalize": "a run of sessions begins and ends with its first and last call",
    "Pcontrol": "it becomes an event, or begins and ends recording",
    "Abort": "told in how a run ended",
}
"""Procedures that the tracer decodes and no set needs, with the reason."""


def base_name(name: str) -> str:
    """The procedure without the `_c` of its large-count form."""
    return name.removesuffix("_c")


def _of(*families: str) -> frozenset[str]:
    return frozenset(f"MPI_{name}" for family in families for name in FAMILIES[family].split())


def _immediate(names: frozenset[str]) -> frozenset[str]:
    return frozenset(f"MPI_I{name[4].lower()}{name[5:]}" for name in names)


INIT, FINALIZE = _of("start of MPI"), _of("end of MPI")

SENDS, IMMEDIATE_SENDS = _of("send"), _of("immediate send")
RECEIVES = _of("receive", "matched receive")
IMMEDIATE_RECEIVES = _of("immediate receive", "immediate matched receive")
SEND_RECEIVES, IMMEDIATE_SEND_RECEIVES = _of("send and receive"), _of("immediate send and receive")
STANDARD_SENDS = SEND_RECEIVES | {"MPI_Send"}
"""Blocking sends of which MPI decides by their size whether they wait."""
BUFFERED_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("bsend") or "Bsend" in name)
SYNCHRONOUS_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("ssend") or "Ssend" in name)
ROWS_THAT_SEND = SENDS | IMMEDIATE_SENDS | SEND_RECEIVES | IMMEDIATE_SEND_RECEIVES
"""Procedures whose rows of a rank file's `calls` are sends; started persistent ones are in `requests`."""
ROWS_THAT_RECEIVE = _of("receive")
"""Procedures whose rows of a rank file's `calls` are receives; all others are in `requests`."""
STARTS = _of("start")
HANDED_OVER, ARRIVED = _of("part handed over"), _of("part asked for")

UNMATCHED_PROBES, MATCHED_PROBES = _of("probe"), _of("matched probe")
PROBES = UNMATCHED_PROBES | MATCHED_PROBES
IMMEDIATE_PROBES = frozenset({"MPI_Iprobe", "MPI_Improbe"})
WAITS, TESTS, STATUSES = _of("wait"), _of("test"), _of("status")
WINDOW_WAITS, WINDOW_TESTS = _of("wait for a window"), _of("window asked")
ASKS = TESTS | STATUSES | IMMEDIATE_PROBES
"""Polls of which a trace says whether they found anything."""
POLLS = ASKS | ARRIVED | WINDOW_TESTS
"""Calls that ask whether something has come, and come back at once."""

CLOCKS = _of("clock")
"""They do nothing for others: time in them is the program's computation, as to tools that do not record them."""
ASKING_MPI = _of("asks MPI")

ROOTED, NEIGHBOURHOOD = _of("from or to a root"), _of("neighbourhood")
BLOCKING_COLLECTIVES = ROOTED | NEIGHBOURHOOD | _of("barrier", "all to all", "all to some", "from those before")
NONBLOCKING_COLLECTIVES = _immediate(BLOCKING_COLLECTIVES)
PERSISTENT_COLLECTIVES = frozenset(f"{name}_init" for name in BLOCKING_COLLECTIVES)
DECODED = (
    frozenset(f"MPI_{name}" for names in (*FAMILIES.values(), *NO_FAMILY) for name in names.split())
    | NONBLOCKING_COLLECTIVES
    | PERSISTENT_COLLECTIVES
)
"""All procedures whose arguments the tracer decodes."""
BY_A_ROOT = ROOTED | _immediate(ROOTED)
TO_A_ROOT = frozenset(name for name in BY_A_ROOT if "gather" in name.lower() or "reduce" in name.lower())
BARRIERS = _of("barrier") | _immediate(_of("barrier"))
COLLECTIVES = BLOCKING_COLLECTIVES | NONBLOCKING_COLLECTIVES
"""Collective operations on data, blocking and nonblocking."""

POINT_TO_POINT = (
    SENDS | IMMEDIATE_SENDS | RECEIVES | IMMEDIATE_RECEIVES | SEND_RECEIVES | IMMEDIATE_SEND_RECEIVES | STARTS | WAITS
    | TESTS | PROBES | _of("cancel")
)  # fmt: skip
"""Calls that send or receive, and those that wait or look for it."""

ONE_SIDED_OPERATIONS = _of("one-sided", "one-sided with a request")
"""Calls that move data to or from a window."""
FENCES, WINDOWS_MADE = _of("fence"), _of("window made together")
SPAWNS, CONNECTS = _of("spawn"), _of("connect")


def is_one_sided(name: str) -> bool:
    """Whether the procedure belongs to remote memory access."""
    return base_name(name) in ONE_SIDED_OPERATIONS or name.startswith("MPI_Win_")


_LOCAL = re.compile(
    "MPI_(Type_|Op_|Info_|Group_|Status_|Err|Attr_|Keyval_|Pack|Unpack|Address|Aint_|Buffer_|Alloc_mem|Free_mem|Dims_|Topo_"
    "|Query_|Is_thread|Cart_(get|coords|rank|shift|map)|Cartdim|Graph_(get|map|neigh)|Graphdims|Win_(get|set)_"
    "|Comm_(get|set)_|Comm_(test_inter|compare|group|remote_|call_|delete_|create_keyval|free_keyval)"
    "|Get_(address|elements|processor|version|library))"
)


def is_local(name: str) -> bool:
    """Whether the procedure describes data or asks for properties: no other rank is needed for that."""
    return _LOCAL.match(name) is not None


def is_of_files(name: str) -> bool:
    """Whether the procedure belongs to files."""
    return name.startswith("MPI_File_")
