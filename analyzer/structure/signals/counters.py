"""Signals of counters: what each burst counted, while it lasts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.structure.signals.bins import Bins
from analyzer.trace import Counters, Trace

INSTRUCTIONS, CYCLES, FLOPS = "instructions", "cycles", "flops"
_KNOWN = {
    INSTRUCTIONS: ("PAPI_TOT_INS", "INSTRUCTIONS", "perf::INSTRUCTIONS"),
    CYCLES: ("PAPI_TOT_CYC", "CYCLES", "perf::CYCLES", "perf::CPU-CYCLES"),
    FLOPS: ("PAPI_FP_OPS", "PAPI_DP_OPS", "PAPI_SP_OPS", "PAPI_FP_INS"),
}


def counter_named(trace: Trace, name: str) -> int:
    """The column of a counter. Raises TracelibError where the trace does not have it."""
    known = [counter.name for counter in trace.extra(Counters).known]
    wanted = {one.lower() for one in _KNOWN.get(name, (name,))}
    found = [column for column, one in enumerate(known) if one.lower() in wanted]
    if not found:
        there = ", ".join(known) if known else "none were recorded (tracelib run --counters)"
        raise TracelibError(f"{trace.path}: no counter for --signal {name}", f"counters: {there}")
    return found[0]


def add_counters(trace: Trace, team: Team, columns: Sequence[int], begin: int, end: int, samples: int) -> Bins:
    """What the bursts of this process' ranks counted (one column), or the mean over all ranks of what they counted per
    what they counted of the second column: instructions per cycle. 0 where nothing was counted."""
    bins = Bins(begin, end, samples)
    for rank in trace.share(team):
        left = trace.span(rank)[0]
        for counts in trace.extra(Counters).counts(rank, 0, end):
            rows = counts.calls
            out = rows["enter"] + rows["inside"] + rows["tracer"]
            before = np.concatenate([[left], out[:-1]]) if len(rows) else out
            values = counts.burst[:, list(columns)].astype(np.float64)
            weight = values[:, 0]
            if len(columns) > 1:
                weight = np.where(values[:, 1] > 0, weight / np.maximum(values[:, 1], 1) / trace.size, 0)
            known = (values >= 0).all(axis=1)
            bins.add(before[known], rows["enter"][known], weight[known])
            left = int(out[-1]) if len(rows) else left
    return bins
