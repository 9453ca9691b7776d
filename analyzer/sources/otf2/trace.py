"""An OTF2 archive as a Trace.

Source: OTF2 3.0, "Open Trace Format 2 User Manual". Ranks are the members of the group of MPI's locations; where
there is none, the processes in order of their definition. All calls are held in memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.columns.joined import joined
from analyzer.errors import TracelibError
from analyzer.native import pointer
from analyzer.sources.otf2.library import EVENT, NAMES, errors, functions, package
from analyzer.sources.otf2.location import HALF, Did, Names, did
from analyzer.trace import CALL, MARK, MESSAGE, REQUEST, Communicator, Nodes, Origin, Regions
from analyzer.trace import EVENT as MOMENT
from analyzer.trace.call_trace import CallTrace
from analyzer.trace.parts import WORLD
from tracelib.schema import What


@dataclass(frozen=True)
class ArchiveRegions(Regions):
    """Regions of the program, in memory."""

    of_rank: Sequence[np.ndarray] = ()  # MARK

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        rows = self.of_rank[rank]
        last = np.iinfo(np.int64).max if end is None else end
        return rows[(rows["time"] >= begin) & (rows["time"] < last)]

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return np.zeros(0, MOMENT)


def open_otf2(path: str | os.PathLike[str]) -> CallTrace:
    """The archive whose anchor file (NAME.otf2) this is.

    Raises TracelibError where it is damaged, or the package otf2 is not installed.
    """
    otf2 = package()
    try:
        with otf2.reader.open(os.fspath(path)) as reader:
            return _trace(os.fspath(path), otf2, reader)
    except _damage() as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise TracelibError(f"{path} is a damaged OTF2 archive: {said}") from error


def _damage() -> tuple[type[Exception], ...]:
    """What a damaged archive makes the package raise: its own errors, and Python's where definitions are not there."""
    return (*errors(), AttributeError, KeyError, TypeError, ValueError)


def _trace(path: str, otf2: Any, reader: Any) -> CallTrace:
    said = reader.definitions
    ranks = _ranks(otf2, said)
    number = {
        location._ref: (rank, thread) for rank, threads in enumerate(ranks) for thread, location in enumerate(threads)
    }
    names, procedures, regions = _names(otf2, said, {ref: rank for ref, (rank, _) in number.items()})
    clock = said.clock_properties
    every: list[list[Did]] = [[] for _ in ranks]
    for ref, events in _events(reader, list(number)):
        rank, thread = number[ref]
        events["time"] = _ns(events["time"], clock)
        every[rank].append(did(events, names, rank, thread, path))
    calls = [joined([one.calls for one in threads], CALL) for threads in every]
    marks = [joined([one.marks for one in threads], MARK) for threads in every]
    sends = joined([one.sends for threads in every for one in threads], HALF)
    receives = joined([one.receives for threads in every for one in threads], HALF)
    labels = {ref: comm.name for comm in said.comms for ref in [comm._ref]}
    communicators = [
        Communicator(1 + at, tuple(members.tolist()), name=labels.get(int(ref), ""))
        for at, (ref, members) in enumerate(zip(names.comm_refs, names.members, strict=True))
    ] or [Communicator(1, tuple(range(len(ranks))), name=WORLD)]
    trace = CallTrace(
        path,
        procedures,
        calls,
        _messages(sends, receives),
        requests=[_requests(sends[sends["rank"] == r], receives[receives["rank"] == r]) for r in range(len(ranks))],
        spans=[(0, max((one.end for one in threads), default=0)) for threads in every],
        communicators=communicators,
    )
    trace.threads = np.array([len(threads) for threads in ranks], np.int32)
    trace.nodes = _nodes(ranks)
    trace.origin = Origin(imported=True, tracer_times=False)
    trace.put(ArchiveRegions(tuple(regions), (), marks))
    return trace


def _ns(time: np.ndarray, clock: Any) -> np.ndarray:
    """Ticks of the archive as ns from its begin."""
    ticks = time - np.int64(clock.global_offset)
    if clock.timer_resolution == 10**9:
        return ticks
    whole, rest = np.divmod(ticks, clock.timer_resolution)
    return whole * 10**9 + np.rint(rest * (1e9 / clock.timer_resolution)).astype(np.int64)


def _ranks(otf2: Any, said: Any) -> list[list[Any]]:
    """The locations of each rank, the one that MPI knows first."""
    threads = [one for one in said.locations if one.type == otf2.LocationType.CPU_THREAD]
    if not threads:
        raise TracelibError("the archive has no threads")
    known = [
        group.members
        for group in said.groups
        if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI
    ]
    first = list(known[0]) if known else list({one.group._ref: one for one in reversed(threads)}.values())[::-1]
    return [[one, *(other for other in threads if other.group is one.group and other is not one)] for one in first]


def _names(otf2: Any, said: Any, rank_of: dict[int, int]) -> tuple[Names, list[str], list[str]]:
    """What definitions mean, the names of procedures, those of the program's regions."""
    procedures: dict[str, int] = {}
    regions: dict[str, int] = {}
    table = []
    for region in sorted(said.regions, key=lambda one: one._ref):
        if region.paradigm == otf2.Paradigm.MPI:
            table.append((region._ref, procedures.setdefault(region.name, len(procedures)), 0))
        else:
            table.append((region._ref, -1, regions.setdefault(region.name, len(regions) + 1)))
    refs, procedure, number = np.array(table, np.int64).reshape(-1, 3).T
    comms = sorted((one for one in said.comms if hasattr(one, "group")), key=lambda one: one._ref)
    members = tuple(np.array([rank_of[of._ref] for of in one.group.members], np.int64) for one in comms)
    comm_refs = np.array([one._ref for one in comms], np.int64)
    return Names(refs, procedure, number, comm_refs, members), list(procedures), list(regions)


def _nodes(ranks: list[list[Any]]) -> Nodes:
    of_rank = [threads[0].group.system_tree_parent.name for threads in ranks]
    names = list(dict.fromkeys(of_rank))
    cpus = tuple(sum(len(threads) for threads, name in zip(ranks, of_rank, strict=True) if name == n) for n in names)
    return Nodes(tuple(names), cpus, np.array([names.index(name) for name in of_rank], np.int32))


def _events(reader: Any, refs: list[int]) -> Any:
    """(location, EVENT) of each location. The library hands them to the kernel, one location after the other."""
    import ctypes

    import _otf2

    library = functions()
    for ref in refs:
        _otf2.Reader_SelectLocation(reader.handle, ref)
    _otf2.Reader_OpenDefFiles(reader.handle)
    for ref in refs:  # clocks and numbers of this location alone
        if local := _otf2.Reader_GetDefReader(reader.handle, ref):
            _otf2.Reader_ReadAllLocalDefinitions(reader.handle, local)
            _otf2.Reader_CloseDefReader(reader.handle, local)
    _otf2.Reader_CloseDefFiles(reader.handle)
    _otf2.Reader_OpenEvtFiles(reader.handle)
    callbacks = _otf2.EvtReaderCallbacks_New()
    for kind, name in NAMES.items():
        if (function := lib.archive_callback(kind)) != ffi.NULL:
            setter = library[f"OTF2_EvtReaderCallbacks_Set{name}Callback"]
            setter(callbacks, ctypes.c_void_p(int(ffi.cast("intptr_t", function))))
    for ref in refs:
        found = ffi.gc(lib.archive_events_new(), lib.archive_events_free)
        if found == ffi.NULL:
            raise MemoryError
        local = _otf2.Reader_GetEvtReader(reader.handle, ref)
        register = library["OTF2_Reader_RegisterEvtCallbacks"]
        register(reader.handle, local, callbacks, ctypes.c_void_p(int(ffi.cast("intptr_t", found))))
        _otf2.Reader_ReadAllLocalEvents(reader.handle, local)
        _otf2.Reader_CloseEvtReader(reader.handle, local)
        count = lib.archive_events_count(found)
        if count < 0:
            raise MemoryError
        events = np.zeros(count, EVENT)
        lib.archive_events_take(found, pointer(events, "struct archive_event *"))
        yield ref, events
    _otf2.EvtReaderCallbacks_Delete(callbacks)
    _otf2.Reader_CloseEvtFiles(reader.handle)


def _messages(sends: np.ndarray, receives: np.ndarray) -> np.ndarray:
    """MESSAGE: in each channel (source, destination, communicator, tag) the k-th receive takes the k-th send."""
    keys = [_channels(sends, "rank", "peer"), _channels(receives, "peer", "rank")]
    _, channel = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    channel = channel.ravel()
    sides = []
    for rows, of in ((sends, channel[: len(sends)]), (receives, channel[len(sends) :])):
        order = np.lexsort((rows["order"], rows["thread"], rows["logical"], of))
        first = np.searchsorted(of[order], of[order])
        sides.append((order, of[order], np.arange(len(order)) - first))
    width = max(len(sends), len(receives)) + 1
    places = [of * np.int64(width) + number for _, of, number in sides]
    _, one, other = np.intersect1d(places[0], places[1], assume_unique=True, return_indices=True)
    sent, received = sends[sides[0][0][one]], receives[sides[1][0][other]]
    found = np.zeros(len(sent), MESSAGE)
    found["logical_send"], found["physical_send"] = sent["logical"], sent["physical"]
    found["logical_receive"], found["physical_receive"] = received["logical"], received["physical"]
    found["size"], found["tag"], found["comm"] = sent["size"], sent["tag"], sent["comm"]
    found["source"], found["source_thread"] = sent["rank"], sent["thread"]
    found["destination"], found["destination_thread"] = received["rank"], received["thread"]
    return found


def _channels(rows: np.ndarray, source: str, destination: str) -> np.ndarray:
    return np.stack([rows[name].astype(np.int64) for name in (source, destination, "comm", "tag")], axis=1)


def _requests(sends: np.ndarray, receives: np.ndarray) -> np.ndarray:
    """REQUEST of what does not block, by completion."""
    parts = []
    for rows, what in ((sends, What.SEND_DONE), (receives, What.RECV_DONE)):
        rows = rows[rows["done"] > 0]
        found = np.zeros(len(rows), REQUEST)
        found["posted"], found["completed"], found["bytes"] = rows["logical"], rows["done"], rows["size"]
        for name in ("comm", "peer", "tag", "thread"):
            found[name] = rows[name]
        found["what"] = what
        parts.append(found)
    every = joined(parts, REQUEST)
    return every[np.argsort(every["completed"], kind="stable")]
