"""A program with another distribution of its work: bursts, and messages if wanted, grow with the share of their rank.

Source: search-and-balance specification, section 2 (formula 8: the time of a machine is its fraction of the work times
the time that all of the work takes there).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analyzer.errors import TracelibError
from analyzer.operations.program import program_of
from analyzer.operations.region_events import are_of_regions
from analyzer.program.model import Program, pieces, rewritten
from analyzer.program.operation import OperationKind
from analyzer.trace import Regions, Trace
from analyzer.what_if.blocks import blocks_of_regions

KNOWN = 0.1
"""Largest relative uncertainty of a rank's CPU time in a region."""


def check_region_time(trace: Trace, program: Program, inside: np.ndarray, region: str) -> None:
    """Raise TracelibError if the CPU time of a rank in a region is not known to 10 % (KNOWN).

    Args:
        trace: The run.
        program: Operations with bursts of CPU time.
        inside: Mask of the program's blocks that are in the region.
        region: Name of the region.
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
    """Return the least and the most CPU time of each rank in a region, ns, float64 of shape (ranks,).

    Between two calls, it is at most the wall time in the region. It is at least the CPU time less the wall time
    outside.

    Args:
        program: Operations with bursts of CPU time.
        by_clock: The same operations with bursts of wall time.
        inside: Mask of the program's blocks that are in the region.
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


SENDS = (OperationKind.SEND, OperationKind.PORT_SEND, OperationKind.PUT)


def shared_part(trace: Trace, program: Program, region: str | None) -> tuple[Program, np.ndarray]:
    """Mark the computation of the shared work: block r + 1 is the computation of rank r.

    Args:
        trace: The run.
        program: Operations of the run.
        region: Region whose computation is shared, with the regions inside. None: all computation is shared.

    Returns:
        The marked program, and the shared computation of each rank, ns.

    Raises:
        TracelibError: There is no such region or no computation in it, or its CPU time is not known.
    """
    inside = None
    if region is not None:
        if region not in trace.extra(Regions).names:
            known = ", ".join(trace.extra(Regions).names[:8])
            raise TracelibError(f"{trace.path} has no region {region!r}", f"it has {known}" if known else "it has none")
        blocks = blocks_of_regions(trace, program)
        program, inside = blocks.program, blocks.member[blocks.part(region)]
        if program.cpu_time:
            check_region_time(trace, program, inside, region)

    def mark(stream: int, ops: np.ndarray) -> None:
        is_shared = np.ones(len(ops), bool) if inside is None else inside[ops["block"]]
        ops["block"] = np.where(is_shared, program.rank[stream] + 1, 0)

    marked = replace(rewritten(program, mark), factors=np.ones(program.ranks + 1))
    computing = np.zeros(program.ranks + 1, np.int64)
    for ops in pieces(marked):
        np.add.at(computing, ops["block"], ops["burst"])
    if not computing[1:].any():
        raise TracelibError("nothing is computed" + (f" in {region}" if region else ""), "there is nothing to share")
    return marked, computing[1:]


def redistributed(marked: Program, grows: np.ndarray, *, messages: bool = False) -> Program:
    """Return a program in which rank r has grows[r] times its work.

    Args:
        marked: Program from `shared_part`.
        grows: New work / old work of each rank.
        messages: Whether the messages that a rank sends to one other rank, and its puts, grow, too. Collectives do
            not.
    """
    scaled = replace(marked, factors=np.concatenate([[1.0], grows]))
    if not messages:
        return scaled

    def resize(stream: int, ops: np.ndarray) -> None:
        sent = np.isin(ops["kind"], SENDS)
        ops["bytes"][sent] = np.rint(ops["bytes"][sent] * grows[marked.rank[stream]]).astype(np.int64)

    return rewritten(scaled, resize)
