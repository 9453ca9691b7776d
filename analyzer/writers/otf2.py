"""Any Trace as an OTF2 archive, as Score-P writes them: for Vampir, Scalasca, Cube and all else that reads OTF2.

Source: OTF2 3.0, "Open Trace Format 2 User Manual".
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.columns.joined import joined
from analyzer.columns.spill import Spill
from analyzer.errors import TracelibError
from analyzer.native import pointer
from analyzer.sources.otf2.library import EVENT, NAMES, NOBODY, address, errors, functions, package
from analyzer.trace import CALL, MESSAGE, Mark, Regions, Trace
from analyzer.whole import cannot_write, temporary_name
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, base_name

ANCHOR = "traces"
"""Name of the archive in its folder: traces.otf2."""
_OTHER = "BARRIER"
"""Operation of collectives that OTF2 has no name for."""


def write_otf2(trace: Trace, folder: str | os.PathLike[str]) -> int:
    """Write a trace as an archive in a new folder; returns the number of events. Memory is that of one rank.

    Raises TracelibError where otf2 is not installed, or the folder exists or cannot be written; then nothing is left.
    """
    otf2 = package()
    target = Path(folder)
    if target.exists():
        raise TracelibError(f"{target} exists", "name another output with -o")
    with _whole_folder(target) as part:
        try:
            with otf2.writer.open(str(part), ANCHOR, timer_resolution=10**9) as archive:
                return _Archive(otf2, archive, trace).write()
        except errors() as error:
            raise TracelibError(f"cannot write {target}: {error}") from error


@contextmanager
def _whole_folder(target: Path) -> Iterator[Path]:
    """A folder that takes the name `target` when the block ends well, and vanishes when it does not."""
    part = temporary_name(target)
    try:
        part.mkdir()
        yield part
        part.rename(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Archive:
    """An archive that is being written."""

    def __init__(self, otf2: Any, archive: Any, trace: Trace) -> None:
        self._otf2, self._archive, self._trace = otf2, archive, trace
        self._locations = self._define_locations()
        self._define_regions()
        self._define_communicators()
        library = functions()
        pointers = [address(getattr(library, f"OTF2_EvtWriter_{NAMES[kind]}")) for kind in sorted(NAMES)]
        self._functions = ffi.new("void *[]", pointers)
        self._collective = np.array([base_name(name) in BLOCKING_COLLECTIVES for name in trace.procedures], bool)
        self._operation = np.array([self._operation_of(name) for name in trace.procedures], np.uint32)

    def _define_locations(self) -> list[list[Any]]:
        """The threads of each rank."""
        said, trace = self._archive.definitions, self._trace
        machine = said.system_tree_node("machine", class_name="machine")
        nodes = [said.system_tree_node(name, class_name="node", parent=machine) for name in trace.nodes.names]
        found = []
        for rank in range(trace.size):
            group = said.location_group(f"MPI Rank {rank}", system_tree_parent=nodes[int(trace.nodes.of_rank[rank])])
            threads = range(int(trace.threads[rank]))
            found.append([said.location(f"thread {thread} of rank {rank}", group=group) for thread in threads])
        return found

    def _define_regions(self) -> None:
        """Procedures of MPI, then regions of the program: a region's number is that of its definition."""
        said = self._archive.definitions
        kinds = (
            (self._trace.procedures, self._otf2.Paradigm.MPI),
            (
                self._trace.extra(Regions).names,
                self._otf2.Paradigm.USER,
            ),
        )
        self._region = [
            np.array([said.region(name, paradigm=paradigm)._ref for name in names], np.uint32)
            for names, paradigm in kinds
        ]

    def _define_communicators(self) -> None:
        """Each with its members; what has no members, or two groups of them, is shown as that of all ranks."""
        otf2, said, trace = self._otf2, self._archive.definitions, self._trace
        mpi, everybody = otf2.Paradigm.MPI, [threads[0] for threads in self._locations]
        said.group("MPI", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=mpi, members=everybody)
        self._comm, self._rank_in = [], []
        for one in trace.communicators:
            plain = one.members and not one.remote
            members = list(one.members) if plain else list(range(trace.size))
            locations = [everybody[rank] for rank in members]
            group = said.group(f"group {one.id}", otf2.GroupType.COMM_GROUP, mpi, members=locations)
            self._comm.append(said.comm(one.label, group=group)._ref)
            rank_in = np.full(trace.size, NOBODY, np.uint32)
            rank_in[members] = np.arange(len(members))
            self._rank_in.append(rank_in)

    def _operation_of(self, procedure: str) -> int:
        name = base_name(procedure).removeprefix("MPI_").upper()
        known = self._otf2.CollectiveOp
        return int(getattr(known, name, getattr(known, _OTHER)).value)

    def write(self) -> int:
        """All events, rank by rank; returns how many."""
        sends, receives = Spill(MESSAGE), Spill(MESSAGE)
        bounds = self._trace.message_windows().tolist()
        for begin, end in pairwise(bounds):
            rows = self._trace.messages(begin, end)
            sends.append_each(rows["source"], rows)
            receives.append_each(rows["destination"], rows)
        total = 0
        for time in (0, self._trace.duration_ns):
            self._archive._update_timestamps(time)
        for rank, threads in enumerate(self._locations):
            calls = joined(list(self._trace.calls(rank)), CALL)
            marks = self._trace.extra(Regions).marks(rank)
            sent, received = sends.read(rank), receives.read(rank)
            for thread, location in enumerate(threads):
                events = self._events(
                    calls[calls["thread"] == thread],
                    marks[(marks["thread"] == thread) & (marks["what"] <= Mark.END)],
                    sent[sent["source_thread"] == thread],
                    received[received["destination_thread"] == thread],
                )
                total += self._put(location, events)
        sends.close()
        receives.close()
        return total

    def _put(self, location: Any, events: np.ndarray) -> int:
        writer = self._archive.event_writer_from_location(location)
        written = lib.archive_write(
            self._functions, address(writer.handle), pointer(events, "struct archive_event *"), len(events)
        )
        if written < len(events):
            raise TracelibError("OTF2 could not write an event", "is there room for the archive?")
        location._number_of_events_written = len(events)
        return len(events)

    def _events(self, calls: np.ndarray, marks: np.ndarray, sent: np.ndarray, received: np.ndarray) -> np.ndarray:
        """EVENT of one thread in order. At one time a call is left before another is entered, and regions change in
        between; what belongs to a call stands inside it."""
        end = np.where(calls["count"] > 1, calls["enter"] + calls["inside"], calls["exit"])
        mpi, own = self._region
        in_call = 4 * np.arange(len(calls))
        parts = [
            (_rows(lib.ARCHIVE_ENTER, calls["enter"], mpi[calls["call"]]), in_call + 1),
            (_rows(lib.ARCHIVE_LEAVE, end, mpi[calls["call"]]), in_call + 3),
            *self._collectives(calls, end, in_call),
            *self._messages(calls["enter"], end, sent, received),
        ]
        begins = marks["what"] == Mark.BEGIN
        regions = own[marks["number"] - 1] if len(marks) else np.zeros(0, np.uint32)
        rows = _rows(lib.ARCHIVE_LEAVE, marks["time"], self._closed(begins, regions))
        rows["kind"][begins] = lib.ARCHIVE_ENTER
        before = np.searchsorted(calls["enter"], marks["time"])
        inside = (before > 0) & (end[before - 1] > marks["time"]) if len(calls) else before > 0
        parts.append((rows, np.where(inside, 4 * before - 2, 4 * before)))
        events = joined([rows for rows, _ in parts], EVENT)
        place = np.concatenate([place for _, place in parts])
        return events.take(np.lexsort((place, events["time"])))

    def _closed(self, begins: np.ndarray, regions: np.ndarray) -> np.ndarray:
        """The region of each mark: an end closes the last one of its depth."""
        depth = np.cumsum(np.where(begins, 1, -1)) - begins
        order = np.argsort(depth, kind="stable")
        found = regions.copy()
        found[order[1::2]] = regions[order[::2]]
        return found

    def _collectives(
        self, calls: np.ndarray, end: np.ndarray, place: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        at = np.flatnonzero(self._collective[calls["call"]] & (calls["comm"] >= 0)) if len(calls) else np.zeros(0, int)
        rows = _rows(lib.ARCHIVE_COLLECTIVE_END, end[at], self._operation[calls["call"][at]])
        rows["length"], rows["request"] = calls["sent"][at], calls["received"][at]
        rows["comm"], rows["tag"] = self._in_comm(calls["comm"][at], calls["peer"][at])
        return [(_rows(lib.ARCHIVE_COLLECTIVE, calls["enter"][at], 0), place[at] + 2), (rows, place[at] + 2)]

    def _messages(
        self, enter: np.ndarray, end: np.ndarray, sent: np.ndarray, received: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Sends lie in the call that is entered then, receives in that which ends then or later."""
        sends = self._message(lib.ARCHIVE_SEND, "physical_send", sent, "destination")
        receives = self._message(lib.ARCHIVE_IRECV, "physical_receive", received, "source")
        receives["request"] = 1 + np.arange(len(received))
        posted = _rows(lib.ARCHIVE_RECV_POSTED, received["logical_receive"], 0)
        posted["request"] = receives["request"]
        in_send = np.searchsorted(enter, sent["logical_send"], "right") - 1
        if len(end):  # an event after its call would be in another
            sends["time"] = np.where(sends["time"] <= end[in_send], sends["time"], sent["logical_send"])
        in_receive = np.searchsorted(end, received["physical_receive"])
        in_post = np.searchsorted(enter, received["logical_receive"], "right") - 1
        blocking = in_receive == in_post
        receives["kind"][blocking] = lib.ARCHIVE_RECV
        receives["request"][blocking] = 0
        kept = ~blocking
        return [
            (sends, 4 * in_send + 2),
            (receives, 4 * in_receive + 2),
            (posted[kept], 4 * in_post[kept] + 2),
        ]

    def _message(self, kind: int, time: str, rows: np.ndarray, other: str) -> np.ndarray:
        found = _rows(kind, rows[time], 0)
        found["length"], found["tag"] = rows["size"], rows["tag"].astype(np.uint32)
        found["comm"], found["what"] = self._in_comm(rows["comm"], rows[other])
        return found

    def _in_comm(self, comm: np.ndarray, ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """OTF2's number of each communicator (of an unknown one that of all ranks), and the ranks there."""
        refs, inside = np.full(len(comm), self._comm[0], np.uint32), np.full(len(comm), NOBODY, np.uint32)
        for one in np.unique(comm).tolist():
            mine, number = comm == one, max(one, 0)
            refs[mine] = self._comm[number]
            known = mine & (ranks >= 0)
            inside[known] = self._rank_in[number][ranks[known]]
        return refs, inside


def _rows(kind: int, time: Sequence[int] | np.ndarray, what: Any) -> np.ndarray:
    rows = np.zeros(len(time), EVENT)
    rows["kind"], rows["time"], rows["what"] = kind, time, what
    return rows
