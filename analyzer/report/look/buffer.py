"""The buffer that a run would have needed."""

from __future__ import annotations

from analyzer.report.look.summary import Summary
from analyzer.trace import TracerTime


def sufficient_buffer_bytes(summary: Summary) -> int:
    """The buffer that would have held all records of the busiest thread: whole MiB, a power of two; 0: unknown.

    A thread that flushed n times before the end filled n buffers and part of another.
    """
    needed = summary.trace.extra(TracerTime).buffer_bytes * (int(summary.flushes.during.max(initial=0)) + 1)
    return 1 << max(20, (needed - 1).bit_length()) if needed else 0
