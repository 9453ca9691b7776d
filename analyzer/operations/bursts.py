"""Lengths of bursts: their CPU time, if it was measured."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analyzer.errors import TracelibError
from analyzer.recording.thread_records.burst_mode import SUMMED_PROCEDURE
from analyzer.trace import UNKNOWN, Counters, Trace, TracerTime
from tracelib.schema.procedures import ASKING_MPI, CLOCKS, POLLS, base_name

LATER = -2
"""A run of failing polls, or of repeated calls: the burst before it is part of that before the next call
(`op_walk_calls`)."""

CPU_TIME = "CPU_NS"

_COME_BACK = POLLS | CLOCKS | ASKING_MPI | {SUMMED_PROCEDURE}


def is_measured(trace: Trace, rank: int) -> bool:
    """Return True if the CPU time of the rank's bursts was measured."""
    return trace.threads[rank] == 1 and any(counter.name == CPU_TIME for counter in trace.extra(Counters).known)


def reads_cpu_time(trace: Trace) -> bool:
    """Return True if any thread's CPU time was read at calls."""
    return any(counter.name == CPU_TIME for counter in trace.extra(Counters).known)


def is_any_measured(trace: Trace) -> bool:
    """Return True if the CPU time of any rank's bursts was measured."""
    names = {counter.name for counter in trace.extra(Counters).known}
    return CPU_TIME in names and any(is_measured(trace, rank) for rank in range(trace.size))


def check_cpu_time(trace: Trace) -> None:
    """Raise TracelibError if a rank's CPU time was not recorded. Call it where speeds by CPU time are wanted.

    A trace without times of calls (.dim) has bursts only, which are CPU time by their definition.
    """
    unknown = [rank for rank in range(trace.size) if not is_measured(trace, rank)] if trace.has_call_times else []
    if unknown:
        every = "of any rank" if len(unknown) == trace.size else f"of rank {unknown[0]}"
        raise TracelibError(
            f"{trace.path}: the CPU time {every} was not recorded between its calls",
            "record with TRACELIB_CPUTIME=on, or leave out --cpu-time: times are then by the clock",
        )


@lru_cache(maxsize=4)
def _are_polls(procedures: tuple[str, ...]) -> np.ndarray:
    """Return a mask of the procedures that poll: they test and return at once. It is the same for all ranks."""
    return np.array([base_name(name) in _COME_BACK for name in procedures], bool)


class CpuBursts:
    """CPU time of one rank between its calls.

    Dimemas replays the work of a processor, so a burst is what the thread computed, not how long it waited for a core
    that others used ("Dimemas", the tracing model). Of a rank with several threads no one sequence of CPU times exists.
    """

    def __init__(self, trace: Trace, rank: int, *, wanted: bool = True) -> None:
        names = [counter.name for counter in trace.extra(Counters).known]
        self._column = names.index(CPU_TIME) if wanted and is_measured(trace, rank) else None
        self._trace, self._rank = trace, rank
        self._polls = _are_polls(trace.procedures)
        self.overhead_ns = trace.extra(TracerTime).after_call_cpu_ns(rank)

    def window(self, window: tuple[int, int], calls: np.ndarray) -> np.ndarray | None:
        """Return the ns of CPU time before each call of a window (int64; UNKNOWN, LATER), None if none was measured."""
        if self._column is None:
            return None
        blocks = [counts.burst[:, self._column] for counts in self._trace.extra(Counters).counts(self._rank, *window)]
        found = np.concatenate([np.zeros(0, np.int64), *blocks])
        if len(found) != len(calls):
            raise RuntimeError(f"rank {self._rank}: {len(calls)} calls, {len(found)} readings of the CPU time")
        found[(found == UNKNOWN) & self._polls[calls["call"]]] = LATER
        return found
