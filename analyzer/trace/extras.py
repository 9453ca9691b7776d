"""Facts that only some sources know of a run, by kind: `Trace.extra(Kind)`. A kind made without arguments is empty.

A source with such facts derives a class from the kind, overrides the methods for which it has facts, and gives an
object of the class to `Trace.put`. Methods with arguments rank, begin and end return the rank's rows with a time in
[begin, end), in ns from the start of the trace; end None: up to the end of the trace.
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
    """Base class of the kinds of facts: each class directly below this one is a kind."""

    @property
    def kind(self) -> type[Extra]:
        """The kind of this object: the class directly below Extra from which its class derives.

        `Trace.put` stores it by kind.
        """
        return next(base for base in type(self).__mro__ if Extra in base.__bases__)


@dataclass(frozen=True)
class Regions(Extra):
    """Regions of the program, with their parameters, and other events that the program asked for."""

    names: tuple[str, ...] = ()  # names of the regions; region number n has names[n - 1]
    parameters: tuple[str, ...] = ()  # names of the regions' parameters; parameter number n has parameters[n - 1]

    def marks(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Return the begins, ends and parameters of a rank's regions.

        Args:
            rank: World rank.
            begin: Only rows with a time from here on, ns.
            end: Only rows with a time before this, ns. None: all later rows.

        Returns:
            MARK rows, thread by thread, each thread's in order of recording. Regions nest.
        """
        return np.zeros(0, MARK)

    def events(self, rank: int, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Return the events that the program of a rank asked for: its regions, their parameters, and its own events.

        Returns:
            EVENT rows with time in [begin, end), in order of time.
        """
        return np.zeros(0, EVENT)


@dataclass(frozen=True)
class Counters(Extra):
    """Hardware and software counters, read at calls and by samples."""

    known: tuple[Counter, ...] = ()  # all counters that any rank read; a column number of the readings is an index here

    def counts(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[Counts]:
        """Yield a rank's calls with the readings of its counters, in the same blocks as `Trace.calls`.

        A trace without counters yields no blocks.
        """
        yield from ()

    def samples(self, rank: int, begin: int = 0, end: int | None = None) -> Samples:
        """Return the readings of counters that a rank's threads took between MPI calls, with a time in [begin, end)."""
        none = np.zeros(0, np.int64)
        return Samples(none, none, np.zeros(0, bool), np.zeros((0, len(self.known)), np.int64))

    def sampled(self, rank: int) -> tuple[int, int]:
        """Count the periodic samples of a rank.

        Returns:
            Number of samples that were taken, and number of samples that were due and could not be taken.
        """
        return 0, 0


@dataclass(frozen=True)
class Objects(Extra):
    """RMA windows and files of the program, and which call accessed which of them."""

    known: tuple[SharedObject, ...] = ()

    @property
    def has_windows(self) -> bool:
        """True if the source knows any RMA window. Without one, it also lacks the accesses of calls to RMA windows."""
        return any(one.kind == "window" for one in self.known)

    def accesses(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield blocks of ACCESS rows: the accesses of a rank's calls with `enter` in [begin, end)."""
        yield from ()

    def group(self, rank: int, group: int) -> np.ndarray:
        """Return the members of an MPI group that a rank's accesses name.

        Args:
            rank: World rank that made the accesses.
            group: Number of the group, from column `group` of ACCESS.

        Returns:
            World ranks of the members, int64 of shape (members,).
        """
        return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Losses(Extra):
    """Calls and other records that the trace lacks, although they took place in the run."""

    missing: tuple[int, ...] = ()  # ranks that could not be read, or were not chosen: no figure counts them as idle
    ending: tuple[str, ...] = ()  # how the run ended, if not in order: text lines, also the first of Trace.problems
    left_out: str = ""  # text: operations between ranks that are incomplete, or that the trace lacks its end; "": none
    after_ns: int = 0  # ns that the run went on after the last record; 0: unknown, or none
    in_buffers: bool = False  # True: the last calls of killed ranks are only in buffers in this node's memory
    unfinished: tuple[UnfinishedCall, ...] = ()  # calls without return of killed ranks, by rank, thread

    def unrecorded(self, rank: int) -> np.ndarray:
        """Return the intervals in which a thread of a rank recorded nothing: recording was off, or had reached a limit.

        Returns:
            FLUSH rows with the state TRACING_DISABLED.
        """
        return np.zeros(0, FLUSH)

    def lost_calls(self, rank: int) -> int:
        """Count the calls of a rank that should have been recorded, and are not in the trace."""
        return 0

    def dropped_calls(self, rank: int) -> int:
        """Count the calls of a rank that were removed, or not recorded, to keep to a limit of memory or disk."""
        return 0

    def missed_collectives(self, rank: int) -> np.ndarray:
        """Return the collectives that a rank made while it recorded nothing, in order of time (MISSED_COLLECTIVES).

        With them the n-th recorded collective of a communicator keeps its number n, so that matching remains correct.
        """
        return np.zeros(0, MISSED_COLLECTIVES)


@dataclass(frozen=True)
class Chosen(Extra):
    """The choice of ranks, and of bursts, that a trace is limited to.

    Ranks outside the choice are in `Losses.missing`.
    """

    ranks: tuple[int, ...] | None = None  # ranks that are read, ascending; None: all ranks
    cluster: int = 0  # number of the cluster whose bursts alone count as computing; 0: all bursts do

    def one_sided(self) -> int:
        """Count the sends and receives of the chosen ranks whose other side is a rank that was not chosen."""
        return 0


@dataclass(frozen=True)
class Leftovers(Extra):
    """Sends, receives and collective calls for which the trace has no partner on another rank."""

    def unpaired(self) -> Unpaired:
        """Count the sends and the receives that have no partner, and the messages that have both."""
        return Unpaired(0, 0, 0)

    def leave_out(self) -> None:
        """From now on, return sends and receives without a partner as calls without a peer.

        A replay needs this: a send that nobody receives must not wait for a receive, nor a receive for a send that is
        not in the trace.
        """

    def unmatched(self) -> list[Unmatched]:
        """Return the sends without a receive and the receives without a send, summed by rank, call, peer and path."""
        return []

    def not_recorded(self) -> int:
        """Count the sends and receives whose partner took place while recording was off.

        They are part of no message, but `unmatched` does not list them.
        """
        return 0

    def elsewhere(self) -> list[Unmatched]:
        """Return the sends and receives whose other side is a process of another run, spawned or connected."""
        return []

    def relatives(self) -> list[Relative]:
        """Return the other runs with whose processes this run communicated: spawned, or connected."""
        return []


@dataclass(frozen=True)
class Arrows(Extra):
    """Arrows inside a task that belong to no MPI call, such as from a CUDA call to its kernel.

    Another example is the arrow from the creation of an OpenMP task to its execution.
    """

    def read(self, begin: int = 0, end: int | None = None) -> np.ndarray:
        """Return the arrows with logical_send in [begin, end), as MESSAGE rows in order of logical_send.

        `Trace.messages` contains none of them.
        """
        return np.zeros(0, MESSAGE)

    def among(self, messages: np.ndarray, begin: int, end: int) -> np.ndarray:
        """Merge the arrows of a window into its messages, in the order in which both were recorded.

        Args:
            messages: The messages of the window (MESSAGE).
            begin: Begin of the window, ns.
            end: End of the window, ns.
        """
        return messages


@dataclass(frozen=True)
class TracerTime(Extra):
    """Times in which the tracer itself, not the program, held threads."""

    buffer_bytes: int = 0  # size of the tracer's buffer of each thread in bytes; 0: unknown

    def flushes(self, rank: int) -> np.ndarray:
        """Return the intervals in which the tracer held threads of a rank for a flush or similar work (FLUSH)."""
        return np.zeros(0, FLUSH)

    def after_call_ns(self, rank: int) -> int:
        """Return the time that the tracer takes after each call of a rank, in ns, as measured at the start.

        0: unknown.
        """
        return 0

    def after_call_cpu_ns(self, rank: int) -> int:
        """Return the CPU time that the tracer takes after each call of a rank, in ns. 0: not measured."""
        return 0


@dataclass(frozen=True)
class Clocks(Extra):
    """Relation of the nodes' clocks to each other, and corrections of times."""

    known: tuple[NodeClock, ...] = ()  # clocks other than rank 0's clock
    repair: Repair | None = None  # how times were moved after the alignment of clocks; None: they were not moved


@dataclass(frozen=True)
class SummedCalls(Extra):
    """Calls that were not recorded one by one: the trace has only their sums."""

    def of(self, rank: int) -> np.ndarray:
        """Return the sums of a rank's summed calls, one row for each procedure (SUMMED).

        `Trace.calls` has such calls only as stretches: one row for a number of calls of several procedures.
        """
        return np.zeros(0, SUMMED)


@dataclass(frozen=True)
class Errors(Extra):
    """Errors that MPI calls returned to the program."""

    def of(self, rank: int) -> np.ndarray:
        """Return all errors that calls of a rank returned (ERROR)."""
        return np.zeros(0, ERROR)


@dataclass(frozen=True)
class CallPaths(Extra):
    """Call paths: the places in the program that calls come from."""

    known: bool = False

    def tables(self) -> PathTables:
        """Return the tables of all call paths of the run. A path is a row number of them."""
        return PathTables.empty()

    def of(self, rank: int, begin: int = 0, end: int | None = None) -> Iterator[np.ndarray]:
        """Yield, for each block of `Trace.calls`, the path of each call: a row of `tables`, int64; 0: not known.

        A trace without paths yields no blocks.
        """
        yield from ()

    def named(self) -> Places:
        """Return the places of all paths with their names.

        Unknown names are looked up in the executables and stored in the run.
        """
        return Places(self.tables(), NameCache())


@dataclass(frozen=True)
class CodeSamples(Extra):
    """Samples, at regular times, of the place in the code at which each thread is, in and between MPI calls."""

    known: bool = False
    by_signal: bool = False  # True: a signal interrupted the threads for each sample

    def of(self, rank: int) -> Iterator[np.ndarray]:
        """Yield blocks of a rank's samples (SAMPLE). The samples of each thread are in order of time."""
        yield from ()


@dataclass(frozen=True)
class CpuWaits(Extra):
    """Times in a predicted run in which threads waited for a CPU."""

    def of(self, rank: int) -> np.ndarray:
        """Return the intervals in which threads of a rank had to compute, but waited for a CPU or for the switch to it.

        Returns:
            FLUSH rows in state SCHEDULING. Waits for a CPU inside calls are not among them, but in `Trace.states`.
        """
        return np.zeros(0, FLUSH)


@dataclass(frozen=True)
class CpuUse(Extra):
    """Times in which the threads of a measured run had no CPU, as the kernel reported them."""

    def is_any_known(self) -> bool:
        """Return True if times without a CPU were recorded for any rank."""
        return False

    def is_known(self, rank: int) -> bool:
        """Return True if times without a CPU were recorded for the threads of this rank."""
        return False

    def of(self, rank: int) -> np.ndarray:
        """Return the times in which the threads of a rank had no CPU (OFF_CPU).

        The rows of each thread are in order of time.
        """
        return np.zeros(0, OFF_CPU)

    def tasks(self, rank: int) -> np.ndarray:
        """Return all threads of a rank's process, also threads that made no call, with their use of CPUs (TASK)."""
        return np.zeros(0, TASK)
