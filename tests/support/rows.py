"""Everything that a trace yields, to compare two readings of one run."""

import numpy as np

from analyzer.trace import TracerTime


def all_rows(trace) -> dict[str, np.ndarray]:
    """All rows of all ranks by kind, times included; calls and requests thread by thread."""
    found = {"states": trace.states(), "events": trace.events(), "messages": trace.messages()}
    for rank in range(trace.size):
        for kind in ("calls", "requests"):
            blocks = list(getattr(trace, kind)(rank))
            rows = np.concatenate(blocks) if blocks else np.zeros(0, [("thread", "<i4")])
            found[f"{kind} of {rank}"] = rows[np.argsort(rows["thread"], kind="stable")]
        found[f"flushes of {rank}"] = trace.extra(TracerTime).flushes(rank)
        found[f"span of {rank}"] = np.array(trace.span(rank))
    return found


def assert_same_rows(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    """Row by row, column by column."""
    assert first.keys() == second.keys()
    for kind, rows in first.items():
        assert len(rows) == len(second[kind]), kind
        assert (rows == second[kind]).all(), kind
