"""The solver of heat.c in Python: rows that a plan shares out, and that a monitor can share anew.

mpirun -n 4 python heat.py SIZE STEPS [monitor | plan] [FACTOR]
"""

import sys
import time

import numpy as np
from mpi4py import MPI

import tracelib
from tracelib import balance

RATIO = 0.2  # dt / h^2; stable below 0.25
WORLD = MPI.COMM_WORLD


def mode(size: int, rows: np.ndarray) -> np.ndarray:
    """The exact solution's shape in these rows (from 0)."""
    h = np.pi / (size + 1)
    return np.outer(np.sin(h * (rows + 1)), np.sin(h * np.arange(1, size + 1)))


def framed(rows: np.ndarray) -> np.ndarray:
    return np.pad(rows, 1)


def neighbours(counts: tuple[int, ...], rank: int) -> tuple[int, int]:
    """The ranks with the rows before and after; a rank without rows has none."""
    if not counts[rank]:
        return MPI.PROC_NULL, MPI.PROC_NULL
    before = [other for other in range(rank) if counts[other]]
    after = [other for other in range(rank + 1, len(counts)) if counts[other]]
    return before[-1] if before else MPI.PROC_NULL, after[0] if after else MPI.PROC_NULL


def exchange(field: np.ndarray, up: int, down: int) -> None:
    WORLD.Sendrecv(field[1], up, 0, field[-1], down, 0)
    WORLD.Sendrecv(field[-2], down, 1, field[0], up, 1)


def compute(field: np.ndarray, following: np.ndarray) -> None:
    """One step, into an array that is there: new ones in each step would cost as much as the arithmetic."""
    inner = following[1:-1, 1:-1]
    np.add(field[:-2, 1:-1], field[2:, 1:-1], out=inner)
    inner += field[1:-1, :-2]
    inner += field[1:-1, 2:]
    inner *= RATIO / (1 - 4 * RATIO)
    inner += field[1:-1, 1:-1]
    inner *= 1 - 4 * RATIO


def move(field: np.ndarray, before: tuple[int, ...], after: tuple[int, ...]) -> np.ndarray:
    """Rows go to who has them from now on."""
    width = field.shape[1]
    sent, received = balance.moves(before, after, WORLD.rank)
    moved = np.zeros((after[WORLD.rank] + 2, width))
    row = MPI.DOUBLE.Create_contiguous(width).Commit()
    WORLD.Alltoallv([np.ascontiguousarray(field[1:-1]), sent, row], [moved[1:-1], received, row])
    row.Free()
    return moved


def main() -> int:
    size, steps = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (256, 100)
    watch = sys.argv[3:4] == ["monitor"]
    factor = int(sys.argv[4]) if len(sys.argv) > 4 and WORLD.rank == 0 else 1
    monitor = balance.Monitor(size, WORLD, seconds=0.5, threshold=0.1)
    share, cpu = monitor.share, 0.0
    field = framed(mode(size, np.array(share.items)))
    following = np.zeros_like(field)
    for _ in range(steps):
        exchange(field, *neighbours(share.counts, WORLD.rank))
        begun = time.process_time()
        with monitor.computing(), tracelib.region("compute"):
            for _ in range(factor):
                compute(field, following)
        cpu += time.process_time() - begun
        field, following = following, field
        if watch and monitor.step():
            field, share = move(field, monitor.before.counts, monitor.share.counts), monitor.share
            following = np.zeros_like(field)
    decay = (1 - 8 * RATIO * np.sin(np.pi / (size + 1) / 2) ** 2) ** steps
    exact = decay * mode(size, np.array(share.items, int))
    error = WORLD.allreduce(float(np.abs(field[1:-1, 1:-1] - exact).max(initial=0)), MPI.MAX)
    slowest, report = WORLD.allreduce(cpu, MPI.MAX), monitor.report()
    if WORLD.rank == 0:
        print(f"heat: error {error:.3g}; the slowest rank computed {slowest:.4f} s of CPU time; ", end="")
        print(f"rows of rank 0: {share.count}")
        if watch:
            print(report)
    return 0 if error < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
