"""OTF2 archive as a `Trace`.

Source: OTF2 3.0, "Open Trace Format 2 User Manual". Ranks are the members of the group of MPI's locations. If there is
no such group, ranks are the processes in order of their definition. Events are read piece by piece and put into
temporary files, so that memory does not grow with the archive.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from typing import Any

import numpy as np

from analyzer.errors import TracelibError
from analyzer.otf2_library import errors, package
from analyzer.sources.otf2.definitions import ArchiveDefinitions, definitions
from analyzer.sources.otf2.events import pieces
from analyzer.sources.otf2.location import LocationTranslator
from analyzer.sources.otf2.records import RecordSpill
from analyzer.trace import EVENT, Origin, Problem, Regions, Trace
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes

_EVER = 2**62


@dataclass(frozen=True, kw_only=True)
class ArchiveRegions(Regions):
    """Regions of the program, from an OTF2 archive."""

    records: RecordSpill

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        rows = self.records.marks.read(rank, begin, _EVER if end is None else end)
        return rows[np.argsort(rows["thread"], kind="stable")]

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        return np.zeros(0, EVENT)


class ArchiveTrace(Trace):
    """Trace of an OTF2 archive, from its definitions and records."""

    def __init__(self, path: str, said: ArchiveDefinitions, records: RecordSpill, spans: list[tuple[int, int]]) -> None:
        """Set up the trace. `spans` has the times of the first and the last event of each rank, ns."""
        self.path, self.size, self.procedures = path, len(said.ranks), said.procedures
        self.threads = np.array([len(threads) for threads in said.ranks], np.int32)
        self.nodes, self.communicators = said.nodes, said.communicators
        self.origin = Origin(imported=True, tracer_times=False)
        self.problems: list[Problem] = []
        self.event_labels = {}
        self.duration_ns = max((end for _, end in spans), default=0)
        self._records, self._spans = records, spans
        self.put(ArchiveRegions(said.regions, records=records))

    def span(self, rank: int) -> tuple[int, int]:
        return self._spans[rank]

    def windows(self, records: int = 262144) -> np.ndarray:
        return self._records.windows(records, self.duration_ns)

    def _blocks(self, begin: int, end: int | None) -> Iterator[tuple[int, int]]:
        bounds, stop = self.windows(), self._stop(end)
        return pairwise([begin, *bounds[(bounds > begin) & (bounds < stop)].tolist(), stop])

    def _stop(self, end: int | None) -> int:
        return self.duration_ns + 1 if end is None else end

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for window in self._blocks(begin, end):
            yield self._records.calls.read(rank, *window)

    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for window in self._blocks(begin, end):
            yield self._records.requests.read(rank, *window)

    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(self._records.states.read(begin, self._stop(end)), ranks)

    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        return _of_ranks(self._records.events.read(begin, self._stop(end)), ranks)

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        return self._records.messages.read(begin, self._stop(end))

    def close(self) -> None:
        self._records.close()


def _of_ranks(rows: np.ndarray, ranks: range | None) -> np.ndarray:
    return rows if ranks is None else rows[(rows["rank"] >= ranks.start) & (rows["rank"] < ranks.stop)]


def open_otf2(path: str | os.PathLike[str], sizes: ReadSizes = DEFAULT_SIZES) -> ArchiveTrace:
    """Open an OTF2 archive by its anchor file (NAME.otf2).

    Raises:
        TracelibError: The archive is damaged, or the package otf2 is not installed.
    """
    otf2, printed = package(), StringIO()
    try:
        with ExitStack() as stack:
            with redirect_stderr(printed):  # the package prints what goes wrong where its library calls it
                reader = stack.enter_context(otf2.reader.open(os.fspath(path)))
                said = definitions(otf2, reader.definitions)
            return _trace(os.fspath(path), said, reader, sizes)
    except _damage() as error:
        why = " ".join(str(error).split()) or type(error).__name__
        cause = printed.getvalue().splitlines()[-1:] or [why]
        raise TracelibError(f"{path} is a damaged OTF2 archive: {cause[0]}") from error


def _damage() -> tuple[type[Exception], ...]:
    """Return the exceptions that a damaged archive causes: of the package, and Python's for missing definitions."""
    return (*errors(), AttributeError, KeyError, TypeError, ValueError)


def _trace(path: str, said: ArchiveDefinitions, reader: Any, sizes: ReadSizes) -> ArchiveTrace:
    records = RecordSpill(len(said.ranks), said.procedures, sizes)
    found = {
        location._ref: (rank, thread)
        for rank, threads in enumerate(said.ranks)
        for thread, location in enumerate(threads)
    }
    begins, ends = [_EVER] * len(said.ranks), [0] * len(said.ranks)
    for ref, events in pieces(reader, list(found)):
        rank, thread = found[ref]
        location = LocationTranslator(said.names, rank, thread, path)
        for piece, last in events:
            piece["time"] = said.ns(piece["time"])
            did = location.take(piece, last=last)
            records.append(rank, thread, location.begin or 0, did)
        if location.begin is not None:
            begins[rank] = min(begins[rank], location.begin)
        ends[rank] = max(ends[rank], location.end)
    for rank, end in enumerate(ends):
        records.end_of(rank, end)
    records.finish()
    spans = [(min(begin, end), end) for begin, end in zip(begins, ends, strict=True)]
    trace = ArchiveTrace(path, said, records, spans)
    trace.sizes = sizes
    return trace
