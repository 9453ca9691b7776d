"""The simulator's program of a trace: the operations of all its ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analyzer.operations.bursts import is_measured
from analyzer.operations.operation import Program
from analyzer.operations.spill import OperationSpill
from analyzer.operations.virtual import VirtualThreads
from analyzer.operations.walk import RankOperations
from analyzer.trace import Trace


def program_of(trace: Trace, *, cpu_time: bool = True, virtual: bool = True) -> Program:
    """All operations of a trace, rank after rank; those of a long run lie in a temporary file that has no name.

    Communicator 0 is the world, k + 1 that of index k in the trace. An intercommunicator has no members here: nothing
    names it. The threads of a rank are one sequence, in order of time. Bursts are as long as their CPU time
    says, where it was measured and `cpu_time` is wanted. Those in regions that stand for several threads are shared by
    so many `virtual` ones. A Dimemas trace is its program.
    """
    if trace.program is not None:
        return trace.program
    walk = RankOperations(trace, cpu_time=cpu_time)
    spill = OperationSpill()
    lengths, slots = [], []
    for rank in range(trace.size):
        threads = VirtualThreads(trace, rank) if virtual else None
        blocks = (threads.share_out(block) if threads else block for block in walk.of(rank))
        lengths.append(sum(spill.append(block) for block in blocks))
        slots.append(walk.slots)
    groups = [c.members if not c.remote else () for c in trace.communicators]
    return Program(
        ops=spill.array(),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        rank=np.arange(trace.size, dtype=np.int32),
        thread=np.zeros(trace.size, np.int32),
        slots=np.array(slots, np.int32),
        communicators=(tuple(range(trace.size)), *groups),
        ranks=trace.size,
        name=Path(trace.path).name,
        virtual_threads=spill.virtual_threads,
        cpu_time=cpu_time and any(is_measured(trace, rank) for rank in range(trace.size)),
    )
