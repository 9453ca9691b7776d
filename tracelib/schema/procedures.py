"""Sets of MPI procedures by what they do, from procedures.toml.

Names are as in C, without the `_c` of large counts (`base_name`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tracelib.schema.procedure_table import read_table

TABLE = read_table()
"""Kinds, classes, families and roles of all procedures."""


def base_name(name: str) -> str:
    """Return the procedure's name without the `_c` of its large-count form."""
    return name.removesuffix("_c")


def in_families(*families: str) -> frozenset[str]:
    """Return the procedures of some families of the table, such as "send", in all of these."""
    return _named(name for family in families for name in TABLE.families[family])


def of_kinds(*kinds: str) -> frozenset[str]:
    """Return the procedures of some kinds of the table, such as "icollective", in all of these."""
    return _named(name for name, kind in TABLE.kind_of.items() if kind in kinds)


def _named(names: Iterable[str]) -> frozenset[str]:
    return frozenset(f"MPI_{name}" for name in names)


def _immediate(names: frozenset[str]) -> frozenset[str]:
    return frozenset(f"MPI_I{name[4].lower()}{name[5:]}" for name in names)


INIT, FINALIZE = in_families("init"), in_families("finalize")

SENDS, IMMEDIATE_SENDS = in_families("send"), in_families("immediate_send")
RECEIVES = in_families("receive", "matched_receive")
IMMEDIATE_RECEIVES = in_families("immediate_receive", "immediate_matched_receive")
SEND_RECEIVES, IMMEDIATE_SEND_RECEIVES = in_families("send_receive"), in_families("immediate_send_receive")
STANDARD_SENDS = SEND_RECEIVES | {"MPI_Send"}
"""Blocking sends of which MPI decides by their size whether they wait."""
BUFFERED_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("bsend") or "Bsend" in name)
SYNCHRONOUS_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("ssend") or "Ssend" in name)
ROWS_THAT_SEND = SENDS | IMMEDIATE_SENDS | SEND_RECEIVES | IMMEDIATE_SEND_RECEIVES
"""Procedures whose rows of a rank file's `calls` are sends; started persistent ones are in `requests`."""
ROWS_THAT_RECEIVE = in_families("receive")
"""Procedures whose rows of a rank file's `calls` are receives; all others are in `requests`."""
STARTS = in_families("start")
HANDED_OVER, ARRIVED = in_families("part_handed_over"), in_families("part_asked_for")

UNMATCHED_PROBES = in_families("probe", "immediate_probe")
MATCHED_PROBES = in_families("matched_probe", "immediate_matched_probe")
PROBES = UNMATCHED_PROBES | MATCHED_PROBES
IMMEDIATE_PROBES = in_families("immediate_probe", "immediate_matched_probe")
WAITS, TESTS, STATUSES = in_families("wait"), in_families("test"), in_families("status")
WINDOW_WAITS, WINDOW_TESTS = in_families("window_wait"), in_families("window_test")
ASKS = TESTS | STATUSES | IMMEDIATE_PROBES
"""Polls of which a trace says whether they found anything."""
POLLS = ASKS | ARRIVED | WINDOW_TESTS
"""Calls that ask whether something has come, and come back at once."""

CLOCKS = in_families("clock")
"""They do nothing for others: time in them is the program's computation, as to tools that do not record them."""
ASKING_MPI = in_families("asks_mpi")

ROOTED, NEIGHBOURHOOD = in_families("rooted"), in_families("neighbourhood")
BLOCKING_COLLECTIVES = of_kinds("collective")
NONBLOCKING_COLLECTIVES = of_kinds("icollective")
PERSISTENT_COLLECTIVES = of_kinds("collective_init")
DECODED = _named(TABLE.kind_of) | in_families(*TABLE.families)
"""All procedures whose arguments the tracer decodes, or that are told apart by name."""
BY_A_ROOT = ROOTED | _immediate(ROOTED)
TO_A_ROOT = frozenset(name for name in BY_A_ROOT if "gather" in name.lower() or "reduce" in name.lower())
BARRIERS = in_families("barrier") | _immediate(in_families("barrier"))
COLLECTIVES = BLOCKING_COLLECTIVES | NONBLOCKING_COLLECTIVES
"""Collective operations on data, blocking and nonblocking."""

POINT_TO_POINT = (
    SENDS | IMMEDIATE_SENDS | RECEIVES | IMMEDIATE_RECEIVES | SEND_RECEIVES | IMMEDIATE_SEND_RECEIVES | STARTS | WAITS
    | TESTS | PROBES | in_families("cancel")
)  # fmt: skip
"""Calls that send or receive, and those that wait or look for it."""

ONE_SIDED_OPERATIONS = in_families("one_sided", "one_sided_with_request")
"""Calls that move data to or from a window."""
FENCES, WINDOWS_MADE = in_families("fence"), in_families("window_collective")
SPAWNS, CONNECTS = in_families("spawn"), in_families("connect")


def is_one_sided(name: str) -> bool:
    """Return True if the procedure belongs to remote memory access."""
    return base_name(name) in ONE_SIDED_OPERATIONS or name.startswith("MPI_Win_")


_LOCAL = re.compile(f"MPI_{TABLE.local}")


def is_local(name: str) -> bool:
    """Return True if the procedure describes data or asks for properties: no other rank is needed for that."""
    return _LOCAL.match(name) is not None


def is_of_files(name: str) -> bool:
    """Return True if the procedure belongs to files."""
    return name.startswith("MPI_File_")
