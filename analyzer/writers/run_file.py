"""Writer of a run from the records of a trace: one HDF5 file of all ranks, as a packed run, with ns as ticks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

from analyzer.atomic_file import cannot_write, temporary_name
from analyzer.recording.rank_file.file import PREDICTED, close_file
from analyzer.signal_handling import discard
from analyzer.trace import ACCESS, MARK, REQUEST, CallPaths, Mark, Objects, Regions, Trace
from analyzer.writers.hdf5_parts import attribute, text_attribute
from analyzer.writers.rank_groups import new_run
from analyzer.writers.run_tables import CommunicatorRows, ObjectRows, RankCommunicators, access_rows
from tracelib import schema

LEVEL = 4


@dataclass(frozen=True)
class RankRecords:
    """Records of one rank, with communicator indices and world ranks as in a Trace. Calls are in order of entry."""

    calls: np.ndarray  # CALL
    requests: np.ndarray = field(default_factory=lambda: np.zeros(0, REQUEST))
    marks: np.ndarray = field(default_factory=lambda: np.zeros(0, MARK))
    events: np.ndarray = field(default_factory=lambda: np.zeros(0, schema.EVENT))  # the program's, without regions
    accesses: np.ndarray = field(default_factory=lambda: np.zeros(0, ACCESS))
    paths: np.ndarray | None = None  # row of each call in CallPaths.tables; None: not known
    start_ns: int = 0  # start of the process
    after_call_ns: int = 0  # tracer's time after each call


def write_run(
    trace: Trace,
    records: Iterator[RankRecords],
    path: Path,
    attributes: Mapping[str, str],
    called: Path | None = None,
    clock: str = PREDICTED,
) -> None:
    """Write the records of all ranks as a new run. The file appears complete or not at all.

    Args:
        trace: The trace to which the records belong.
        records: Records of each rank, in order of rank.
        path: The new file.
        attributes: Texts for the whole file, such as the source of a prediction.
        called: Path for messages, if `path` is only an intermediate file. None: `path`.
        clock: Clock that all ranks share, stored as "boot_id". PREDICTED marks a prediction.

    Raises:
        TracelibError: The file cannot be written.
    """
    part = temporary_name(path, "part")
    try:

        def head(out: h5py.File) -> None:
            out.attrs["created_realtime_ns"] = np.uint64(0)
            for name, text in attributes.items():
                out.attrs[name] = np.bytes_(text.encode())
            names = np.array([name.encode() for name in trace.procedures] or [b"MPI_Unknown"])
            out.create_dataset("procedures", data=names, track_times=False)

        with new_run(part, trace.size, schema.TABLES, head, "gzip", LEVEL) as groups:
            tables = _Tables(trace)
            for rank, of_rank in zip(range(trace.size), records, strict=True):
                numbers = {"start_ticks": of_rank.start_ns, "overhead_ticks": of_rank.after_call_ns}
                found = {name: rows for name, rows in tables.rank_tables(rank, of_rank).items() if len(rows)}
                at = {name: groups.table(name, len(rows), [rows]) for name, rows in found.items()}
                groups.add(rank, _attributes(trace, rank, numbers, clock), at)
        part.replace(path)
        close_file(str(path))
    except OSError as error:
        raise cannot_write(called or path, error) from error
    finally:
        discard(part)


def _attributes(trace: Trace, rank: int, numbers: Mapping[str, int], clock: str) -> list[bytes]:
    whole = {"rank": rank, "size": trace.size, "pid": rank + 1, "state": int(schema.ProcessState.FINALIZED)}
    numbers = dict.fromkeys(schema.INTEGER_ATTRIBUTES, 0) | dict(numbers) | whole
    node = int(trace.nodes.of_rank[rank])
    host = trace.nodes.names[node] if node < len(trace.nodes.names) else ""
    texts = dict.fromkeys(schema.TEXT_ATTRIBUTES, "") | {
        "host": host,
        "command": trace.origin.command,
        "boot_id": clock,
    }
    messages = [
        attribute(name, np.uint64(value)) for name, value in ({"schema_version": schema.VERSION} | numbers).items()
    ]
    return messages + [
        text_attribute(name, text.encode()[: schema.TEXT_ATTRIBUTES[name]]) for name, text in texts.items()
    ]


class _Tables:
    """Converter of a trace's records to the tables of a rank file."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._labels, self._objects = _labels(trace), ObjectRows(trace)
        self._communicators = CommunicatorRows(trace)

    def rank_tables(self, rank: int, records: RankRecords) -> dict[str, np.ndarray]:
        """Return the tables of one rank by name. Rows are sorted by thread; each thread has one block."""
        groups = np.unique(records.accesses["group"][records.accesses["group"] > 0]).tolist()
        rows = self._communicators.rank_communicators(
            rank, [self._trace.extra(Objects).group(rank, group) for group in groups]
        )
        objects, object_rows = self._objects.rank_objects(rank, records.accesses, rows.row_of)
        group_rows = dict(zip(groups, range(len(rows.table) - len(groups), len(rows.table)), strict=True))
        accesses = access_rows(records.accesses, object_rows, group_rows)
        calls, polls = self._calls(records.calls, rows)
        requests = self._requests(records.requests, rows)
        events = np.concatenate([_regions(records.marks), records.events])
        tables = {
            "calls": _by_thread(calls, calls["enter"]), "polls": _by_thread(polls, polls["enter"]),
            "requests": _by_thread(requests, _known(requests)), "events": _by_thread(events, events["time"]),
            "accesses": _by_thread(accesses, accesses["enter"]),
        }  # fmt: skip
        tables |= self._paths(records)
        last = max((int(t[name].max()) for t, name in ((calls, "exit"), (events, "time")) if len(t)), default=0)
        return tables | {
            "blocks": _blocks(tables),
            "clock": np.array([(records.start_ns,) * 2, (last + 1, last + 1)], schema.CLOCK),
            "communicators": rows.table,
            "members": rows.members,
            "objects": objects if len(objects) > 1 else objects[:0],
            "labels": self._labels,
        }

    def _paths(self, records: RankRecords) -> dict[str, np.ndarray]:
        """Return the table of paths, and the path of each row of `calls` and `polls`. Empty: paths are not known."""
        if records.paths is None:
            return {}
        known = self._trace.extra(CallPaths).tables()
        found = {"paths": known.paths, "modules": known.modules, "functions": known.functions}
        for name, folded in (("call_paths", False), ("poll_paths", True)):
            chosen = (records.calls["count"] > 1) == folded
            rows, paths = records.calls[chosen], records.paths[chosen]
            found[name] = paths[np.lexsort((rows["enter"], rows["thread"]))].astype(schema.PATH_NUMBER)
        return found

    def _calls(self, calls: np.ndarray, rows: RankCommunicators) -> tuple[np.ndarray, np.ndarray]:
        folded = calls["count"] > 1
        found = np.zeros(int((~folded).sum()), schema.CALL)
        for column in ("enter", "exit", "sent", "received", "tag", "call", "thread"):
            found[column] = calls[column][~folded]
        found["comm"], found["peer"] = rows.rows_and_peers(calls[~folded])
        polls = np.zeros(int(folded.sum()), schema.POLL)
        for column in ("enter", "exit", "count", "call", "thread"):
            polls[column] = calls[column][folded]
        polls["inside"] = np.minimum(calls["inside"][folded], (calls["exit"] - calls["enter"])[folded])
        return found, polls

    def _requests(self, requests: np.ndarray, rows: RankCommunicators) -> np.ndarray:
        found = np.zeros(len(requests), schema.REQUEST)
        for column in ("posted", "completed", "bytes", "tag", "what", "thread"):
            found[column] = requests[column]
        found["comm"], found["peer"] = rows.rows_and_peers(requests)
        return found


def _by_thread(rows: np.ndarray, time: np.ndarray) -> np.ndarray:
    return rows[np.lexsort((time, rows["thread"]))] if len(rows) else rows


def _known(requests: np.ndarray) -> np.ndarray:
    """Return the time (ns) at which each row of `requests` was written. A row of a start has no completion time."""
    return np.where(schema.is_one_of(requests["what"], schema.STARTED), requests["posted"], requests["completed"])


def _blocks(tables: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return a block for each thread that has rows, and always for thread 0, which comes first."""
    of_thread = [rows["thread"] for rows in tables.values() if rows.dtype.names and "thread" in rows.dtype.names]
    threads = sorted({0}.union(*(_each_once(of_rows) for of_rows in of_thread)))
    blocks = np.zeros(len(threads), schema.BLOCK)
    names = list(schema.BUFFERED)
    for block, thread in zip(blocks, threads, strict=True):
        block["thread"] = thread
        for name in filter(tables.__contains__, names):
            rows = tables[schema.PATHS_OF.get(name, name)]
            first, last = np.searchsorted(rows["thread"], (thread, thread + 1))
            block["first"][names.index(name)], block["count"][names.index(name)] = first, last - first
    return blocks


def _each_once(threads: np.ndarray) -> list[int]:
    """Return the distinct values of a sorted column."""
    return [*threads[:1].tolist(), *threads[1:][threads[1:] != threads[:-1]].tolist()]


def _regions(marks: np.ndarray) -> np.ndarray:
    """Return region marks and region parameters as event rows of a rank file."""
    found = np.zeros(len(marks), schema.EVENT)
    found["time"], found["thread"] = marks["time"], marks["thread"]
    edges = (marks["what"] == Mark.BEGIN) | (marks["what"] == Mark.END)
    parallel = marks["what"] == Mark.PARALLEL
    real = marks["what"] == Mark.REAL
    found["type"] = np.where(edges, schema.REGION_TYPE, np.where(parallel, schema.PARALLEL_TYPE, schema.PARAMETER_TYPE))
    found["value"] = np.where(edges, marks["number"], marks["value"])
    flags = np.where(edges, marks["what"], np.where(parallel, 0, marks["number"]))
    found["flags"] = flags | np.where(real, 1 << 15, 0)
    return found


def _labels(trace: Trace) -> np.ndarray:
    regions = trace.extra(Regions)
    kinds = ((schema.LabelKind.REGION, regions.names), (schema.LabelKind.PARAMETER, regions.parameters))
    rows = [(0, kind, number, name.encode()) for kind, names in kinds for number, name in enumerate(names, 1)]
    return np.array(rows, schema.LABEL) if rows else np.zeros(0, schema.LABEL)
