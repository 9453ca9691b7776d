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
    """Return all procedures of some families of the table, such as "send"."""
    return _named(name for family in families for name in TABLE.families[family])


def of_kinds(*kinds: str) -> frozenset[str]:
    """Return all procedures of some kinds of the table, such as "icollective"."""
    return _named(name for name, kind in TABLE.kind_of.items() if kind in kinds)


def with_role(role: str) -> frozenset[str]:
    """Return the procedures whose kind has a role of the table, such as "sends"."""
    return of_kinds(*(kind.name for kind in TABLE.kinds.values() if role in kind.roles))


@lru_cache(maxsize=1 << 14)
def value_of(column: str, procedure: str) -> str:
    """Return how an analysis counts a procedure.

    Args:
        column: Name of a column of the table, such as "state".
        procedure: Name of the procedure with MPI_, also with `_c`. Names without MPI_ have no values.

    Returns:
        The value in this column. "": there is none.
    """
    name = base_name(procedure)
    return TABLE.find_value(column, name[4:]) if name.startswith("MPI_") else ""


def with_value(column: str, *values: str) -> frozenset[str]:
    """Return the procedures that have one of these values in a column of the table.

    Only decoded procedures, and procedures that the column names, are looked at.
    """
    rows = (TABLE.no_kind, *(call_class.columns for call_class in TABLE.classes.values()))
    names = {*TABLE.kind_of, *(name for row in rows for name in row.get(column, ()))} - {ALL}
    return _named(name for name in names if TABLE.find_value(column, name) in values)


def base_procedure(procedure: str) -> str:
    """Return the blocking procedure of which this one is a form. Otherwise return the name itself.

    Forms are nonblocking or persistent: MPI_Ibcast and MPI_Bcast_init are forms of MPI_Bcast.
    """
    name = base_name(procedure)
    return f"MPI_{TABLE.base_of_form(name[4:])}" if name.startswith("MPI_") else name


def _named(names: Iterable[str]) -> frozenset[str]:
    return frozenset(f"MPI_{name}" for name in names)


INIT, FINALIZE = in_families("init"), in_families("finalize")
"""Procedures that begin, and that end, the use of MPI."""

SENDS, IMMEDIATE_SENDS = in_families("send"), in_families("immediate_send")
RECEIVES = in_families("receive", "matched_receive")
IMMEDIATE_RECEIVES = in_families("immediate_receive", "immediate_matched_receive")
SEND_RECEIVES, IMMEDIATE_SEND_RECEIVES = in_families("send_receive"), in_families("immediate_send_receive")
PLAIN_SENDS = with_value("replay_flag", "STANDARD")
"""Standard blocking sends: MPI_Send."""
STANDARD_SENDS = SEND_RECEIVES | PLAIN_SENDS
"""Blocking sends in standard mode. MPI decides by the message size whether they wait for the receive."""
BUFFERED_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("bsend") or "Bsend" in name)
SYNCHRONOUS_SENDS = frozenset(name for name in SENDS | IMMEDIATE_SENDS if name.endswith("ssend") or "Ssend" in name)
WAITING_SENDS = (SENDS | SEND_RECEIVES) - BUFFERED_SENDS
"""Blocking sends that may wait for the receive: all modes but buffered."""
ROWS_THAT_SEND = with_role("sends")
"""Procedures whose row in `calls` of a rank file is a send.
The sends of started persistent requests are in `requests`."""
ROWS_THAT_RECEIVE = with_role("receives")
"""Procedures whose row in `calls` of a rank file is a receive. All other receives are in `requests`."""
STARTS, FREES = in_families("start"), of_kinds("request_free")
HANDED_OVER, ARRIVED = in_families("part_handed_over"), in_families("part_asked_for")

UNMATCHED_PROBES = in_families("probe", "immediate_probe")
MATCHED_PROBES = in_families("matched_probe", "immediate_matched_probe")
PROBES = UNMATCHED_PROBES | MATCHED_PROBES
IMMEDIATE_PROBES = in_families("immediate_probe", "immediate_matched_probe")
WAITS, TESTS, STATUSES = in_families("wait"), in_families("test"), in_families("status")
WINDOW_WAITS, WINDOW_TESTS = in_families("window_wait"), in_families("window_test")
ASKS = TESTS | STATUSES | IMMEDIATE_PROBES
"""Polls for which a trace stores whether they found something."""
POLLS = ASKS | ARRIVED | WINDOW_TESTS
"""Procedures that test whether something has come, and return at once."""

CLOCKS = in_families("clock")
"""Procedures that read the clock. Their time counts as computing, as in tools that do not record them."""
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
"""Procedures that send or receive, or that wait or test for a send or receive."""

ONE_SIDED_OPERATIONS = in_families("one_sided", "one_sided_with_request")
"""Procedures that move data to or from an RMA window."""
FENCES, WINDOWS_MADE = in_families("fence"), in_families("window_collective")
SPAWNS, CONNECTS = in_families("spawn"), in_families("connect")


def is_one_sided(name: str) -> bool:
    """Return True if the procedure belongs to one-sided communication (RMA)."""
    return value_of("group", name) == "one_sided"


_LOCAL = re.compile(f"MPI_{TABLE.patterns['local']}")
_WAIT_FOR_NOBODY = re.compile(f"MPI_{TABLE.patterns['wait_for_nobody']}", re.IGNORECASE)
_NO_COMMUNICATION = re.compile(f"MPI_{TABLE.patterns['no_communication']}", re.IGNORECASE)


def is_local(name: str) -> bool:
    """Return True if the procedure needs no other rank: it describes data or reads properties."""
    return _LOCAL.match(name) is not None or value_of("local", name) == "true"


def waits_for_nobody(name: str) -> bool:
    """Return True if the procedure never waits for other ranks."""
    return _WAIT_FOR_NOBODY.fullmatch(base_name(name)) is not None or value_of("local", name) == "true"


def is_communication(name: str) -> bool:
    """Return True if the procedure involves other processes; all others count as computing."""
    return _NO_COMMUNICATION.fullmatch(name) is None and value_of("local", name) != "true"


def is_of_files(name: str) -> bool:
    """Return True if the procedure belongs to MPI's files (MPI-IO)."""
    return value_of("group", name) == "file"
