"""Writer of traces as Paraver traces (.prv), as Extrae writes them, for Paraver, paramedir and prv2dim.

Source: Paraver trace format. The order of records at one time (states, events, communications) is Extrae's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.atomic_file import append, cannot_write, temporary_name, whole_file
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.signal_handling import discard
from analyzer.trace import EVENT, MESSAGE, STATE, Arrows, Trace
from analyzer.trace.paraver import EventType

_BUFFER_BYTES = 1 << 20


def application_of(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return application and task of each rank as .prv numbers them, from 1; int32 of shape (ranks,) each."""
    sizes = np.array(trace.origin.applications or (trace.size,))
    application = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    task = np.arange(trace.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    return application.astype(np.int32), task.astype(np.int32)


def header(trace: Trace) -> bytes:
    """Return the header line and the communicator lines of a .prv file.

    Intercommunicators are left out, because prv2dim stops at an `i:` line, counted or not. So are communicators with
    ranks of several applications, because a line names tasks of one application. A trace without a time of creation
    gets 1 January 1970, so that writing it twice gives the same bytes.
    """
    application, task = application_of(trace)
    lines = []
    for communicator in trace.communicators:
        members = np.array(communicator.members, np.int64)
        if not communicator.remote and len(np.unique(application[members])) == 1:
            tasks = ":".join(map(str, task[members]))
            lines.append(f"c:{application[members[0]]}:{communicator.id}:{len(members)}:{tasks}\n")
    date = trace.origin.date.strftime("%d/%m/%Y at %H:%M") if trace.origin.date else "01/01/1970 at 00:00"
    cpus = ",".join(map(str, trace.nodes.cpus))
    nodes = f"{len(trace.nodes.cpus)}({cpus})" if any(trace.nodes.cpus) else "0"
    pairs = [f"{t}:{n + 1}" for t, n in zip(trace.threads, trace.nodes.of_rank, strict=True)]
    applications = []
    for number in range(1, int(application[-1]) + 1):
        of_one = [pairs[rank] for rank in np.flatnonzero(application == number)]
        applications.append(f"{len(of_one)}({','.join(of_one)})")
    first = (
        f"#Paraver ({date}):{trace.duration_ns}_ns:{nodes}:{len(applications)}:{':'.join(applications)},{len(lines)}\n"
    )
    return "".join([first, *lines]).encode()


def _pointer(rows: np.ndarray, dtype: np.dtype) -> tuple[object, int]:
    rows = np.ascontiguousarray(rows, dtype)
    return ffi.from_buffer("char[]", rows.view(np.uint8)), len(rows)


def _with_origin(trace: Trace, events: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Return the events of a window. In a run, one more event states that tracelib wrote the trace."""
    time = trace.span(0)[0]
    if trace.origin.imported or not begin <= time < end:
        return events
    origin = np.zeros(1, EVENT)
    origin["time"], origin["type"], origin["value"] = time, EventType.ORIGIN, 1
    at = int(np.searchsorted(events["time"], time))
    return np.concatenate([events[:at], origin, events[at:]])


def _lines(trace: Trace, windows: Iterator[tuple[int, int]], types: set[int]) -> Iterator[memoryview]:
    """Yield the text of the body, one buffer at a time; a buffer is valid until the next.

    Collect event types in `types`.
    """
    columns = [*application_of(trace), np.ascontiguousarray(trace.threads, np.int32)]
    pointers = [ffi.from_buffer("int32_t[]", column) for column in columns]
    writer = lib.prv_writer_new(trace.size, *pointers)
    if writer == ffi.NULL:
        raise MemoryError
    writer = ffi.gc(writer, lib.prv_writer_free)
    out = ffi.new("char[]", _BUFFER_BYTES)
    for begin, end in windows:
        yield from _window_lines(trace, begin, end, types, writer, out)


def _window_lines(trace: Trace, begin: int, end: int, types: set[int], writer: Any, out: Any) -> Iterator[memoryview]:
    """Yield the lines of a window. None of its records stays in memory afterwards."""
    messages = _pointer(trace.extra(Arrows).among(trace.messages(begin, end), begin, end), MESSAGE)
    states = _pointer(trace.states(begin, end), STATE)
    rows = _with_origin(trace, trace.events(begin, end), begin, end)
    types |= set(np.unique(rows["type"]).tolist())
    events = _pointer(rows, EVENT)
    done = ffi.new("int64_t[3]")
    while written := lib.prv_write(writer, *states, *events, *messages, done, out, _BUFFER_BYTES):
        if written < 0:
            raise TracelibError(f"{trace.path}: a record names a rank or thread that the trace does not have")
        yield memoryview(ffi.buffer(out, written))


def _write_share(trace: Trace, bounds: np.ndarray, team: Team, file: BinaryIO, types: set[int]) -> None:
    share = team.share(len(bounds) - 1)
    for text in _lines(trace, ((int(bounds[i]), int(bounds[i + 1])) for i in share), types):
        file.write(text)


Trouble = TracelibError | None
"""Error of writing, or None if there was none."""


def _write_part(trace: Trace, bounds: np.ndarray, path: Path, team: Team, types: set[int]) -> Trouble:
    """Write this member's lines to a temporary file, which member 0 copies. Return the error of any member, or None."""
    part = temporary_name(path, f"part{team.rank}")
    said: str | TracelibError = str(part)
    try:
        with part.open("xb") as file:
            _write_share(trace, bounds, team, file, types)
    except OSError as error:
        said = cannot_write(path, error)
    except TracelibError as error:
        said = error
    team.allgather(said)
    trouble: Trouble = team.bcast(None)
    discard(part)
    return trouble


def _write_whole(trace: Trace, bounds: np.ndarray, path: Path, team: Team, types: set[int]) -> Trouble:
    """Write the file as member 0: its own lines, then the lines of the others.

    Return the error of any member, or None.
    """
    has_asked, trouble = False, None
    try:
        with whole_file(path) as file:
            file.write(header(trace))
            _write_share(trace, bounds, team, file, types)
            has_asked = True
            for part in _good(team.allgather("")):
                append(Path(part), file)
    except TracelibError as error:
        trouble = error
        if not has_asked:
            team.allgather(error)
    team.bcast(trouble)
    return trouble


def _good(parts: list[str | TracelibError]) -> Iterator[str]:
    """Yield the names of files that are not "".

    Raises:
        TracelibError: One of the parts is an error.
    """
    for part in parts:
        if isinstance(part, TracelibError):
            raise part
    yield from (part for part in parts if isinstance(part, str) and part)


def write_prv(trace: Trace, path: str | os.PathLike[str], team: Team | None = None) -> frozenset[int]:
    """Write the .prv file of a trace. Collective over the team; the bytes do not depend on the number of members.

    The members share the windows of time. Memory holds one window.

    Args:
        trace: The trace.
        path: The new file.
        team: Processes that share the work. None: this process alone.

    Returns:
        Types of all events that were written, for the labels (`write_pcf`).

    Raises:
        TracelibError: The file cannot be written. Nothing of it is left behind.
    """
    team = team or Team()
    target = Path(path)
    if target.exists() and Path(trace.path).exists() and target.samefile(trace.path):
        raise TracelibError(f"{target} is the file that was read", "name another output with -o")
    bounds = trace.windows()
    types: set[int] = set()
    trouble = (_write_part if team.rank else _write_whole)(trace, bounds, target, team, types)
    if trouble:
        raise trouble
    return frozenset().union(*team.allgather(types))
