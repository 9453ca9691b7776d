"""Writer of traces as OTF2 archives, as Score-P writes them: for Vampir, Scalasca, Cube and other readers.

Source: OTF2 3.0, "Open Trace Format 2 User Manual".
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.atomic_file import cannot_write, temporary_name
from analyzer.c_arrays import pointer
from analyzer.columns.arrays import joined
from analyzer.columns.sorted_runs import RankRuns
from analyzer.errors import TracelibError
from analyzer.otf2_library import NAMES, NOBODY, address, errors, functions, package, small_memory
from analyzer.trace import CALL, MESSAGE, Mark, Regions, Trace
from analyzer.writers.otf2_thread import Otf2References, ThreadEvents
from tracelib.schema.procedures import BLOCKING_COLLECTIVES, base_name

ANCHOR = "traces"
"""Name of the archive in its folder: the anchor file is traces.otf2."""
_OTHER = "BARRIER"
"""Operation that stands for collectives without a name in OTF2."""
_AT_ONCE = 1 << 16
"""Approximate number of calls of a rank that are written at a time."""
_CHUNK = 1 << 18
"""Memory in bytes that OTF2 needs for each thread until the archive is closed. OTF2 accepts no less."""
_EVER = np.iinfo(np.int64).max


def write_otf2(trace: Trace, folder: str | os.PathLike[str]) -> int:
    """Write a trace as an archive in a new folder, window by window.

    Returns:
        Number of events written.

    Raises:
        TracelibError: The package otf2 is not installed, or the folder exists or cannot be written. No part of the
            archive is left behind.
    """
    otf2 = package()
    target = Path(folder)
    if target.exists():
        raise TracelibError(f"{target} exists", "name another output with -o")
    with _whole_folder(target) as part:
        try:
            memory = small_memory()  # it has to outlive the archive
            with otf2.writer.open(
                str(part), ANCHOR, chunk_size_events=_CHUNK, memory_callbacks=memory, timer_resolution=10**9
            ) as archive:
                return _Archive(otf2, archive, trace).write()
        except errors() as error:
            raise TracelibError(f"cannot write {target}: {error}") from error


@contextmanager
def _whole_folder(target: Path) -> Iterator[Path]:
    """Return a temporary folder that gets the name `target` if the `with` block succeeds, and is removed otherwise."""
    part = temporary_name(target)
    try:
        part.mkdir()
        yield part
        part.rename(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Closed:
    """Stand-in for an event writer of the package whose file is closed already."""

    def close(self) -> None:
        """Do nothing: the file is closed already."""


class _Archive:
    """Writer of one archive: it defines threads, regions and communicators first, and then writes all events."""

    def __init__(self, otf2: Any, archive: Any, trace: Trace) -> None:
        self._otf2, self._archive, self._trace = otf2, archive, trace
        self._locations = self._define_locations()
        self._define_regions()
        self._define_communicators()
        library = functions()
        pointers = [address(getattr(library, f"OTF2_EvtWriter_{NAMES[kind]}")) for kind in sorted(NAMES)]
        self._functions = ffi.new("void *[]", pointers)
        self._references = Otf2References(
            mpi=self._region[0],
            own=self._region[1],
            is_collective=np.array([base_name(name) in BLOCKING_COLLECTIVES for name in trace.procedures], bool),
            operation=np.array([self._operation_of(name) for name in trace.procedures], np.uint32),
            program=archive.definitions.strings.create(trace.origin.command or Path(trace.path).name)._ref,
            comm=self._comm,
            rank_in=self._rank_in,
        )

    def _define_locations(self) -> list[list[Any]]:
        """Define a location for each thread of each rank."""
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
        """Define MPI procedures and regions of the program as OTF2 regions, and store their references."""
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
        """Define each communicator with its members. An intercommunicator, or one without members, gets all ranks."""
        otf2, said, trace = self._otf2, self._archive.definitions, self._trace
        mpi, everybody = otf2.Paradigm.MPI, [threads[0] for threads in self._locations]
        said.group("MPI", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=mpi, members=everybody)
        self._comm, self._rank_in = list[int](), list[np.ndarray]()
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
        """Write the events of all ranks, one rank after the other. Return the number of events."""
        sends = RankRuns(MESSAGE, "logical_send", self._trace.size)
        receives = RankRuns(MESSAGE, "logical_receive", self._trace.size)
        for begin, end in pairwise(self._trace.message_windows().tolist()):
            rows = self._trace.messages(begin, end).copy()
            sends.append(rows, rows["source"])
            # if clocks are wrong: a receive must be posted before its data come
            rows["logical_receive"] = np.minimum(rows["logical_receive"], rows["physical_receive"])
            receives.append(rows, rows["destination"])
        for time in (0, self._trace.duration_ns):
            self._archive._update_timestamps(time)
        total = sum(self._write_rank(rank, sends, receives) for rank in range(self._trace.size))
        sends.close()
        receives.close()
        return total

    def _write_rank(self, rank: int, sends: RankRuns, receives: RankRuns) -> int:
        """Write the events of one rank, window by window. Return their number."""
        trace, locations = self._trace, self._locations[rank]
        main, others = ThreadEvents(self._references, trace.span(rank)), len(locations) - 1
        threads = [main, *(ThreadEvents(self._references) for _ in range(others))]
        bounds = trace.windows_of(rank, _AT_ONCE).tolist()
        of_messages = [-_EVER, *bounds[1:-1], _EVER]
        for (begin, end), times in zip(pairwise(bounds), pairwise(of_messages), strict=True):
            calls = joined(list(trace.calls(rank, begin, end)), CALL)
            marks = trace.extra(Regions).marks(rank, begin, end)
            marks = marks.compress(marks["what"] <= Mark.END)
            sent, received = sends.read(rank, *times), receives.read(rank, *times)
            for number, (location, thread) in enumerate(zip(locations, threads, strict=True)):
                mine = (
                    rows.compress(rows[name] == number) for rows, name in
                    ((calls, "thread"), (marks, "thread"), (sent, "source_thread"), (received, "destination_thread"))
                )  # fmt: skip
                self._put(location, thread.of_window(end, *mine))
        written = 0
        for location, thread in zip(locations, threads, strict=True):
            self._put(location, thread.rest(calls[:0], marks[:0]))
            written += location._number_of_events_written
            self._close(location)
        return written

    def _close(self, location: Any) -> None:
        """Close the file of a location now, because its buffer takes some MB until then.

        The package would close it again at the end, or open it anew.
        """
        self._archive.event_writer_from_location(location).close()
        self._archive._event_writers[location._ref] = _Closed()

    def _put(self, location: Any, events: np.ndarray) -> None:
        writer = self._archive.event_writer_from_location(location)
        written = lib.archive_write(
            self._functions, address(writer.handle), pointer(events, "struct archive_event *"), len(events)
        )
        if written < len(events):
            raise TracelibError("OTF2 could not write an event", "is there room for the archive?")
        location._number_of_events_written += len(events)
