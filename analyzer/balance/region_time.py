"""How closely the CPU time of a region is known: it is measured from call to call, and regions begin and end between.

Where a rank waits for its CPU between two calls, nothing says whether that was in the region or outside of it.
"""

from __future__ import annotations

import numpy as np

from analyzer.errors import TracelibError
from analyzer.operations.program import program_of
from analyzer.operations.region_events import are_of_regions
from analyzer.program.program import Program
from analyzer.trace import Trace

KNOWN = 0.1
"""The least and the most that a rank can have computed in a region differ by this part of the most, or less."""


def check_region_time(trace: Trace, program: Program, inside: np.ndarray, region: str) -> None:
    """Raise TracelibError where the CPU time of a rank in a region is not known closely enough.

    program: with bursts of CPU time; inside: which of its blocks are in the region, bool.
    """
    low, high = bounds(program, program_of(trace, cpu_time=False), inside)
    unknown = np.divide(high - low, high, out=np.zeros(len(high)), where=high > 0)
    rank = int(np.argmax(unknown))
    if unknown[rank] > KNOWN:
        raise TracelibError(
            f"rank {rank} waited for its CPU, and computed for {low[rank] / 1e9:.3g} to "
            f"{high[rank] / 1e9:.3g} s in {region}: CPU time is measured from call to call, and regions lie between",
            "share all computation (no region), or record with a CPU for each rank",
        )


def bounds(program: Program, by_clock: Program, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most CPU time of each rank in a region, ns.

    Between two calls it is no more than the clock says passed in the region, and what cannot have passed outside of it.
    """
    low, high = np.zeros(program.ranks), np.zeros(program.ranks)
    for stream, rank in enumerate(program.rank):
        ops, times = np.array(program.ops[program.stream(stream)]), by_clock.ops[by_clock.stream(stream)]["burst"]
        if not len(ops):
            continue
        is_call = ~are_of_regions(ops)
        first = np.flatnonzero(np.concatenate([[True], is_call[:-1]]))  # what comes after a call
        cpu = np.add.reduceat(ops["burst"], first)
        there = np.add.reduceat(np.where(inside[ops["block"]], times, 0), first)
        elsewhere = np.add.reduceat(times, first) - there
        most = np.minimum(there, cpu)
        high[rank] += most.sum()
        low[rank] += np.clip(cpu - elsewhere, 0, most).sum()
    return low, high
