"""A program under another distribution of its work: the bursts of each rank, and its messages, grow with its share.

Source: search-and-balance specification, section 2 (formula 8: the time of a machine is its fraction of the work times
what all of it takes there).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analyzer.balance.region_time import check_region_time
from analyzer.errors import TracelibError
from analyzer.program.operation import Kind
from analyzer.program.program import Program
from analyzer.program.streams import pieces, rewritten
from analyzer.trace import Regions, Trace
from analyzer.what_if.blocks import blocks_of_regions

SENDS = (Kind.SEND, Kind.PORT_SEND, Kind.PUT)


def shared_part(trace: Trace, program: Program, region: str | None) -> tuple[Program, np.ndarray]:
    """The program with block r + 1 for what rank r computes of the shared work, and that computation (ns, by rank).

    The shared work is all computation, or that in a region with the regions inside. Raises TracelibError where there
    is no such region, or none of it, or where its CPU time is not known (`region_time`).
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
    """A program of `shared_part` in which rank r has grows[r] times its work.

    messages: what a rank sends to one other rank, and puts, has grows[r] times its bytes, too. Collectives keep theirs.
    """
    scaled = replace(marked, factors=np.concatenate([[1.0], grows]))
    if not messages:
        return scaled

    def resize(stream: int, ops: np.ndarray) -> None:
        sent = np.isin(ops["kind"], SENDS)
        ops["bytes"][sent] = np.rint(ops["bytes"][sent] * grows[marked.rank[stream]]).astype(np.int64)

    return rewritten(scaled, resize)
