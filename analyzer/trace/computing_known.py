"""Whether a trace says what is computing: a Paraver trace of events only does not."""

from __future__ import annotations

from pathlib import Path

from analyzer.errors import TracelibError
from analyzer.trace.trace import Trace

NOT_KNOWN = "it is not known what is computing"


def unknown_computing(trace: Trace) -> list[str]:
    """Say, in one line, that it is not known what is computing; none where it is known."""
    if trace.origin.has_states:
        return []
    return [f"{Path(trace.path).name}: {NOT_KNOWN}: the trace has events only, no states"]


def check_computing(trace: Trace) -> None:
    """Raise TracelibError where no state says what is computing: every figure of computation would be a guess."""
    if not trace.origin.has_states:
        raise TracelibError(
            f"{trace.path}: {NOT_KNOWN}: the trace has events only, no states",
            "analyze info, waits, views and export show what it has",
        )
