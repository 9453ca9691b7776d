"""Lengths of bursts as CPU time, if CPU time was measured."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from analyzer.errors import TracelibError
from analyzer.recording.thread_records.burst_mode import SUMMED_PROCEDURE
from analyzer.trace import UNKNOWN, Counters, Trace, TracerTime
from tracelib.schema.procedures import ASKING_MPI, CLOCKS, POLLS, base_name

LATER = -2
"""Mark of a failed poll or a repeated call: the burst before it belongs to the burst before the next call.

The kernel's `op_walk_calls` adds the two.
"""

CPU_TIME = "CPU_NS"

_COME_BACK = POLLS | CLOCKS | ASKING_MPI | {SUMMED_PROCEDURE}


def is_measured(trace: Trace, rank: int) -> bool:
    """Return True if the CPU time of the rank's bursts is known.

    It is if the rank has one thread and the run counted CPU_NS.
    """
    return trace.threads[rank] == 1 and any(counter.name == CPU_TIME for counter in trace.extra(Counters).known)


def reads_cpu_time(trace: Trace) -> bool:
    """Return True if the run counted CPU time (CPU_NS) at calls."""
    return any(counter.name == CPU_TIME for counter in trace.extra(Counters).known)


def is_any_measured(trace: Trace) -> bool:
    """Return True if the CPU time of any rank's bursts is known (`is_measured`)."""
    names = {counter.name for counter in trace.extra(Counters).known}
    return CPU_TIME in names and any(is_measured(trace, rank) for rank in range(trace.size))


def check_cpu_time(trace: Trace) -> None:
    """Raise TracelibError if a rank's CPU time is not known. Call it where speeds by CPU time are wanted.

    A trace without times of calls (.dim) has only bursts, which are CPU time by definition.
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
    """Return a bool mask of the procedures that test and return at once.

    It is cached, since all ranks have the same.
    """
    return np.array([base_name(name) in _COME_BACK for name in procedures], bool)


class CpuBursts:
    """CPU time of one rank between its calls.

    Dimemas replays the work of a processor. So a burst is the time that the thread computed, without waits for a CPU
    that others used ("Dimemas", the tracing model). A rank with several threads has no single sequence of CPU times.
    """

    def __init__(self, trace: Trace, rank: int, *, wanted: bool = True) -> None:
        names = [counter.name for counter in trace.extra(Counters).known]
        self._column = names.index(CPU_TIME) if wanted and is_measured(trace, rank) else None
        self._trace, self._rank = trace, rank
        self._polls = _are_polls(trace.procedures)
        self.overhead_ns = trace.extra(TracerTime).after_call_cpu_ns(rank)

    def window(self, window: tuple[int, int], calls: np.ndarray) -> np.ndarray | None:
        """Return the CPU time before each call of a window.

        Args:
            window: Begin and end, ns.
            calls: The calls (CALL) of the window.

        Returns:
            int64 ns of shape (calls,), or UNKNOWN or LATER. None: CPU time was not measured.
        """
        if self._column is None:
            return None
        blocks = [counts.burst[:, self._column] for counts in self._trace.extra(Counters).counts(self._rank, *window)]
        found = np.concatenate([np.zeros(0, np.int64), *blocks])
        if len(found) != len(calls):
            raise RuntimeError(f"rank {self._rank}: {len(calls)} calls, {len(found)} readings of the CPU time")
        found[(found == UNKNOWN) & self._polls[calls["call"]]] = LATER
        return found
