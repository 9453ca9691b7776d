"""Signals of counters: the counts of each burst, spread over the burst's time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.burst_clusters.bursts import bursts, labelled_counters
from analyzer.c_arrays import pointer
from analyzer.errors import TracelibError
from analyzer.parallel import Team
from analyzer.trace import Counters, Losses, Trace


class StepBins:
    """Sum of step functions over time, in bins of equal width. Each bin stores only the changes in it."""

    def __init__(self, begin_ns: int, end_ns: int, samples: int) -> None:
        self.begin_ns, self.end_ns = begin_ns, end_ns
        self.width_ns = max(-(-(end_ns - begin_ns) // samples), 1)
        self.count = max(-(-(end_ns - begin_ns) // self.width_ns), 1)
        self.change, self.area = np.zeros(self.count), np.zeros(self.count)

    def fill(self, target) -> None:
        """Let a struct signal_bins of the C kernels point to these bins."""
        target.begin, target.end = self.begin_ns, self.end_ns
        target.width, target.count = self.width_ns, self.count
        target.change, target.area = pointer(self.change, "double *"), pointer(self.area, "double *")

    def add(self, begin: np.ndarray, end: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Add intervals.

        Args:
            begin: Begin of each interval, ns.
            end: End of each interval, ns.
            weight: Height of each interval. None: 1.
        """
        struct = ffi.new("struct signal_bins *")
        self.fill(struct)
        first, last = (np.ascontiguousarray(column, np.int64) for column in (begin, end))
        weights = ffi.NULL
        if weight is not None:
            weight = np.ascontiguousarray(weight, np.float64)
            weights = pointer(weight, "double *")
        lib.signal_add(struct, pointer(first, "int64_t *"), pointer(last, "int64_t *"), weights, len(first))

    def packed(self) -> np.ndarray:
        """Return the stored changes as one array. Arrays of several processes can be summed, and given to `means`."""
        return np.stack([self.change, self.area])

    def means(self, packed: np.ndarray) -> np.ndarray:
        """Return the mean of the sum in each bin, shape (bins,). The last bin may be shorter."""
        change, area = packed
        before = np.cumsum(change) - change
        whole = before * self.width_ns + area
        widths = np.full(self.count, self.width_ns, np.float64)
        widths[-1] = self.end_ns - self.begin_ns - (self.count - 1) * self.width_ns or self.width_ns
        whole[-1] -= (before[-1] + change[-1]) * (self.width_ns - widths[-1])
        return whole / widths


INSTRUCTIONS, CYCLES, FLOPS = "instructions", "cycles", "flops"
_KNOWN = {
    INSTRUCTIONS: ("PAPI_TOT_INS", "INSTRUCTIONS", "perf::INSTRUCTIONS"),
    CYCLES: ("PAPI_TOT_CYC", "CYCLES", "perf::CYCLES", "perf::CPU-CYCLES"),
    FLOPS: ("PAPI_FP_OPS", "PAPI_DP_OPS", "PAPI_SP_OPS", "PAPI_FP_INS"),
}

_STEPS = 1 << 16


def in_steps(ratio: np.ndarray) -> np.ndarray:
    """Round ratios to multiples of 2^-16.

    Sums of them are exact, so that results do not depend on how processes share the ranks.
    """
    return np.rint(ratio * _STEPS) / _STEPS


def counter_named(trace: Trace, name: str) -> str:
    """Return the name of the trace's counter that a user means.

    Args:
        trace: The trace.
        name: Name of a counter, or "instructions", "cycles" or "flops" for the first known counter of these.

    Raises:
        TracelibError: The trace does not have the counter.
    """
    known = _recorded(trace) or labelled_counters(trace)
    wanted = {one.lower() for one in _KNOWN.get(name, (name,))}
    found = [one for one in known if one.lower() in wanted]
    if not found:
        there = ", ".join(known) if known else "none were recorded (tracelib run --counters)"
        raise TracelibError(f"{trace.path}: no counter for --signal {name}", f"counters: {there}")
    return found[0]


def _recorded(trace: Trace) -> list[str]:
    return [counter.name for counter in trace.extra(Counters).known]


def counted(
    trace: Trace, team: Team, names: Sequence[str], end: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield begin, end and counts of the bursts of this process's ranks, in blocks.

    Args:
        trace: The trace.
        team: Processes that share the work.
        names: Names of counters.
        end: Only bursts that end before this time, ns. None: all.

    Yields:
        Begin and end, ns, shape (bursts,); and counts, float64 (bursts, names). A count below 0 was not read.
    """
    known = _recorded(trace)
    if not known:  # an imported trace has them as events
        for found in bursts(trace, trace.share(team), tuple(names)):
            yield found.states["begin"], found.states["end"], np.nan_to_num(found.values[:, 1:], nan=-1.0)
        return
    columns = [known.index(name) for name in names]
    missing = set(trace.extra(Losses).missing)
    for rank in trace.share(team):
        left = trace.span(rank)[0]
        for counts in () if rank in missing else trace.extra(Counters).counts(rank, 0, end):
            rows = counts.calls
            out = rows["enter"] + rows["inside"] + rows["tracer"]
            before = np.concatenate([[left], out[:-1]]) if len(rows) else out
            yield before, rows["enter"], counts.burst[:, columns].astype(np.float64)
            left = int(out[-1]) if len(rows) else left


def add_counters(trace: Trace, team: Team, names: Sequence[str], begin: int, end: int, samples: int) -> StepBins:
    """Sum what the bursts of this process's ranks counted, over ranks.

    With two counters, the ratio of the first to the second is summed, such as instructions per cycle. Where nothing was
    counted, the sum is 0.

    Args:
        trace: The trace.
        team: Processes that share the work.
        names: Names of one or two counters.
        begin: Begin of the bins, ns.
        end: End of the bins, ns.
        samples: Number of bins.
    """
    bins = StepBins(begin, end, samples)
    for first, last, values in counted(trace, team, names, end):
        weight = values[:, 0]
        if len(names) > 1:
            weight = in_steps(np.where(values[:, 1] > 0, weight / np.maximum(values[:, 1], 1), 0))
        known = (values >= 0).all(axis=1)
        bins.add(first[known], last[known], weight[known])
    return bins
