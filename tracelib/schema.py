"""The one definition of a rank file's contents: the C runtime, the writer and the reader all take it from here.

`setup.py` turns the tables below into C structs and into the template that the runtime copies, so a
column is added here and nowhere else. Times in the file are raw clock ticks; `clock` relates them to
nanoseconds. `docs/format.md` says in prose what each column means.
"""

from enum import IntEnum

import numpy as np

VERSION = 1

CALL = np.dtype(
    [
        ("enter", "<u8"),  # ticks at entry
        ("exit", "<u8"),  # ticks at exit
        ("sent", "<u8"),  # bytes this call hands to MPI
        ("received", "<u8"),  # bytes this call takes from MPI (receives posted earlier: see `requests`)
        ("comm", "<u4"),  # row of `communicators`; 0: none
        ("peer", "<i4"),  # rank in comm of the destination, the actual source, or the root; or a Peer
        ("tag", "<i4"),  # tag; -1: none, or any tag in a receive that is only posted here
        ("call", "<u2"),  # row of `procedures`
        ("thread", "<u2"),  # thread of the process, in order of first call
    ]
)
"""One row for each MPI call that returned, except polls that failed."""

REQUEST = np.dtype(
    [
        ("posted", "<u8"),  # `enter` of the call that posted or started the operation
        ("completed", "<u8"),  # `exit` of the call that completed it; 0 in the STARTED rows
        ("bytes", "<u8"),  # bytes sent or received
        ("comm", "<u4"),
        ("peer", "<i4"),  # rank in comm: destination, or actual source
        ("tag", "<i4"),  # actual tag
        ("what", "<u2"),  # What
        ("thread", "<u2"),  # thread that wrote the row
    ]
)
"""What a row of `calls` cannot hold: completions, the second half of a Sendrecv, started persistent requests."""

POLL = np.dtype(
    [
        ("enter", "<u8"),  # entry of the first failing poll of the run of polls
        ("exit", "<u8"),  # exit of the last one
        ("inside", "<u8"),  # ticks spent inside the polls
        ("count", "<u4"),  # how many
        ("call", "<u2"),  # row of `procedures`
        ("thread", "<u2"),
    ]
)
"""Consecutive failing Test*, Iprobe, Improbe calls, counted into one row."""

EVENT = np.dtype(
    [
        ("time", "<u8"),
        ("value", "<i8"),
        ("type", "<u4"),  # Paraver event type
        ("thread", "<u2"),
        ("flags", "<u2"),  # reserved, 0
    ]
)
"""Punctual events: flush begin and end; later user events and regions."""

BLOCK = np.dtype(
    [
        ("first", "<u8", (4,)),  # first row of this block in calls, requests, polls, events
        ("count", "<u4", (4,)),  # its number of rows in each of them
        ("thread", "<u4"),
        ("flags", "<u4"),  # 1: tagged by a pair of events, as all blocks are; 0 is reserved
    ]
)
"""One row for each buffer written to the file: which rows belong to which thread."""

CLOCK = np.dtype([("ticks", "<u8"), ("monotonic_ns", "<i8")])
"""Pairs read together: at the start, at each flush, at the end."""

SYNC = np.dtype([("local_ns", "<i8"), ("reference_ns", "<i8"), ("round_trip_ns", "<i8")])
"""CLOCK_MONOTONIC of this node and of rank 0's at one moment; half the round trip bounds the error. At MPI_Init and
MPI_Finalize, by the first rank of each node that does not share rank 0's clock."""

COMMUNICATOR = np.dtype(
    [
        ("id", "<u8"),  # the same on all members; 0: unknown
        ("created", "<u8"),  # ticks
        ("members", "<u8"),  # first row in `members`: world ranks of the (local) group
        ("remote", "<u8"),  # first row in `members` of the remote group
        ("size", "<u4"),
        ("remote_size", "<u4"),  # 0: an intracommunicator
        ("rank", "<i4"),  # of this process in it
        ("flags", "<u4"),  # reserved, 0
    ]
)
"""Row 0 is "no communicator", 1 MPI_COMM_WORLD, 2 MPI_COMM_SELF; then in order of creation."""

MEMBER = np.dtype("<u4")

BUFFERED = {"calls": CALL, "requests": REQUEST, "polls": POLL, "events": EVENT}
"""Tables that go through each thread's buffer, in the order of BLOCK's columns."""

DIRECT = {"blocks": BLOCK, "clock": CLOCK, "sync": SYNC, "communicators": COMMUNICATOR, "members": MEMBER}
"""Tables written straight to the file."""

TABLES = BUFFERED | DIRECT

CHUNK_ROWS = {
    "calls": 2048,
    "requests": 2048,
    "polls": 512,
    "events": 256,
    "blocks": 64,
    "clock": 64,
    "sync": 64,
    "communicators": 32,
    "members": 512,
}
"""Small, so that a short run on many ranks stays small; the last chunk of a table is mostly a hole."""


class Peer(IntEnum):
    """Values of `peer` that are not a rank."""

    NONE = -1
    PROC_NULL = -2
    ANY_SOURCE = -3
    ROOT = -4  # MPI_ROOT: this process is the root of an intercommunicator's collective


class What(IntEnum):
    """What a row of `requests` says."""

    SEND_STARTED = 1
    RECV_STARTED = 2
    SEND_DONE = 3
    RECV_DONE = 4
    COLLECTIVE_DONE = 5
    SEND_CANCELLED = 6
    RECV_CANCELLED = 7
    SEND_FREED = 8  # MPI_Request_free: still delivered
    RECV_FREED = 9
    RECEIVED = 10  # the receiving half of a Sendrecv; a matched receive
    OTHER_DONE = 11


class State(IntEnum):
    """Attribute `state` of a rank file: how far its process came."""

    RECORDING = 0
    FINALIZED = 1  # MPI_Finalize returned
    EXITED = 2  # exit without MPI_Finalize
    FULL = 3  # the disk was full: what came later is counted in `lost_*`


INTEGER_ATTRIBUTES = (
    "rank",
    "size",
    "pid",
    "time_namespace",
    "start_ticks",  # process start
    "start_realtime_ns",
    "ticks_are_tsc",  # 1: invariant TSC; 0: CLOCK_MONOTONIC in ns
    "thread_level",  # 0 single .. 3 multiple
    "buffer_bytes",
    "state",
    "lost_calls",
    "lost_rows",
)
TEXT_ATTRIBUTES = {"host": 64, "boot_id": 40, "mpi_library": 256, "command": 1024, "spool": 256}
"""Name and room in bytes."""

FLUSH_TYPE = 40000003

SPOOL_MAGIC = b"TLSPOOL1"
SPOOL_HEADER_BYTES = 4096
SPOOL_HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("thread", "<u8"),
        ("flushing", "<u8"),  # 1 while the rows below are being written to the file
        ("offset", "<u8", (4,)),  # byte offset in the spool of each buffered table's rows
        ("base", "<u8", (4,)),  # while flushing: the row in the file where they go
        ("count", "<u8", (4,)),  # rows in the spool that are not known to be in the file
        ("rank_file", "S1024"),
    ]
)
"""First bytes of a spool: the mapped buffer of one thread, named <attribute spool>.<thread>.

Its rows survive the death of the process. If `flushing`, they belong at `base` (and may be there already),
else at the end of the table.
"""
