"""The one definition of a rank file's contents: the C runtime, the writer and the reader all take it from here.

`setup.py` turns the tables below into C structs and into the template that the runtime copies, so a
column is added here and nowhere else. Times in the file are raw clock ticks; `clock` relates them to
nanoseconds. `docs/format.md` says in prose what each column means.
"""

from enum import IntEnum

import numpy as np

# Who reads or writes a file takes all of it from here.
from tracelib.schema.event_types import (  # noqa: F401
    CALL_WAS_LEFT,
    COUNTER_SET_TYPE,
    CPU_TIME_TYPE,
    CPU_WAIT_TYPE,
    ERROR_TYPE,
    FLUSH_TYPE,
    MISSED_SAMPLES_TYPE,
    NATIVE_COUNTER_BASE,
    NOT_READ,
    OFF_CPU_TYPE,
    PAPI_PRESET_BASE,
    PARALLEL_TYPE,
    PARAMETER_TYPE,
    PATHS_TYPE,
    PREDICTED_TYPE,
    REGION_TYPE,
    RUN_DELAY_TYPE,
    SAMPLER_THREAD,
    SYNC_TYPE,
    TRACERS_TYPES,
    TRACING_TYPE,
    CpuWait,
    OffCpuState,
)
from tracelib.schema.what import STARTED, WHAT_MASK, WHAT_ORDINAL_SHIFT, RequestKind, is_one_of  # noqa: F401

VERSION = 8

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
        ("what", "<u2"),  # RequestKind
        ("thread", "<u2"),  # thread that wrote the row
    ]
)
"""Row of `requests`: completions, the second half of a Sendrecv, started persistent requests. A row of `calls` has no
room for them."""

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
        ("flags", "<u2"),  # depends on the type
    ]
)
"""Punctual events: flushes, tracing switched, regions, events of the program, samples of counters."""

ACCESS = np.dtype(
    [
        ("enter", "<u8"),  # `enter` of the call, which is its row of `calls`
        ("offset", "<i8"),  # bytes from the beginning of the target's window, or of the file; -1: not known
        ("object", "<u4"),  # row of `objects`
        ("detail", "<u2"),  # depends on the call
        ("thread", "<u2"),
    ]
)
"""Row of `accesses`: the window or file of one-sided communication and I/O, and the place in it. A row of `calls` has
no room for them."""

SUMMARY = np.dtype(
    [
        ("enter", "<u8"),  # entry of the first call
        ("exit", "<u8"),  # exit of the last one
        ("inside", "<u8"),  # ticks spent inside the calls
        ("sent", "<u8"),
        ("received", "<u8"),
        ("count", "<u4"),  # how many
        ("thread", "<u2"),
        ("flags", "<u2"),  # 0: a stretch of consecutive calls; n + 1: all calls of procedure n in a buffer
    ]
)
"""Consecutive calls that the user did not want one by one."""

COUNT = np.dtype("<u8")
"""Reading of a counter. For each row of `calls`, in order of the counters: the readings at entry, then at exit."""

PATH_NUMBER = np.dtype("<u4")
"""Row of `paths`; 0: not known. Row i of `call_paths` is of row i of `calls`, and so are `poll_paths` and `polls`: both
are empty where no paths are recorded."""

BLOCK = np.dtype(
    [
        ("first", "<u8", (9,)),  # first row of this block in each of the buffered tables
        ("count", "<u4", (9,)),  # its number of rows in each of them
        ("thread", "<u4"),
        ("flags", "<u4"),  # bits: 1 tagged by a pair of events, as all are that were written; 2, 4, 8..: BLOCK_...
        ("set", "<u4"),  # set of counters that its calls were read with, from 1; 0: none
    ]
)
"""One row for each buffer written to the file, or left out: which rows belong to which thread."""
BLOCK_DROPPED = 2
"""Bit of `flags`: the rows are no longer there."""
BLOCK_UNWRITTEN = 4
"""Bit of `flags`: nor were they ever; `count` is how many there would be."""
BLOCK_RECOVERED = 8
"""Bit of `flags`: added by `tracelib recover`; no events tag it."""
BLOCK_SKIPPED_SHIFT = 8
"""The bits from here are how many rows of `skipped` stand for the messages of a dropped block."""

CLOCK = np.dtype([("ticks", "<u8"), ("monotonic_ns", "<i8")])
"""Pairs read together: at the start, at each flush, at the end."""

SYNC = np.dtype([("local_ns", "<i8"), ("reference_ns", "<i8"), ("round_trip_ns", "<i8"), ("accuracy_ns", "<i8")])
"""CLOCK_MONOTONIC of this node and of rank 0's at one moment; half the round trip bounds the error, accuracy estimates
its standard deviation (0: not estimated). At MPI_Init, MPI_Finalize and where TRACELIB_SYNC wants it in between, by the
first rank of each node that does not share rank 0's clock."""

COMMUNICATOR = np.dtype(
    [
        ("id", "<u8"),  # the same on all members; 0: unknown
        ("created", "<u8"),  # ticks
        ("members", "<u8"),  # the (local) group: a progression (tracelib.schema.groups), or its first row in `members`
        ("remote", "<u8"),  # likewise the remote group
        ("size", "<u4"),
        ("remote_size", "<u4"),  # 0: an intracommunicator
        ("rank", "<i4"),  # of this process in it
        ("flags", "<u4"),  # COMMUNICATOR_...
    ]
)
"""Row 0 is "no communicator", 1 MPI_COMM_WORLD, 2 MPI_COMM_SELF; then in order of creation."""

COMMUNICATOR_IS_GROUP = 1
"""Bit of `flags`: a group of MPI_Win_start or MPI_Win_post that is no communicator's; `id` is 0, `rank` -1."""

PROGRESSION_BIT, PROGRESSION_STRIDE_SHIFT = 63, 32
"""Encoding of a group that is an arithmetic progression: this bit is set, the bits from the shift on are the stride,
the bits below the shift the first world rank."""

ACCESS_HAS_GROUP = 4
"""Bit of `detail` of `accesses`: `offset` is the row of `communicators` that has the call's group."""

MEMBER = np.dtype("<u4")

OBJECT = np.dtype(
    [
        ("id", "<u8"),  # the same on all ranks that share it; 0: unknown
        ("created", "<u8"),  # ticks
        ("size", "<u8"),  # bytes of this process's part of a window
        ("comm", "<u4"),  # row of `communicators`
        ("kind", "<u4"),  # ObjectKind
        ("unit", "<u4"),  # displacement unit of a window
        ("flags", "<u4"),  # flavour of a window, access mode of a file
        ("name", "S216"),  # of the file
    ]
)
"""Windows and files, in the order of creation; row 0 is "none"."""

LABEL = np.dtype([("type", "<u4"), ("kind", "<u4"), ("value", "<i8"), ("name", "S112")])
"""Names that the program gave to its regions, parameters, event types and event values (LabelKind)."""

COUNTER = np.dtype([("set", "<u4"), ("position", "<u4"), ("type", "<u4"), ("flags", "<u4"), ("name", "S112")])
"""The counters of each set (from 1) in the order of their readings; type is the Paraver event type."""

SKIPPED = np.dtype(
    [
        ("time", "<u8"),  # ticks: when the last of them was posted; no recorded one of the channel was in between
        ("count", "<u8"),  # messages
        ("comm", "<u4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        (
            "what",
            "<u2",
        ),  # RequestKind, with ordinal: ..._DONE, or SEND_CANCELLED: the send posted then did not take place
        ("thread", "<u2"),
    ]
)
"""Messages of one channel that were sent or received while nothing was recorded: matching counts them."""
SKIPPED_BY_DROPPING = 128
"""Bit of `what`: of a dropped block, not of a time when recording was off."""

PATH = np.dtype(
    [
        ("parent", "<u4"),  # row of the path of the caller; 0: this is the outermost place that is known
        (
            "module",
            "<u4",
        ),  # row of `modules`, or PATH_IN_FUNCTION and a row of `functions`; 0: no place
        ("offset", "<u8"),  # return address less the module's base; in a function its line
    ]
)
"""Call paths, each once: a place in the code, and the path of the call of the function that it lies in. Row 0 is "not
known"."""
PATH_IN_FUNCTION = 1 << 31
"""Bit of `module`: the place is a line of a row of `functions`."""
PATH_CUT = 1
"""`offset` of a path without a module: there are callers, and TRACELIB_STACK does not want them."""
PATH_LOST = 2
"""`offset` of a path without a module: the callers are not known."""
PATH_SHORT = 3
"""`offset` of a path without a module: there are callers, and to look for them would have taken too much time."""

MODULE = np.dtype(
    [
        ("base", "<u8"),  # what was added to the addresses in its file when it was loaded
        ("begin", "<u8"),  # its first address in memory
        ("end", "<u8"),  # behind its last one
        ("build_id", "S40"),  # hexadecimal; empty: it has none
        ("path", "S448"),
    ]
)
"""Programs and libraries that paths lie in, in the order of their first call; row 0 is "none"."""

FUNCTION = np.dtype(
    [
        ("line", "<u4"),  # where it begins; 0: not known
        ("kind", "<u4"),  # 1: Python
        ("name", "S152"),  # as the language qualifies it
        ("file", "S352"),
    ]
)
"""Functions of interpreted programs that paths lie in; row 0 is "none"."""

SAMPLE = np.dtype(
    [
        ("time", "<u8"),  # ticks
        ("cpu_ns", "<u8"),  # CPU time of the thread since its sample before this one, or since it was met
        ("path", "<u4"),  # row of `paths`: where the thread was; 0: not known
        ("task", "<u4"),  # thread of the process, in the order in which the sampler met them
        ("lost", "<u4"),  # samples of the thread since the one before this that could not be kept
        ("thread", "<u2"),  # `thread` of its calls; SAMPLER_THREAD: it has made none so far
        ("flags", "<u2"),  # bits: SAMPLE_...
    ]
)
"""Where threads of the program were each so often (TRACELIB_SAMPLE)."""
SAMPLE_END = 1
"""Bit of `flags`: no sample; the thread or the run ended, and `cpu_ns` is what it used since its last one."""
SAMPLE_BEGIN = 4
"""Bit of `flags`: no sample; from here on the thread is sampled, which has run before."""
SAMPLE_BY_SIGNAL = 2
"""Bit of `flags`: taken by a signal to the thread; without it, by the kernel alone."""

TASK = np.dtype(
    [
        ("time", "<u8"),  # ticks
        ("cpu_ns", "<u8"),  # that the thread has had a CPU for
        ("delay_ns", "<u8"),  # that it could have run and waited for a CPU; NOT_READ: the kernel does not say
        ("voluntary", "<u8"),  # how often it gave its CPU up, to wait for something; NOT_READ
        ("involuntary", "<u8"),  # how often its CPU was given to others; NOT_READ
        ("task", "<u4"),  # the kernel's number of it
        ("thread", "<u2"),  # `thread` of its calls; SAMPLER_THREAD: it has made none
        ("flags", "<u2"),  # 0
        ("name", "S16"),
        ("cpus", "S64"),  # that it may use, as "0-3,8"; ends with "...": there was no room for all
    ]
)
"""The threads of the process when the run was closed, without the tracer's own. Counts are from each thread's begin."""

BUFFERED = {
    "calls": CALL,
    "requests": REQUEST,
    "polls": POLL,
    "events": EVENT,
    "accesses": ACCESS,
    "summaries": SUMMARY,
    "counts": COUNT,
    "call_paths": PATH_NUMBER,
    "poll_paths": PATH_NUMBER,
}
"""Tables that go through each thread's buffer, in the order of BLOCK's columns."""
PATHS_OF = {"call_paths": "calls", "poll_paths": "polls"}
"""Tables that say of the rows of others, one by one, from which path they come."""

DIRECT = {
    "blocks": BLOCK,
    "clock": CLOCK,
    "sync": SYNC,
    "communicators": COMMUNICATOR,
    "members": MEMBER,
    "objects": OBJECT,
    "labels": LABEL,
    "counters": COUNTER,
    "skipped": SKIPPED,
    "tasks": TASK,
}
"""Tables written straight to the file, which readers keep."""

SOURCES = {"paths": PATH, "modules": MODULE, "functions": FUNCTION, "samples": SAMPLE}
"""Tables written straight to the file, which readers take when they are asked where something is in the program."""

TABLES = BUFFERED | DIRECT | SOURCES

CHUNK_ROWS = {
    "calls": 2048,
    "requests": 2048,
    "polls": 512,
    "events": 512,
    "accesses": 512,
    "summaries": 512,
    "counts": 16384,
    "call_paths": 2048,
    "poll_paths": 1024,
    "blocks": 64,
    "clock": 64,
    "sync": 64,
    "communicators": 32,
    "members": 512,
    "objects": 16,
    "labels": 16,
    "counters": 16,
    "skipped": 128,
    "tasks": 8,
    "paths": 128,
    "modules": 8,
    "functions": 8,
    "samples": 256,
}
"""Small, so that a short run on many ranks stays small; the last chunk of a table is mostly a hole."""

COMPRESSED_CHUNK_ROWS = 4032
"""Number of rows of a chunk of the buffered tables, where they are compressed. Two times of a row (enter and exit,
posted and completed) begin with the same bytes. In a shuffled chunk these bytes lie 8 x rows apart, and deflate looks
32506 bytes back."""


class Peer(IntEnum):
    """Values of the column `peer` that are no ranks."""

    NONE = -1
    PROC_NULL = -2
    ANY_SOURCE = -3
    ROOT = -4  # MPI_ROOT: this process is the root of an intercommunicator's collective


class ObjectKind(IntEnum):
    """Kind of the object that a row of `objects` describes."""

    NONE = 0
    WINDOW = 1
    FILE = 2


class LabelKind(IntEnum):
    """Kind of the object that a row of `labels` names."""

    REGION = 1  # value: number of the region
    PARAMETER = 2  # value: number of the parameter
    EVENT_TYPE = 3
    EVENT_VALUE = 4
    COMMUNICATOR = 5  # value: row of `communicators`; the last name counts


class CounterBackend(IntEnum):
    """Interface that reads a counter (`flags` of a row of `counters`). The counters of a set are in this order."""

    CPU_CLOCK = 1  # the thread's CPU time from its beginning; it goes on from set to set
    PERF_SOFTWARE = 2
    PERF_HARDWARE = 3
    PAPI = 4


class ProcessState(IntEnum):
    """Value of the attribute `state` of a rank file: how the process ended, or that it has not ended yet."""

    RECORDING = 0
    FINALIZED = 1  # MPI_Finalize returned
    EXITED = 2  # exit without MPI_Finalize
    FULL = 3  # the disk was full: what came later is counted in `lost_*`
    RECOVERED = 4  # killed; `tracelib recover` has added what its spools held


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
    "overhead_ticks",  # of the tracer itself between the exit of one call and the entry of the next
    "overhead_cpu_ns",  # the same by the readings of CPU time
    "limit_bytes",  # TRACELIB_LIMIT; 0: none
    "abort_ticks",  # when MPI_Abort was entered; 0: it was not
    "abort_code",  # its code, a signed number
    "abort_comm",  # its communicator: row of `communicators`; 0: unknown
    "parent_size",  # ranks of the run that spawned this one; 0: none did
)
TEXT_ATTRIBUTES = {
    "host": 64,
    "boot_id": 40,
    "mpi_library": 256,
    "command": 1024,
    "spool": 256,
    "cpus": 256,
    "job": 256,
}
"""Name and room in bytes."""
FLUSHING = 1
LEAVING_OUT = 2
"""The rows are left out. The row of `blocks` that says so is number base[0]; without it they are still recorded. After
the limit has stopped recording, the attribute `lost_calls` counts them as soon as it is at least base[1], if not 0."""


def _spool_header(tables: int, *added: tuple[str, str]) -> np.dtype:
    return np.dtype(
        [
            ("magic", "S8"),
            ("thread", "<u8"),
            ("flushing", "<u8"),  # FLUSHING while the rows below are being written to the file, or LEAVING_OUT
            ("offset", "<u8", (tables,)),  # byte offset in the spool of each buffered table's rows
            ("base", "<u8", (tables,)),  # while flushing: the row in the file where they go (LEAVING_OUT: see there)
            *added,
            ("count", "<u8", (tables,)),  # rows in the spool that are not known to be in the file
            ("rank_file", "S1024"),
        ]
    )


INSIDE = np.dtype([(name, "<u8") for name in ("call", "entered", "thread", "path")])
"""Attribute `inside` of a recovered file: the call (row of `procedures`) in which each of these threads died, and its
path (row of `paths`)."""

_ENTERED = ("entered", "<u8"), ("entered_call", "<u8")
"""Ticks at which the thread entered its latest call, and that call (row of `procedures`). While this is later than
all its rows, the thread is inside."""

_PATHS = ("entered_path", "<u8"), ("has_paths", "<u8")
"""The path (row of `paths`) of that call. Whether `call_paths` and `poll_paths` have as many rows as `calls` and
`polls`: their own counts stay 0."""

_PROCESS = ("pid", "<u8"), ("pid_namespace", "<u8"), ("created_realtime_ns", "<u8"), ("boot_id", "S40")
"""The process whose spool it is, and the namespace (its inode) in which it has this number."""

SPOOL_MAGIC = b"TLSPOOL4"
SPOOL_HEADER_BYTES = 4096
_SET = ("set", "<u8")
"""Set of counters that the rows of `calls` were read with; 0: none."""
SPOOL_HEADERS = {
    b"TLSPOOL1": _spool_header(4),
    b"TLSPOOL2": _spool_header(7, *_ENTERED, _SET),
    b"TLSPOOL3": _spool_header(len(BUFFERED), *_ENTERED, *_PATHS, _SET),
    SPOOL_MAGIC: _spool_header(len(BUFFERED), *_ENTERED, *_PATHS, _SET, *_PROCESS),
}
"""By magic: earlier versions had the first buffered tables only."""
SPOOL_HEADER = SPOOL_HEADERS[SPOOL_MAGIC]
"""First bytes of a spool: the mapped buffer of one thread, named <attribute spool>.<thread>.

Its rows survive the death of the process. If `flushing`, they belong at `base` (and may be there already),
else at the end of the table.
"""
