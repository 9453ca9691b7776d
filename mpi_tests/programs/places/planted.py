"""A planted hot loop and imbalance in Python: rank 1 does three times what rank 0 does in `smooth`.

Each rank writes the CPU time of smooth and of solve to hot-RANK-0. The argument: seconds of a round of rank 0.
"""

import sys
from pathlib import Path
from time import thread_time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
ROUNDS = 5


def work(seconds):
    """Spend CPU time; returns it."""
    begin, total = thread_time(), 0.0
    while thread_time() - begin < seconds:
        for i in range(500):
            total += i * 0.5
    return thread_time() - begin


def smooth(seconds):
    return work(seconds * (1 + 2 * rank))


def solve(seconds):
    return work(seconds)


spent = [0.0, 0.0]
for _ in range(ROUNDS):
    spent[0] += smooth(float(sys.argv[1]))
    spent[1] += solve(float(sys.argv[1]))
    world.Barrier()
Path(f"hot-{rank}-0").write_text(" ".join(map(str, spent)))
