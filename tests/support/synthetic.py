"""Runs made by hand: rank files and run.h5 from plain lists of rows, without the C runtime or MPI.

    run = write_run(tmp_path, [
        {"calls": [call("MPI_Send", 100, 200, comm=WORLD, peer=1, tag=5, sent=8)]},
        {"calls": [call("MPI_Recv", 50, 250, comm=WORLD, peer=0, tag=5, received=8)]},
    ])

Times are nanoseconds after `start` of the rank (0); `comm` is NONE, WORLD, SELF or FIRST + index in
`communicators`, on all ranks alike: the rows of each file are numbered as the runtime would.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5s

from tracelib import schema
from tracelib.schema import Peer, ProcessState, RequestKind
from tracelib.schema.groups import MemberTable

NONE, WORLD, SELF, FIRST = 0, 1, 2, 3
ORIGIN_NS = 5_000_000_000_000
"""CLOCK_MONOTONIC at time 0 of a rank."""
ORIGIN_TICKS = 3_000_000_000_000_000
"""TSC at time 0 of a rank, where `tsc_per_us` is given."""
REALTIME_NS = 1_700_000_000_000_000_000
USUAL = dict.fromkeys(schema.INTEGER_ATTRIBUTES, 0) | dict.fromkeys(schema.TEXT_ATTRIBUTES, "")
USUAL |= {"state": int(ProcessState.FINALIZED), "host": "node0", "boot_id": "boot", "command": "./app"}
"""Attributes of a rank file unless a rank has others."""

Row = dict[str, object]


def call(
    name: str,
    enter: int,
    exit: int,
    *,
    comm: int = NONE,
    peer: int = Peer.NONE,
    tag: int = -1,
    sent: int = 0,
    received: int = 0,
    thread: int = 0,
) -> Row:
    """A row of `calls`; peer is a rank in comm, or a Peer."""
    return {
        "enter": enter,
        "exit": exit,
        "sent": sent,
        "received": received,
        "comm": comm,
        "peer": int(peer),
        "tag": tag,
        "call": name,
        "thread": thread,
    }


def request(
    what: RequestKind,
    posted: int,
    completed: int,
    *,
    comm: int = WORLD,
    peer: int,
    tag: int = 0,
    bytes: int = 0,
    thread: int = 0,
) -> Row:
    """A row of `requests`; completed 0 is a STARTED row."""
    return {
        "posted": posted,
        "completed": completed,
        "bytes": bytes,
        "comm": comm,
        "peer": int(peer),
        "tag": tag,
        "what": int(what),
        "thread": thread,
    }


def poll(name: str, enter: int, exit: int, *, inside: int, count: int, thread: int = 0) -> Row:
    """A row of `polls`."""
    return {"enter": enter, "exit": exit, "inside": inside, "count": count, "call": name, "thread": thread}


def event(time: int, type: int, value: int, *, thread: int = 0, flags: int = 0) -> Row:
    """A row of `events`."""
    return {"time": time, "type": type, "value": value, "thread": thread, "flags": flags}


def label(kind: schema.LabelKind, value: int, name: str, type: int = 0) -> tuple:
    """A row of `labels`."""
    return type, int(kind), value, name.encode()


def flush(begin: int, end: int, *, thread: int = 0) -> list[Row]:
    """The pair of `events` rows of one flush."""
    return [event(begin, schema.FLUSH_TYPE, 1, thread=thread), event(end, schema.FLUSH_TYPE, 0, thread=thread)]


def skipped(what: RequestKind, time: int, count: int, *, comm: int = WORLD, peer: int, tag: int = 0) -> Row:
    """A row of `skipped`."""
    return {"time": time, "count": count, "comm": comm, "peer": peer, "tag": tag, "what": int(what), "thread": 0}


TIME_COLUMNS = {
    "calls": ("enter", "exit"),
    "requests": ("posted", "completed"),
    "polls": ("enter", "exit"),
    "events": ("time",),
    "accesses": ("enter",),
    "summaries": ("enter", "exit"),
    "counts": (),
    "call_paths": (),
    "poll_paths": (),
}


class Ticks:
    """The clock of one rank: ns after its time 0 to ticks. `tsc_per_us` None: CLOCK_MONOTONIC itself."""

    def __init__(self, tsc_per_us: int | None) -> None:
        self.tsc_per_us = tsc_per_us

    def of(self, ns):
        """Ticks of a time (int or int64 array) in ns."""
        return ORIGIN_NS + ns if self.tsc_per_us is None else ORIGIN_TICKS + ns * self.tsc_per_us // 1000

    def after_start(self, ticks: int) -> int:
        """The first ns that is not before these ticks."""
        return ticks - ORIGIN_NS if self.tsc_per_us is None else -((ORIGIN_TICKS - ticks) * 1000 // self.tsc_per_us)

    def length_of(self, ns):
        """Ticks of a duration in ns."""
        return ns if self.tsc_per_us is None else ns * self.tsc_per_us // 1000


def table_of(name: str, rows: Sequence[Row] | np.ndarray, clock: Ticks, procedures: list[str]) -> np.ndarray:
    """Rows (dicts, or an array of the table's dtype with times in ns) as the file holds them."""
    dtype = schema.BUFFERED[name]
    if isinstance(rows, np.ndarray) or dtype.names is None:
        table = np.array(rows, dtype)
    else:
        table = np.zeros(len(rows), dtype)
        for field in dtype.names:
            values = [row[field] for row in rows]
            if field == "call":
                values = [_number(procedures, v) for v in values]
            table[field] = values
    for column in TIME_COLUMNS[name]:
        ns = table[column].astype(np.int64)
        ticks = clock.of(ns)
        table[column] = np.where(ns == 0, 0, ticks) if column == "completed" else ticks
    if name in ("polls", "summaries"):
        table["inside"] = clock.length_of(table["inside"].astype(np.int64))
    return table


def _skipped_table(rows: Sequence[Row], clock: Ticks) -> np.ndarray:
    table = np.zeros(len(rows), schema.SKIPPED)
    for field in schema.SKIPPED.names:
        table[field] = [row[field] for row in rows]
    table["time"] = clock.of(table["time"].astype(np.int64))
    return table


def _number(names: list[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


Group = tuple[int, ...] | list[int]


def communicator_tables(rank: int, size: int, communicators: Sequence) -> tuple[np.ndarray, np.ndarray, dict[int, int]]:
    """`communicators` and `members` of one rank, and its row for each run-wide number.

    An intercommunicator is a pair of groups, ([...], [...]); one of unknown id is {"id": 0, "members": [...]}; a group
    that a call on a window names, on all ranks, is {"group": [...]}.
    """
    rows = [(0, 0, (), (), -1), (1, 0, tuple(range(size)), (), rank), (2, 0, (rank,), (), 0)]
    number = {NONE: 0, WORLD: 1, SELF: 2}
    for k, spec in enumerate(communicators):
        ident = 100 + k
        if isinstance(spec, Mapping) and "group" in spec:
            number[FIRST + k] = len(rows)
            rows.append((0, 0, tuple(spec["group"]), (), -1))
            continue
        if isinstance(spec, Mapping):
            ident, spec = spec.get("id", ident), spec["members"]
        local, remote = (tuple(spec), ()) if not _is_pair(spec) else (tuple(spec[0]), tuple(spec[1]))
        if rank in remote:
            local, remote = remote, local
        if rank in local:
            number[FIRST + k] = len(rows)
            rows.append((ident, 0, local, remote, local.index(rank)))
    table = np.zeros(len(rows), schema.COMMUNICATOR)
    members = MemberTable()
    for row, (ident, created, local, remote, position) in zip(table, rows, strict=True):
        row["id"], row["created"], row["rank"] = ident, created, position
        row["members"], row["size"] = members.add(local), len(local)
        row["remote"], row["remote_size"] = members.add(remote), len(remote)
    return table, members.rows, number


def _is_pair(spec: Sequence) -> bool:
    return len(spec) == 2 and not isinstance(spec[0], (int, np.integer))


def blocks_of(tables: Mapping[str, np.ndarray]) -> np.ndarray:
    """One block for each stretch of rows of one thread, table by table in order of threads' appearance."""
    blocks = []
    for position, name in enumerate(schema.BUFFERED):
        if schema.BUFFERED[name].names is None:
            continue  # belongs to the calls
        thread = tables[name]["thread"].astype(np.int64)
        cuts = np.flatnonzero(np.diff(thread)) + 1
        edges = [0, *cuts.tolist(), len(thread)] if len(thread) else []
        for first, last in pairwise(edges):
            block = np.zeros(1, schema.BLOCK)
            block["first"][0, position], block["count"][0, position] = first, last - first
            block["thread"] = thread[first]
            blocks.append(block)
    if len({int(b["thread"][0]) for b in blocks}) == 1:
        block = np.zeros(1, schema.BLOCK)
        block["count"][0] = [len(tables[name]) for name in schema.BUFFERED]
        block["thread"] = blocks[0]["thread"]
        return block
    return np.concatenate(blocks) if blocks else np.zeros(0, schema.BLOCK)


def write_rank(path: Path, tables: Mapping[str, np.ndarray], procedures: Sequence[str], attributes: Mapping) -> None:
    """A rank file with exactly these tables and attributes."""
    path.write_bytes(_empty())
    with h5py.File(path, "r+") as file:
        for name, rows in tables.items():
            _fill(file, name, rows)
        width = max((len(n) for n in procedures), default=1) + 1
        file.create_dataset("procedures", data=np.array([n.encode() for n in procedures], f"S{width}"))
        for key, value in attributes.items():
            _note(file, key, value)


@cache
def _empty() -> bytes:
    """A rank file without rows, with the usual attributes: to make one takes four times as long as to fill one."""
    image = io.BytesIO()
    with h5py.File(image, "w", libver="earliest") as file:
        for name, dtype in schema.TABLES.items():
            file.create_dataset(name, (0,), dtype, maxshape=(None,), chunks=(schema.CHUNK_ROWS[name],))
        for key, value in USUAL.items():
            file.attrs[key] = _stored(value)
        file.attrs["schema_version"] = schema.VERSION
    return image.getvalue()


def _fill(file: h5py.File, name: str, rows: np.ndarray) -> None:
    """Write the rows of a table. They may have other columns than the schema."""
    if rows.dtype != schema.TABLES[name]:
        del file[name]
        file.create_dataset(name, data=rows, maxshape=(None,), chunks=(schema.CHUNK_ROWS[name],))
    elif len(rows):
        table = h5d.open(file.id, name.encode())
        table.set_extent((len(rows),))
        table.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(rows))


def _note(file: h5py.File, key: str, value: int | str) -> None:
    """An attribute, if it is not the usual one."""
    if value == USUAL.get(key):
        return
    if isinstance(value, str) or key not in USUAL:
        file.attrs[key] = _stored(value)
    else:
        file.attrs.modify(key, _stored(value))


def _stored(value: int | str) -> np.generic:
    return np.bytes_(value.encode()) if isinstance(value, str) else np.int64(value)


def write_links(path: Path, size: int) -> None:
    """run.h5: links to the files of `size` ranks in the folder NAME.ranks beside it."""
    with h5py.File(path, "w", libver="earliest") as file:
        file.attrs["schema_version"] = schema.VERSION
        file.attrs["size"] = size
        group = file.create_group("ranks")
        for rank in range(size):
            group[f"{rank:06d}"] = h5py.ExternalLink(f"{path.stem}.ranks/{rank:06d}.h5", "/")


def write_run(
    folder: Path,
    ranks: Sequence[Mapping],
    communicators: Sequence = (),
    *,
    name: str = "run",
    missing: Iterable[int] = (),
    tsc_per_us: int | None = None,
) -> Path:
    """Write NAME.h5 and NAME.ranks/ into `folder`; returns the path of NAME.h5.

    A rank is a mapping of "calls", "requests", "polls", "events" (rows as made by the functions above, or an array
    of the table's dtype, times in ns; `call` then indexes "procedures"), "procedures" (names known from the start),
    "skipped", "counters", "paths", "modules", "functions" (rows of that table), "objects" (likewise, without the first;
    `comm` as in calls), "blocks" (else made to fit), "clock" (pairs (ns, ns); else the ends),
    "sync" (rows as in the file), "start" (ns of the process start), and any attribute of the schema. `missing` ranks
    get no file.
    """
    directory = folder / f"{name}.ranks"
    directory.mkdir()
    for rank, content in enumerate(ranks):
        if rank not in missing:
            _write_one(
                directory, rank, content, len(ranks), communicators, Ticks(content.get("tsc_per_us", tsc_per_us))
            )
    write_links(folder / f"{name}.h5", len(ranks))
    return folder / f"{name}.h5"


def _stamps(tables: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """All columns of ticks that have any."""
    return [tables[t][column] for t, columns in TIME_COLUMNS.items() for column in columns if len(tables[t])]


def _write_one(folder: Path, rank: int, content: Mapping, size: int, communicators: Sequence, clock: Ticks) -> None:
    procedures = list(content.get("procedures", []))
    tables = {t: table_of(t, content.get(t, []), clock, procedures) for t in schema.BUFFERED}
    table, members, number = communicator_tables(rank, size, communicators)
    tables["skipped"] = _skipped_table(content.get("skipped", []), clock)
    for used in ("calls", "requests", "skipped"):
        if len(tables[used]):
            rows = np.array([number.get(k, 0) for k in range(FIRST + len(communicators))], np.uint32)
            tables[used]["comm"] = rows[tables[used]["comm"]]
    start = content.get("start", 0)
    tables |= {"communicators": table, "members": members}
    tables["objects"] = np.array([(0,) * 7 + (b"",), *content.get("objects", [])], schema.OBJECT)
    tables["objects"]["comm"] = [number.get(int(comm), 0) for comm in tables["objects"]["comm"]]
    tables["labels"] = np.array(content.get("labels", []), schema.LABEL)
    tables["counters"] = np.array(content.get("counters", []), schema.COUNTER)
    for name, dtype in schema.SOURCES.items():
        tables[name] = np.array(list(content.get(name, [])), dtype)
    tables["samples"]["time"] = [clock.of(int(time)) for time in tables["samples"]["time"]]
    tables["blocks"] = content.get("blocks", blocks_of(tables))
    end = max([start + 10**9, *(clock.after_start(int(t.max())) for t in _stamps(tables))])
    pairs = content.get("clock", [(start, start), (end, end)])
    tables["clock"] = np.array([(clock.of(a), ORIGIN_NS + b) for a, b in pairs], schema.CLOCK)
    tables["sync"] = np.array(list(content.get("sync", [])), schema.SYNC)
    attributes = USUAL | {
        "rank": rank,
        "size": size,
        "pid": 1000 + rank,
        "start_ticks": clock.of(start),
        "start_realtime_ns": REALTIME_NS + start,
        "ticks_are_tsc": int(clock.tsc_per_us is not None),
    }
    attributes |= {key: content[key] for key in attributes if key in content}
    write_rank(folder / f"{rank:06d}.h5", tables, procedures, attributes)
