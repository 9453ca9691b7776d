"""The one type that every analysis, writer and picture works on, for traces of all sources.

A `Trace` is columns per rank, read lazily: methods return numpy arrays for a window of time, and no caller ever needs
more than a window. Times are integer nanoseconds from the start of the trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from analyzer.columns.arrays import joined
from analyzer.errors import TracelibError
from analyzer.in_notebook import html_table
from analyzer.program.model import Program
from analyzer.trace.description import Communicator, Nodes, Origin, Problem
from analyzer.trace.extras import Extra
from analyzer.trace.read_sizes import DEFAULT_SIZES, ReadSizes
from analyzer.trace.records import CALL, REQUEST

if TYPE_CHECKING:
    from analyzer.parallel import Team


Kind = TypeVar("Kind", bound=Extra)


class Trace(ABC):
    """A run: measured (run.h5), imported (.prv), or later predicted and cut. docs/extending.md shows how to write one.

    All times are int64 ns from 0; ranks are world ranks from 0.
    """

    path: str
    size: int  # number of ranks
    threads: np.ndarray  # (size,) number of threads of each rank
    nodes: Nodes
    duration_ns: int  # end of the trace
    communicators: tuple[Communicator, ...]
    procedures: tuple[str, ...]  # "MPI_Send", ...
    problems: list[Problem]  # lost records, missing ranks, killed processes, malformed lines
    event_labels: dict[int, tuple[str, dict[int, str]]]  # type -> (label, value -> label): for the .pcf
    origin: Origin = Origin()
    program: Program | None = None  # of a Dimemas trace: its operations, which are all that it holds
    extras: Mapping[type[Extra], Extra] = {}  # by kind: `put` and `extra`
    sizes: ReadSizes = DEFAULT_SIZES  # amounts in which analyses read it

    def _repr_html_(self) -> str:
        """Return a table of the trace for a notebook."""
        said: dict[str, object] = {"ranks": self.size, "threads": int(self.threads.sum())}
        said |= {"duration_ns": self.duration_ns, "nodes": len(self.nodes.names)}
        said |= {"problems": [problem.text for problem in self.problems]}
        return f"<p><b>{escape(self.path)}</b></p>\n{html_table(said)}"

    def extra(self, kind: type[Kind]) -> Kind:
        """Return the source's facts of this kind (analyzer.trace.extras); an empty one if it has none."""
        found = self.extras.get(kind)
        return kind() if found is None else cast(Kind, found)

    def put(self, *extras: Extra) -> None:
        """Have `extra` return these, each for its kind."""
        self.extras = {**self.extras, **{extra.kind: extra for extra in extras}}

    @property
    def has_call_times(self) -> bool:
        """True if its times are of a run; else it is operations only, and times come from an ideal replay."""
        return self.program is None

    @abstractmethod
    def span(self, rank: int) -> tuple[int, int]:
        """Start of the process and its last event (ns)."""

    @abstractmethod
    def windows(self, records: int = 262144) -> np.ndarray:
        """Return times b_0=0 < b_1 < ... < b_n: each [b_i, b_i+1) has about `records` calls; b_n > duration_ns."""

    def windows_of(self, rank: int, records: int) -> np.ndarray:
        """Return windows, as `windows`, with about `records` calls of one rank in each.

        A source that cannot tell one rank's calls from all returns larger ones, as many ranks need, up to a limit: one
        rank may have all records of a window.
        """
        return self.windows(records * min(self.size, 16))

    def share(self, team: Team) -> range:
        """Return the ranks of this member of a team, which are neighbours.

        Members get about the same number of ranks or, if the source knows the amounts, of recorded rows.
        """
        return team.share(self.size)

    def parts(self, ranks: range, records: int) -> Iterator[tuple[range, np.ndarray]]:
        """Yield these ranks, some at a time: (ranks, bounds of their windows).

        A window holds about `records` calls of these ranks, if the source can tell one rank's calls from all.
        """
        if len(ranks):
            yield ranks, self.windows()

    @abstractmethod
    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield blocks (CALL) of the calls and folded polls whose `enter` lies in [begin, end), in order of enter."""

    @abstractmethod
    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield blocks (REQUEST) whose `completed` (STARTED rows: `posted`) lies in [begin, end), in file order."""

    def rank_calls(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of `calls` of some ranks, one rank's after the other, and each rank's number of rows."""
        return _of_each((self.calls(rank, begin, end) for rank in ranks), CALL)

    def rank_requests(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of `requests` of some ranks, one rank's after the other, and each rank's number of rows."""
        return _of_each((self.requests(rank, begin, end) for rank in ranks), REQUEST)

    @abstractmethod
    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        """Return the states (STATE) that begin in [begin, end), sorted by (begin, rank, thread).

        Running (1) is the useful computation: in our runs the time outside MPI from process start to the last event,
        less the tracer's own time (flushes, and the time after each call, TRACER).
        """

    def rank_states(self, begin: int, end: int, ranks: range) -> np.ndarray:
        """Return the states of some ranks, in any order of the threads, each thread's in order of time."""
        return self.states(begin, end, ranks)

    @abstractmethod
    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        """Return the events (EVENT) with time in [begin, end), by (time, rank, thread), else in order of recording."""

    def message_windows(self) -> np.ndarray:
        """Return windows, as `windows`, for callers that read only messages: with many ranks a window has many."""
        return self.windows()

    @abstractmethod
    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Return the matched messages (MESSAGE) with logical_send in [begin, end).

        They are in order of (logical_send, source, order of sending).
        """

    def messages_of(self, ranks: range, begin: int, end: int) -> np.ndarray:
        """Return the messages of a window that these ranks send or receive."""
        messages = self.messages(begin, end)
        inside = [(messages[name] >= ranks.start) & (messages[name] < ranks.stop) for name in ("source", "destination")]
        return messages.compress(inside[0] | inside[1])

    def unordered_messages(self, begin: int, end: int) -> np.ndarray:
        """Return the messages of a window in any order: with many ranks it takes a while to put them in order."""
        return self.messages(begin, end)

    def match(self) -> None:  # noqa: B027, most sources know their messages
        """Find the messages, unless they are known already. All members of a team must call it at the same time."""

    def close(self) -> None:  # noqa: B027, many sources have nothing to remove
        """Remove what was spilled to temporary files."""


def _of_each(ranks: Iterable[Iterator[np.ndarray]], dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Join the blocks of all ranks, and count each rank's rows."""
    every = [joined(list(blocks), dtype) for blocks in ranks]
    return joined(every, dtype), np.array([len(rows) for rows in every], np.int64)


NOT_KNOWN = "it is not known what is computing"


def unknown_computing(trace: Trace) -> list[str]:
    """Return a line that says that it is not known what is computing; none if it is known."""
    if trace.origin.has_states:
        return []
    return [f"{Path(trace.path).name}: {NOT_KNOWN}: the trace has events only, no states"]


def check_computing(trace: Trace) -> None:
    """Raise TracelibError if no state says what is computing: every figure of computation would be a guess."""
    if not trace.origin.has_states:
        raise TracelibError(
            f"{trace.path}: {NOT_KNOWN}: the trace has events only, no states",
            "analyze look --no-files, waits, views and export show what it has",
        )
