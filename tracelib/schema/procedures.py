"""Sets of MPI procedures by what they do, from procedures.toml.

Names are as in C, without the `_c` of large counts (`base_name`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from tracelib.schema.procedure_table import ALL, read_table

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


def with_role(role: str) -> frozenset[str]:
    """Return the procedures whose kind has a role of the table, such as "sends"."""
    return of_kinds(*(kind.name for kind in TABLE.kinds.values() if role in kind.roles))


@lru_cache(maxsize=1 << 14)
def value_of(column: str, procedure: str) -> str:
    """Return how an analysis counts a procedure ("MPI_Ibarrier", `_c` forms included).

    Args:
        column: Name of a column of the table, such as "state".
        procedure: Name with its prefix; other names than MPI's have no values.

    Returns:
        The value in that column; "": it has none.
    """
    name = base_name(procedure)
    return TABLE.find_value(column, name[4:]) if name.startswith("MPI_") else ""


def with_value(column: str, *values: str) -> frozenset[str]:
    """Return the decoded procedures, and those that a column names, with one of these values in the column."""
    rows = (TABLE.no_kind, *(call_class.columns for call_class in TABLE.classes.values()))
    names = {*TABLE.kind_of, *(name for row in rows for name in row.get(column, ()))} - {ALL}
    return _named(name for name in names if TABLE.find_value(column, name) in values)


def base_procedure(procedure: str) -> str:
    """Return the blocking procedure whose form this is: MPI_Bcast of MPI_Ibcast and of MPI_Bcast_init, or the name."""
    name = base_name(procedure)
    return f"MPI_{TABLE.base_of_form(name[4:])}" if name.startswith("MPI_") else name


def _named(names: Iterable[str]) -> frozenset[str]:
    return frozenset(f"MPI_{name}" for name in names)


INIT, FINALIZE = in_families("init"), in_families("finalize")

SENDS, IMMEDIATE_SENDS = in_families("send"), in_families("immediate_send")
RECEIVES = in_families("receive", "matched_receive")
IMMEDIATE_RECEIVES = in_families("immediate_receive", "immediate_matched_receive")
SEND_RECEIVES, IMMEDIATE_SEND_RECEIVES = in_families("send_receive"), in_families("immediate_send_receive")
PLAIN_SENDS = with_value("replay_flag", "STANDARD")
"""MPI_Send."""
STANDARD_SENDS = SEND_RECEIVES | PLAIN_SENDS
"""Blocking sends of which MPI decides by their size whether they wait."""
BUFFERED_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("bsend") or "Bsend" in name)
SYNCHRONOUS_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("ssend") or "Ssend" in name)
WAITING_SENDS = (SENDS | SEND_RECEIVES) - BUFFERED_SENDS
"""Blocking sends that may wait for the receive."""
ROWS_THAT_SEND = with_role("sends")
"""Procedures whose rows of a rank file's `calls` are sends; started persistent ones are in `requests`."""
ROWS_THAT_RECEIVE = with_role("receives")
"""Procedures whose rows of a rank file's `calls` are receives; all others are in `requests`."""
STARTS, FREES = in_families("start"), of_kinds("request_free")
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

ROOTED, NEIGHBOURHOOD = in_families("from_root", "to_root"), in_families("neighbourhood")
BLOCKING_COLLECTIVES = with_role("meets")
NONBLOCKING_COLLECTIVES = with_role("begins_to_meet")
PERSISTENT_COLLECTIVES = of_kinds("collective_init")
DECODED = _named(TABLE.kind_of) | in_families(*TABLE.families)
"""All procedures whose arguments the tracer decodes, or that are told apart by name."""
COLLECTIVES = BLOCKING_COLLECTIVES | NONBLOCKING_COLLECTIVES
"""Collective operations on data, blocking and nonblocking."""


def _with_nonblocking(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in COLLECTIVES if base_procedure(name) in names)


BY_A_ROOT, TO_A_ROOT = _with_nonblocking(ROOTED), _with_nonblocking(in_families("to_root"))
BARRIERS = _with_nonblocking(in_families("barrier"))
PERSISTENT_BARRIERS = frozenset(n for n in PERSISTENT_COLLECTIVES if base_procedure(n) in BARRIERS)

POINT_TO_POINT = with_value("group", "point_to_point")
"""Calls that send or receive, and those that wait or look for it."""

ONE_SIDED_OPERATIONS = in_families("one_sided", "one_sided_with_request")
"""Calls that move data to or from a window."""
FENCES, WINDOWS_MADE = in_families("fence"), in_families("window_collective")
SPAWNS, CONNECTS = in_families("spawn"), in_families("connect")


def is_one_sided(name: str) -> bool:
    """Return True if the procedure belongs to remote memory access."""
    return value_of("group", name) == "one_sided"


_LOCAL = re.compile(f"MPI_{TABLE.patterns['local']}")
_WAIT_FOR_NOBODY = re.compile(f"MPI_{TABLE.patterns['wait_for_nobody']}", re.IGNORECASE)
_NO_COMMUNICATION = re.compile(f"MPI_{TABLE.patterns['no_communication']}", re.IGNORECASE)


def is_local(name: str) -> bool:
    """Return True if the procedure describes data or asks for properties: no other rank is needed for that."""
    return _LOCAL.match(name) is not None or value_of("local", name) == "true"


def waits_for_nobody(name: str) -> bool:
    """Return True if the procedure comes back whatever other ranks do."""
    return _WAIT_FOR_NOBODY.fullmatch(base_name(name)) is not None or value_of("local", name) == "true"


def is_communication(name: str) -> bool:
    """Return True if the procedure involves other processes; all others count as computing."""
    return _NO_COMMUNICATION.fullmatch(name) is None and value_of("local", name) != "true"


def is_of_files(name: str) -> bool:
    """Return True if the procedure belongs to files."""
    return value_of("group", name) == "file"
