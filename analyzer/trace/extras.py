"""Facts that only some sources know of a run, by kind: `Trace.extra(Kind)`. A kind made without arguments is empty.

A source that has more derives a class from the kind, overrides the methods that it knows, and gives it to `Trace.put`.
Methods that take a rank return its rows in [begin, end), in ns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.places import NameCache, PathTables, Places
from analyzer.trace.description import (
    Counter,
    Counts,
    NodeClock,
    Relative,
    Repair,
    Samples,
    SharedObject,
    UnfinishedCall,
    Unmatched,
    Unpaired,
)
from analyzer.trace.records import ERROR, EVENT, FLUSH, MARK, MESSAGE, MISSED_COLLECTIVES, OFF_CPU, SUMMED, TASK


class Extra:
    """Facts of one kind: a kind is a class right below this one."""

    @property
    def kind(self) -> type[Extra]:
        """Class by which this kind is looked up."""
        return next(base for base in type(self).__mro__ if Extra in base.__bases__)


@dataclass(frozen=True)
class Regions(Extra):
    """Regions of the program, their parameters, and the program's own events."""

    names: tuple[str, ...] = ()  # of region 1, 2, ...
    parameters: tuple[str, ...] = ()  # names of parameter 1, 2, ...

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Return the regions of a rank (MARK), thread by thread in order of recording. They nest."""
        return np.zeros(0, MARK)

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Return the events (EVENT, in order of time) of a rank that the program itself asked for.

        These are regions, their parameters, and the program's own events.
        """
        return np.zeros(0, EVENT)


@dataclass(frozen=True)
class Counters(Extra):
    """Hardware and software counters."""

    known: tuple[Counter, ...] = ()  # all that were read by any rank

    def counts(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[Counts]:
        """Yield the same blocks as `Trace.calls`, with their counters; none in a trace without counters."""
        yield from ()

    def samples(self, rank: int, begin: int = 0, end: int | None = None) -> Samples:
        """Return readings of the counters of a rank's threads between its calls."""
        none = np.zeros(0, np.int64)
        return Samples(none, none, np.zeros(0, bool), np.zeros((0, len(self.known)), np.int64))

    def sampled(self, rank: int) -> tuple[int, int]:
        """Count the periodic samples of a rank: taken ones, and ones that were due and could not be taken."""
        return 0, 0


@dataclass(frozen=True)
class Objects(Extra):
    """Windows and files, and the accesses of calls to them."""

    known: tuple[SharedObject, ...] = ()

    @property
    def has_windows(self) -> bool:
        """True if any window is known. If none is, nothing is known of calls on windows either."""
        return any(one.kind == "window" for one in self.known)

    def accesses(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield blocks (ACCESS) of the accesses of calls with `enter` in [begin, end)."""
        yield from ()

    def group(self, rank: int, group: int) -> np.ndarray:
        """Return the world ranks of the members of a group that `accesses` of a rank names."""
        return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Losses(Extra):
    """Records that are not in the trace, although they took place."""

    missing: tuple[int, ...] = ()  # ranks of which nothing could be read: no figure counts them as idle
    ending: tuple[str, ...] = ()  # how the run ended, if not in order: lines that are the first of `problems`, too
    left_out: str = ""  # what ranks left half done with others, or the trace's end; "": nothing
    after_ns: int = 0  # how long the run went on after the last record, where its end is known from elsewhere
    in_buffers: bool = False  # whether the last calls of killed ranks are in buffers of this node only
    unfinished: tuple[UnfinishedCall, ...] = ()  # calls that killed ranks did not come back from, by rank and thread

    def unrecorded(self, rank: int) -> np.ndarray:
        """Return the intervals (FLUSH) in which a thread recorded nothing: it was switched off, or at a limit."""
        return np.zeros(0, FLUSH)

    def lost_calls(self, rank: int) -> int:
        """Count the calls of the rank that were to be recorded and are not in the trace."""
        return 0

    def dropped_calls(self, rank: int) -> int:
        """Count the calls of the rank that were recorded and dropped again, or left out, to keep to a limit."""
        return 0

    def missed_collectives(self, rank: int) -> np.ndarray:
        """Return MISSED_COLLECTIVES of a rank, in order of time: with them, recorded collectives keep their numbers."""
        return np.zeros(0, MISSED_COLLECTIVES)


@dataclass(frozen=True)
class Chosen(Extra):
    """Which ranks are read, where that is a choice, and which bursts. The other ranks are among `Losses.missing`."""

    ranks: tuple[int, ...] | None = None  # in their order; None: all
    cluster: int = 0  # of the bursts that compute, where the others count as idle; 0: all compute

    def one_sided(self) -> int:
        """Return the number of sends and receives of these ranks whose other side is a rank that was not chosen."""
        return 0


@dataclass(frozen=True)
class Leftovers(Extra):
    """Sends, receives and calls that have no partner in the trace."""

    def unpaired(self) -> Unpaired:
        """Count sends and receives that have no other side."""
        return Unpaired(0, 0, 0)

    def leave_out(self) -> None:
        """Remove the other rank from rows without another side, from now on.

        A replay needs this: there a send that nobody receives must not wait for its receive, nor a receive for a send
        that is not in the trace.
        """

    def unmatched(self) -> list[Unmatched]:
        """Return the rows that matching left over."""
        return []

    def not_recorded(self) -> int:
        """Count sends and receives whose other side took place where recording was off.

        They are in no message, yet not unmatched.
        """
        return 0

    def elsewhere(self) -> list[Unmatched]:
        """Return the messages with processes of other runs: spawned, or connected."""
        return []

    def relatives(self) -> list[Relative]:
        """Return the runs that this one met: spawned, or connected."""
        return []


@dataclass(frozen=True)
class Arrows(Extra):
    """Arrows inside a task that belong to no MPI call: from a CUDA call to its kernel, from a task's creation on."""

    def read(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Read the arrows with logical_send in [begin, end), as MESSAGE in order of it. None is in `Trace.messages`."""
        return np.zeros(0, MESSAGE)

    def among(self, messages: np.ndarray, begin: int, end: int) -> np.ndarray:
        """Put the arrows of a window among its messages (MESSAGE), in the order in which both were recorded."""
        return messages


@dataclass(frozen=True)
class TracerTime(Extra):
    """Times when the tracer itself held the program's threads."""

    buffer_bytes: int = 0  # its buffer of each thread; 0: unknown

    def flushes(self, rank: int) -> np.ndarray:
        """Return all flushes of a rank (FLUSH)."""
        return np.zeros(0, FLUSH)

    def after_call_ns(self, rank: int) -> int:
        """Return the tracer's own time after each call, ns, as it was measured at the start."""
        return 0

    def after_call_cpu_ns(self, rank: int) -> int:
        """Return the tracer's own CPU time after each call, ns, if it was measured."""
        return 0


@dataclass(frozen=True)
class Clocks(Extra):
    """Corrections that related the clocks of nodes to each other."""

    known: tuple[NodeClock, ...] = ()  # those that are not rank 0's
    repair: Repair | None = None  # None: times are as clocks and their alignment give them


@dataclass(frozen=True)
class SummedCalls(Extra):
    """Calls of which only sums are known."""

    def of(self, rank: int) -> np.ndarray:
        """Return SUMMED by procedure, of the calls of a rank that `calls` has only as stretches.

        A stretch is one row for a number of calls of several procedures.
        """
        return np.zeros(0, SUMMED)


@dataclass(frozen=True)
class Errors(Extra):
    """Errors that calls returned."""

    def of(self, rank: int) -> np.ndarray:
        """Return all errors (ERROR) of a rank."""
        return np.zeros(0, ERROR)


@dataclass(frozen=True)
class CallPaths(Extra):
    """Call paths: the places in the program that calls come from."""

    known: bool = False

    def tables(self) -> PathTables:
        """Return all paths of the run."""
        return PathTables.empty()

    def of(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield, for each block of `Trace.calls`, the rows of the paths in `tables` (int64; 0: not known).

        A trace without paths yields no blocks.
        """
        yield from ()

    def named(self) -> Places:
        """Return the places of all paths. Unknown names are looked up in the programs and kept with the run."""
        return Places(self.tables(), NameCache())


@dataclass(frozen=True)
class CodeSamples(Extra):
    """Samples of the threads' places in the code at regular times, whether or not they made calls."""

    known: bool = False
    by_signal: bool = False  # how they were taken

    def of(self, rank: int) -> Iterator[np.ndarray]:
        """Yield blocks of SAMPLE, each thread's in order of time."""
        yield from ()


@dataclass(frozen=True)
class CpuWaits(Extra):
    """Waiting for a CPU in a prediction."""

    def of(self, rank: int) -> np.ndarray:
        """Return intervals (FLUSH in state SCHEDULING) in which threads of a rank waited for a CPU.

        The threads had to compute, and waited for the CPU or for the change to it. Such intervals inside calls are in
        `Trace.states` only.
        """
        return np.zeros(0, FLUSH)


@dataclass(frozen=True)
class CpuUse(Extra):
    """Times when the threads of a measured run had no CPU, by the kernel's account."""

    def is_any_known(self) -> bool:
        """Return True if it was recorded for any rank."""
        return False

    def is_known(self, rank: int) -> bool:
        """Return True if it was recorded for the rank when its threads had no CPU."""
        return False

    def of(self, rank: int) -> np.ndarray:
        """Return OFF_CPU of a rank, each thread's in order of time."""
        return np.zeros(0, OFF_CPU)

    def tasks(self, rank: int) -> np.ndarray:
        """Return TASK of a rank: all threads of its process, also threads that made no call."""
        return np.zeros(0, TASK)
