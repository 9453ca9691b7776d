"""The bodies of nbody.c in Python: a master sends all positions, and each rank returns the accelerations of its share.

mpirun -n 4 python nbody.py BODIES STEPS [monitor | plan] [FACTOR]
"""

import sys
import time

import numpy as np
from mpi4py import MPI

import tracelib
from tracelib import balance

STEP, SOFT = 1e-3, 1e-2
WORLD = MPI.COMM_WORLD


def start(bodies: int) -> np.ndarray:
    """A spiral of bodies at rest: the same for all ranks and languages."""
    part, turn = (np.arange(bodies) + 0.5) / bodies, 2.399963229728653 * np.arange(bodies)
    return np.column_stack([part * np.cos(turn), part * np.sin(turn), 2 * part - 1])


def attract(at: np.ndarray, items: range) -> np.ndarray:
    """Accelerations of these bodies, of equal masses that add up to 1."""
    found = np.zeros((len(items), 3))
    for row, body in zip(found, items, strict=True):
        away = at - at[body]
        squared = (away**2).sum(axis=1) + SOFT
        row[:] = (away / (squared * np.sqrt(squared) * len(at))[:, None]).sum(axis=0)
    return found


def main() -> int:
    bodies, steps = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (500, 20)
    watch = sys.argv[3:4] == ["monitor"]
    factor = int(sys.argv[4]) if len(sys.argv) > 4 and WORLD.rank == 0 else 1
    monitor = balance.Monitor(bodies, WORLD, seconds=0.5, threshold=0.1)
    at, speed, pull, cpu = start(bodies), np.zeros((bodies, 3)), np.zeros((bodies, 3)), 0.0
    for _ in range(steps):
        WORLD.Bcast(at, 0)
        begun = time.process_time()
        with monitor.computing(), tracelib.region("compute"):
            for _ in range(factor):
                own = attract(at, monitor.share.items)
        cpu += time.process_time() - begun
        WORLD.Gatherv(own, [pull, [3 * count for count in monitor.share.counts]], 0)
        if WORLD.rank == 0:
            speed += STEP * pull
            at += STEP * speed
        if watch:
            monitor.step()
    slowest, report = WORLD.allreduce(cpu, MPI.MAX), monitor.report()
    if WORLD.rank == 0:
        energy = float((speed**2).sum() / (2 * bodies))
        print(f"nbody: energy {energy:.9e}; the slowest rank computed {slowest:.4f} s of CPU time; ", end="")
        print(f"bodies of rank 0: {monitor.share.count}")
        if watch:
            print(report)
    return 0 if np.abs(speed.mean(axis=0)).sum() < 1e-12 else 1


if __name__ == "__main__":
    sys.exit(main())
