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
    """A run: measured (run.h5), imported (.prv), predicted or cut.

    docs/extending.md shows how to write a source of one.

    All times are int64 ns from the start of the trace. Ranks are world ranks, from 0. Where a method has arguments
    begin and end, it returns the records of [begin, end); end None: up to the end of the trace.
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
    program: Program | None = None  # operations: all that a Dimemas trace has; None: calls have times
    extras: Mapping[type[Extra], Extra] = {}  # facts that only this source has, by kind; see `put` and `extra`
    sizes: ReadSizes = DEFAULT_SIZES  # numbers of rows that analyses read at a time

    def _repr_html_(self) -> str:
        """Return a table of the trace for a notebook."""
        said: dict[str, object] = {"ranks": self.size, "threads": int(self.threads.sum())}
        said |= {"duration_ns": self.duration_ns, "nodes": len(self.nodes.names)}
        said |= {"problems": [problem.text for problem in self.problems]}
        return f"<p><b>{escape(self.path)}</b></p>\n{html_table(said)}"

    def extra(self, kind: type[Kind]) -> Kind:
        """Return the facts of one kind (see analyzer.trace.extras).

        A source without such facts gives an empty object of the kind.
        """
        found = self.extras.get(kind)
        return kind() if found is None else cast(Kind, found)

    def put(self, *extras: Extra) -> None:
        """Store facts of some kinds, which `extra` will return. Facts of the same kind are replaced."""
        self.extras = {**self.extras, **{extra.kind: extra for extra in extras}}

    @property
    def has_call_times(self) -> bool:
        """True if calls have times.

        A trace that consists of operations only (Dimemas) has none: a replay must give them.
        """
        return self.program is None

    @abstractmethod
    def span(self, rank: int) -> tuple[int, int]:
        """Return the start of a rank's process, and the time of its last event, in ns."""

    @abstractmethod
    def windows(self, records: int = 262144) -> np.ndarray:
        """Return bounds of windows in which all ranks together have about `records` calls each.

        Returns:
            Times b_0 = 0 < b_1 < ... < b_n in ns, where b_n > duration_ns. Window i is [b_i, b_i+1).
        """

    def windows_of(self, rank: int, records: int) -> np.ndarray:
        """Return bounds of windows as `windows`, in which one rank has about `records` calls.

        A source that cannot count the calls of one rank returns windows that hold min(ranks, 16) times as many calls of
        all ranks. This is the limit, since one rank may have made all calls of a window.
        """
        return self.windows(records * min(self.size, 16))

    def share(self, team: Team) -> range:
        """Return the ranks that this member of a team reads: a range of neighbours.

        Members get about the same number of ranks or, if the source knows the number of recorded rows, of rows.
        """
        return team.share(self.size)

    def parts(self, ranks: range, records: int) -> Iterator[tuple[range, np.ndarray]]:
        """Split ranks into groups that are read together, and yield each group with the bounds of its windows.

        Args:
            ranks: The ranks to split.
            records: Number of calls of the group that a window is to hold, if the source can count one rank's calls.

        Yields:
            A range of ranks, and the bounds of their windows in ns, as `windows`.
        """
        if len(ranks):
            yield ranks, self.windows()

    @abstractmethod
    def calls(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield blocks of a rank's calls (CALL) whose `enter` lies in [begin, end), in order of enter.

        Folded rows, which stand for several polls, are among them.
        """

    @abstractmethod
    def requests(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield blocks of a rank's operations of requests (REQUEST), in the order of the file.

        The time that must lie in [begin, end) is `completed`, and for rows that only start an operation (STARTED)
        `posted`.
        """

    def rank_calls(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the calls of some ranks in [begin, end), read at once.

        Returns:
            CALL rows, rank after rank, and the number of rows of each rank (int64, one for each of `ranks`).
        """
        return _of_each((self.calls(rank, begin, end) for rank in ranks), CALL)

    def rank_requests(self, ranks: range, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the operations of requests of some ranks in [begin, end), read at once.

        Returns:
            REQUEST rows, rank after rank, and the number of rows of each rank (int64, one for each of `ranks`).
        """
        return _of_each((self.requests(rank, begin, end) for rank in ranks), REQUEST)

    @abstractmethod
    def states(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        """Return the states of threads (STATE) that begin in [begin, end), sorted by begin, rank and thread.

        Args:
            begin: Begin of the interval, ns.
            end: End of the interval, ns. None: the end of the trace.
            ranks: Only states of these ranks. None: all ranks.

        The state Running (1) is useful computation: in our runs the time outside MPI from the start of the process to
        its last event, less the tracer's own time (flushes, and the time after each call, state TRACER).
        """

    def rank_states(self, begin: int, end: int, ranks: range) -> np.ndarray:
        """Return the states of some ranks (STATE), not sorted by thread; each thread's states are in order of time."""
        return self.states(begin, end, ranks)

    @abstractmethod
    def events(self, begin: int = 0, end: int | None = None, ranks: range | None = None) -> np.ndarray:
        """Return the events (EVENT) with a time in [begin, end), sorted by time, rank and thread.

        Events that are equal in all three are in order of recording. `ranks`: only events of these ranks; None: all
        ranks.
        """

    def message_windows(self) -> np.ndarray:
        """Return bounds of windows as `windows`, for callers that read only messages.

        A source may make them larger or smaller.
        """
        return self.windows()

    @abstractmethod
    def messages(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Return the matched messages (MESSAGE) with logical_send in [begin, end).

        They are sorted by logical_send and source, then in the order in which they were sent.
        """

    def messages_of(self, ranks: range, begin: int, end: int) -> np.ndarray:
        """Return the messages of [begin, end) whose source or destination is one of `ranks` (MESSAGE, in order)."""
        messages = self.messages(begin, end)
        inside = [(messages[name] >= ranks.start) & (messages[name] < ranks.stop) for name in ("source", "destination")]
        return messages.compress(inside[0] | inside[1])

    def unordered_messages(self, begin: int, end: int) -> np.ndarray:
        """Return the messages of [begin, end) in any order (MESSAGE).

        With many ranks this takes less time than `messages`, which sorts.
        """
        return self.messages(begin, end)

    def match(self) -> None:  # noqa: B027, most sources know their messages
        """Match sends and receives to messages, unless this has been done.

        Collective: all members of a team must call it.
        """

    def close(self) -> None:  # noqa: B027, many sources have nothing to remove
        """Remove the temporary files of the trace."""


def _of_each(ranks: Iterable[Iterator[np.ndarray]], dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Join the blocks of all ranks, and count each rank's rows."""
    every = [joined(list(blocks), dtype) for blocks in ranks]
    return joined(every, dtype), np.array([len(rows) for rows in every], np.int64)


NOT_KNOWN = "it is not known what is computing"


def unknown_computing(trace: Trace) -> list[str]:
    """Return a line for the user if the trace does not say when threads compute (no states); else an empty list."""
    if trace.origin.has_states:
        return []
    return [f"{Path(trace.path).name}: {NOT_KNOWN}: the trace has events only, no states"]


def check_computing(trace: Trace) -> None:
    """Raise TracelibError if the trace has no states that say when threads compute.

    Without them, every number about computation would be a guess.
    """
    if not trace.origin.has_states:
        raise TracelibError(
            f"{trace.path}: {NOT_KNOWN}: the trace has events only, no states",
            "analyze look --no-files, waits, views and export show what it has",
        )
