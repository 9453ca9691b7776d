"""Turns one rank's calls and requests into operations, a window of time after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.operations.bursts import CpuBursts, is_any_measured, is_measured
from analyzer.operations.events import NO_EVENTS, ProgramEvents
from analyzer.operations.persistent import tell_bytes
from analyzer.operations.procedures import FILE, NOTHING, dimemas_plan_of, is_on_file, is_on_window, moves_data, plan_of
from analyzer.operations.rank_walk import Arrays, RankWalk, nothing, struct_of
from analyzer.operations.threads import CallingThreads
from analyzer.operations.translation import Begun, Translation
from analyzer.operations.windows import Partners, Windows, is_fence, window_groups
from analyzer.pairing.requests import Choice, Posted, gather_blocks, window_calls, windows_of_rank
from analyzer.program.operation import OperationKind
from analyzer.program.storage import OperationSpill
from analyzer.recording.run.rank_rows import row_reader
from analyzer.trace import FLUSH, REQUEST, Communicator, CpuWaits, Losses, Objects, Trace, TracerTime
from analyzer.trace.trace import check_computing
from tracelib.schema import WHAT_ORDINAL_SHIFT, RequestKind

if TYPE_CHECKING:
    from analyzer.operations.message_numbers import MessageNumbers


ORDINALS = 256
_COLLECTIVES = (OperationKind.COLLECTIVE, OperationKind.COLLECTIVE_START)


def _any_ordinal(what: RequestKind) -> tuple[int, ...]:
    """Return all values that the column `what` may have for a kind of partitioned operation."""
    return tuple(what | ordinal << WHAT_ORDINAL_SHIFT for ordinal in range(ORDINALS))


_POSTED = (
    RequestKind.RECV_DONE, RequestKind.RECV_FREED, RequestKind.RECEIVED, RequestKind.SEND_STARTED,
    RequestKind.COLLECTIVE_STARTED, *_any_ordinal(RequestKind.PARTITIONED_SEND_STARTED),
    *_any_ordinal(RequestKind.PARTITIONED_RECV_DONE),
)  # fmt: skip
_DONE = (
    RequestKind.RECV_DONE, RequestKind.RECEIVED, RequestKind.COLLECTIVE_DONE, RequestKind.RMA_DONE,
    *_any_ordinal(RequestKind.PARTITIONED_SEND_DONE), *_any_ordinal(RequestKind.PARTITIONED_RECV_DONE),
)  # fmt: skip
_OF_FILES = (RequestKind.READ_DONE, RequestKind.WRITE_DONE)
"""Values of `what` of requests on files. They both open and complete operations, if files are translated."""


def is_definable(communicator: Communicator) -> bool:
    """Return True if Dimemas can define the communicator: an intracommunicator whose members are distinct."""
    return not communicator.remote and len(set(communicator.members)) == len(communicator.members) > 0


def _file_communicators(trace: Trace) -> list[int]:
    """Return the indices in Trace.communicators of the communicators in which files were opened."""
    if not any(map(is_on_file, trace.procedures)):
        return []
    used = {one.comm for one in trace.extra(Objects).known if one.kind == "file" and one.comm >= 0}
    return sorted(k for k in used if is_definable(trace.communicators[k]))


class RankOperations:
    """Translator of ranks' calls into operations, one rank after the other.

    A burst lasts from the end of an MPI call to the begin of the next, in whole ns. In traces that distinguish the
    tracer's time (Origin.tracer_times), bursts begin at the start of the process, and leave out flushes and the
    tracer's time after each call: they sum up to the useful time. In other traces they begin at 0 and include flushes,
    as in prv2dim. If CPU time was measured and `cpu_time` is True, a burst is as long as its CPU time.

    Args:
        trace: The trace.
        cpu_time: Use measured CPU times.
        by_thread: Threads of a rank compute side by side. False: they are one sequence, in order of time.
        events: More events (EVENT) in order of time, which the trace does not have.

    Raises:
        TracelibError: The trace does not tell which thread is computing.
    """

    def __init__(
        self, trace: Trace, *, cpu_time: bool = True, by_thread: bool = False, events: np.ndarray = NO_EVENTS
    ) -> None:
        check_computing(trace)
        self._trace, self._events = trace, events
        self._cpu_time = cpu_time and is_any_measured(trace)
        self._numbers = message_numbers(trace) if by_thread else None
        means = plan_of if by_thread else dimemas_plan_of
        self._plan = np.array([*map(means, trace.procedures), (NOTHING, 0)], np.int32)
        lost = (means(p)[0] in (NOTHING, FILE) and moves_data(p) for p in trace.procedures)
        self._lost = np.array([*lost, False], np.uint8)
        self._wanted = (*_POSTED, *_OF_FILES) if by_thread else _POSTED
        self._done = Choice((*_DONE, *_OF_FILES) if by_thread else _DONE, by_completed=True)
        uses = is_on_window if by_thread else is_fence
        self.windows = window_groups(trace, uses)  # after the trace's communicators
        self._on_window = np.array([*map(uses, trace.procedures), False])
        self._windows = Windows(trace, self._plan)
        self.files: tuple[tuple[int, ...], ...] = ()  # after those of `windows`
        self._file_comm = np.zeros(1 + len(trace.communicators), np.int32)
        if by_thread and (used := _file_communicators(trace)):
            self.files = tuple(trace.communicators[k].members for k in used)
            self._file_comm[1 + np.array(used)] = (
                np.arange(len(used)) + 1 + len(trace.communicators) + len(self.windows)
            )
        defined = [False, *map(is_definable, trace.communicators), *map(bool, self.windows), *map(bool, self.files)]
        self._defined = np.array(defined, np.int8)
        ids = [len(self.windows), *(c.id for c in trace.communicators)]
        self._channels = max(ids) + 2 + len(self.windows), len(trace.communicators) + 1
        first, many = self._channels
        self._first_window = first + ORDINALS * many
        self._worlds = _worlds(trace)
        self._members = np.array([len(c.members) for c in trace.communicators], np.int64)
        self._translation: Translation | None = None
        self.left_out = np.zeros((2, len(trace.procedures)), np.int64)  # calls whose data no network moves; ns
        self.idle_events = 0  # number of events left out because Dimemas would take them for idle time
        self.threads = 1  # number of threads of the latest rank
        self.slots = 0  # number of requests that the latest rank had open at once
        self.shared_slots = 0  # number of them that another thread completed than the one that posted them

    def of(self, rank: int) -> Iterator[np.ndarray]:
        """Yield the operations (OP) of one rank, block by block.

        Column `block` is the number of the thread. Communicators are named by their index in the trace + 1; 0 is the
        world.
        """
        threads = CallingThreads.from_trace(self._trace, rank, self._plan) if self._numbers else CallingThreads.single()
        self.threads = threads.count
        end = self._trace.span(rank)[1]
        bursts = CpuBursts(self._trace, rank, wanted=self._cpu_time)
        walk = self._walk(rank, threads, bursts.overhead_ns, self._no_burst(rank))
        events = ProgramEvents(self._trace, rank, self._events)
        partners = self._windows.partners(rank)
        for window, calls, posted, done in self._by_window(rank, threads.count > 1):
            cpu = bursts.window(window, calls)
            said = _in_order(threads.edges(window), events.window(window), "time")
            yield self._operations(walk, calls, cpu, self._on_windows(partners, window, calls), posted, done, said)
        self._forget(rank)
        self.idle_events += events.left_out
        yield self._operations(walk, threads.last_calls(end, len(self._trace.procedures)), None, {}, *nothing())
        yield walk.finish()
        self.slots, self.shared_slots = walk.slots, walk.shared_slots

    def append_to(self, spill: OperationSpill, rank: int) -> int | None:
        """Append the operations of a rank whose rows the kernel can translate directly.

        Returns:
            Number of operations. None: the rank is not of this kind, use `of`.
        """
        measured = self._cpu_time and is_measured(self._trace, rank)
        reader = row_reader(self._trace)
        lane = reader.only_lane(rank) if reader else None
        if lane is None or measured or self._numbers:
            return None
        translation = self._translate_into(spill)
        left_out, no_burst = self.left_out.copy(), lane.not_the_programs

        def begin() -> Begun:
            self.left_out[:] = left_out
            walk = self._walk(
                rank, CallingThreads.single(), self._trace.extra(TracerTime).after_call_cpu_ns(rank), no_burst
            )
            return Begun(walk, ProgramEvents(self._trace, rank, self._events))

        if (found := translation.append(self._trace, lane, begin)) is None:
            self.left_out[:] = left_out
            return None
        count, (walk, events) = found
        self._forget(rank)
        self.idle_events += events.left_out
        self.threads, self.slots, self.shared_slots = 1, walk.slots, walk.shared_slots
        return count

    def append_ranks(self, spill: OperationSpill, ranks: range) -> tuple[np.ndarray, np.ndarray]:
        """Append the operations of the first ranks of a range together, until a rank that the kernel cannot translate.

        Returns:
            For each appended rank the number of operations, and the number of requests that it had open at once.
        """
        run = self._trace
        reader = row_reader(run)
        stored = reader.stored_lanes(ranks) if reader and not self._cpu_time else None
        if stored is None or self._numbers or len(self._events):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        end = max(run.duration_ns + 1, 1)
        return self._translate_into(spill).append_lanes(stored, end, tracer_times=run.origin.tracer_times)

    def _translate_into(self, spill: OperationSpill) -> Translation:
        if self._translation is None or self._translation.spill is not spill:
            on_window = self._on_window.view(np.uint8)
            self._translation = Translation(spill, self._plans(None), Choice(self._wanted), self._done, on_window)
        return self._translation

    def _forget(self, rank: int) -> None:
        """Drop the rank's rows from memory, because they are not needed again soon."""
        if reader := row_reader(self._trace):
            reader.forget(rank)

    def _walk(self, rank: int, threads: CallingThreads, cpu_overhead_ns: int, no_burst: np.ndarray) -> RankWalk:
        """Make the kernel's state at the begin of a rank.

        Args:
            rank: The rank.
            threads: Its threads.
            cpu_overhead_ns: CPU time of the tracer after each call, ns.
            no_burst: Times (FLUSH), in order, that are neither a call nor a burst.
        """
        subtract = self._trace.origin.tracer_times
        return RankWalk(
            rank, threads, self._trace.span(rank)[0] if subtract else 0,
            no_burst if subtract else np.zeros(0, FLUSH), len(self._defined),
            cpu_overhead_ns,
        )  # fmt: skip

    def _no_burst(self, rank: int) -> np.ndarray:
        """Return the times (FLUSH) of all threads that belong to no burst, in order.

        These are flushes, gaps in recording, and waits for CPUs.
        """
        flushes, unrecorded = self._trace.extra(TracerTime).flushes(rank), self._trace.extra(Losses).unrecorded(rank)
        lost = _in_order(flushes, unrecorded, "begin")
        return _in_order(lost, self._trace.extra(CpuWaits).of(rank), "begin")

    def _by_window(self, rank: int, threaded: bool) -> Iterator[tuple]:
        """Yield for each window its begin and end, the calls, the requests posted, and the requests completed in it.

        With `threaded`, the posted requests also tell which thread completes a collective.
        """
        windows = windows_of_rank(self._trace, rank)
        ended = (RequestKind.COLLECTIVE_DONE, RequestKind.RMA_DONE) if threaded else ()
        posted = Posted(self._trace, rank, windows, (*self._wanted, *ended))
        for index, (begin, end) in enumerate(pairwise(windows.tolist())):
            calls = window_calls(self._trace, rank, begin, end)
            rows = gather_blocks(self._trace.requests(rank, begin, end), REQUEST)
            done = self._done.of(rows)
            yield (begin, end), calls, self._posted(rank, posted.window(index, rows), calls), done

    def _posted(self, rank: int, posted: np.ndarray, calls: np.ndarray) -> np.ndarray:
        """Return the posted requests of a window in the form that the kernel needs."""
        return tell_bytes(posted, calls, rank, self._plan, self._members)

    def _on_windows(self, partners: Partners, window: tuple[int, int], calls: np.ndarray) -> Arrays:
        """Return the columns that the kernel needs for calls on RMA windows; empty if there are no such calls."""
        chosen = self._on_window[calls["call"]]
        if not chosen.any():
            return {}
        found = partners.of(window, calls, np.where(chosen, self._plan[calls["call"], 0], NOTHING))
        object_ = found.pop("object")
        first = 1 + len(self._trace.communicators)
        return found | {"window": np.where(chosen & (object_ >= 0), object_ + first, 0).astype(np.int32)}

    def _operations(
        self, walk: RankWalk, calls: np.ndarray, cpu: np.ndarray | None, on_windows: Arrays, *rows: np.ndarray
    ) -> np.ndarray:
        """Return the operations (OP) of one window. `rows`: requests posted, requests completed, and events."""
        calls = np.ascontiguousarray(calls)
        numbers = None
        if self._numbers:
            self._numbers.to_posted(walk.rank, rows[0])
            numbers = self._numbers.of_calls(walk.rank, calls, self._plan)
        of_calls: Arrays = {"calls": calls, "cpu": cpu, "message": numbers, **on_windows}
        plans = self._plans(walk.by_turns)
        operations = walk.operations(of_calls, rows, plans)
        if self._worlds is not None:
            on_all = np.isin(operations["kind"], _COLLECTIVES) & (operations["comm"] == 0)
            operations["comm"][on_all] = self._worlds[walk.rank]
        return operations

    def _plans(self, by_turns: np.ndarray | None) -> Any:
        """Make the `struct op_plans *`. It is valid as long as the arrays that it points to, including `by_turns`."""
        arrays: Arrays = {
            "call": self._plan, "defined": self._defined, "by_turns": by_turns, "file_comm": self._file_comm,
            "lost": self._lost,
            "left_out": self.left_out[0], "left_out_ns": self.left_out[1],
        }  # fmt: skip
        plans = struct_of("struct op_plans *", arrays)
        plans.first_channel, plans.channels = self._channels
        plans.first_window, plans.start_waits = self._first_window, self._windows.start_waits
        plans.n_procedures = len(self.left_out[0])
        return plans


def _worlds(trace: Trace) -> np.ndarray | None:
    """Return for each rank the number of its application's MPI_COMM_WORLD in operations.

    None: there is one application.
    """
    sizes = trace.origin.applications
    if len(sizes) < 2:
        return None
    ends = np.cumsum(sizes).tolist()
    members = [set(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    known = [set(communicator.members) for communicator in trace.communicators]
    numbers = [known.index(ranks) + 1 if ranks in known else 0 for ranks in members]
    return np.repeat(np.array(numbers, np.int32), sizes)


def message_numbers(trace: Trace) -> MessageNumbers | None:
    """Return the numbers that distinguish messages of threads; None: no rank has several threads."""
    if not (np.asarray(trace.threads) > 1).any():
        return None
    from analyzer.operations.message_numbers import MessageNumbers

    trace.match()
    return MessageNumbers(trace)


def _in_order(first: np.ndarray, second: np.ndarray, column: str) -> np.ndarray:
    """Merge two tables, ordered by a column. At equal values the rows of `first` come first."""
    some = [rows for rows in (first, second) if len(rows)]
    rows = np.concatenate(some) if len(some) > 1 else (*some, first)[0]
    return rows[np.argsort(rows[column], kind="stable")] if len(rows) > 1 else rows
