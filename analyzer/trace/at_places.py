"""Choice of calls by a regular expression for their places, and the traces that have only these calls or messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from analyzer.errors import TracelibError
from analyzer.places import PathTables, Places
from analyzer.trace.annotated import Annotated
from analyzer.trace.extras import CallPaths, SummedCalls
from analyzer.trace.records import EVENT
from analyzer.trace.trace import Kind, Trace

_WRONG = 2
"""Exit code for a wrong command line, as in click."""
_NAMED = 4
"""Largest number of places that an error message names, if no place fits."""


@dataclass(frozen=True)
class PlaceChoice:
    """Choice of calls: a regular expression that is searched in the text of a call's place and of its callers.

    `text` is the expression as the user wrote it.
    """

    text: str
    pattern: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> PlaceChoice:
        """Compile the text of the option --place. Raises re.error if it is not a regular expression."""
        return cls(text, re.compile(text, re.MULTILINE))

    def paths(self, trace: Trace) -> np.ndarray:
        """Find the call paths that are chosen.

        Returns:
            bool, one for each row of CallPaths.tables: True if the calls from this path are chosen.

        Raises:
            TracelibError: The trace has no call paths, or no call comes from a chosen place.
        """
        known = trace.extra(CallPaths)
        if not known.known:
            raise TracelibError(
                f"--place {self.text}: {trace.path} does not say where its calls come from",
                "record it without TRACELIB_STACK=0",
                _WRONG,
            )
        places = known.named()
        found = places.matching(self.pattern)
        if not found.any():
            raise TracelibError(f"--place {self.text}: no call of {trace.path} comes from there", _some(places), _WRONG)
        return found


def _some(places: Places) -> str:
    """Return a text that names up to _NAMED (4) places of the trace."""
    texts = [places.text(place) for place in np.unique(places.place[places.ends()]).tolist() if place]
    return f"there are {', '.join(texts[:_NAMED])}{', ...' if len(texts) > _NAMED else ''}" if texts else ""


class MessagesAt(Annotated):
    """Trace with only the messages that were sent by calls of chosen paths, or whose receive these calls posted.

    `paths` is bool by row of CallPaths.tables. All other records are unchanged.
    """

    def __init__(self, trace: Trace, paths: np.ndarray) -> None:
        super().__init__(trace, {}, lambda begin, end: np.zeros(0, EVENT))
        self.paths = paths

    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        rows = self._trace.messages(begin, end)
        sent = self._of(rows["source"], rows["source_thread"], rows["logical_send"])
        return rows.compress(sent | self._of(rows["destination"], rows["destination_thread"], rows["logical_receive"]))

    def _of(self, ranks: np.ndarray, threads: np.ndarray, enters: np.ndarray) -> np.ndarray:
        """Return a mask of the calls, given by rank, thread and entry (ns), whose path is chosen."""
        found = np.zeros(len(ranks), bool)
        if not len(ranks):
            return found
        order = np.lexsort((enters, threads, ranks))
        new = (np.diff(ranks[order]) != 0) | (np.diff(threads[order]) != 0)
        for rows in np.split(order, np.flatnonzero(new) + 1):
            found[rows] = self._entered(int(ranks[rows[0]]), int(threads[rows[0]]), enters[rows])
        return found

    def _entered(self, rank: int, thread: int, enters: np.ndarray) -> np.ndarray:
        found, window = np.zeros(len(enters), bool), (int(enters[0]), int(enters[-1]) + 1)
        paths = self._trace.extra(CallPaths)
        for calls, rows in zip(self._trace.calls(rank, *window), paths.of(rank, *window), strict=True):
            entered = calls["enter"][(calls["thread"] == thread) & self.paths[rows]]
            found |= np.isin(enters, entered)
        return found


class AtPlaces(MessagesAt):
    """Trace with only the calls of chosen paths, and the messages of these calls. All other records are unchanged."""

    def extra(self, kind: type[Kind]) -> Kind:
        if kind is SummedCalls:  # they have no places
            return kind()
        found = self._trace.extra(kind)
        return cast(Kind, _PathsAt(True, of_all=found, trace=self)) if isinstance(found, CallPaths) else found

    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for calls, paths in self.both(rank, begin, end):
            yield calls.compress(self.paths[paths])

    def both(self, rank: int, begin: int, end: int | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield blocks of all calls of a rank (CALL), each with the paths of its calls."""
        paths = self._trace.extra(CallPaths)
        return zip(self._trace.calls(rank, begin, end), paths.of(rank, begin, end), strict=True)


@dataclass(frozen=True, kw_only=True)
class _PathsAt(CallPaths):
    of_all: CallPaths
    trace: AtPlaces

    def tables(self) -> PathTables:
        return self.of_all.tables()

    def named(self) -> Places:
        return self.of_all.named()

    def of(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        for _, paths in self.trace.both(rank, begin, end):
            yield paths.compress(self.trace.paths[paths])
