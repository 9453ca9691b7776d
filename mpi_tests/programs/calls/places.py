"""Notes before each barrier, in the same line, the functions and lines that are running: places-RANK.txt."""

import sys
from functools import partial
from pathlib import Path

from mpi4py import MPI

comm = MPI.COMM_WORLD
noted = []


def note():
    frame, found = sys._getframe(1), []
    while frame:
        found.append(f"{getattr(frame.f_code, 'co_qualname', frame.f_code.co_name)}:{frame.f_lineno}")
        frame = frame.f_back
    noted.append(" ".join(found))


def plain():
    note(), comm.Barrier()


def recursive(n):
    if n:
        return recursive(n - 1)
    note(), comm.Barrier()
    return 0


class Solver:
    def __init__(self):
        note(), comm.Barrier()

    def step(self, k):
        if k % 2:
            note(), comm.Barrier()
        else:
            (lambda: (note(), comm.Barrier()))()

    @property
    def done(self):
        note(), comm.Barrier()
        return True


def steps(n):
    for k in range(n):
        note(), comm.Barrier()
        yield k


solver = Solver()
for _ in range(3):
    plain()
    for depth in (0, 2, 5, 2):
        recursive(depth)
    for k in range(4):
        solver.step(k)
    assert solver.done
    [note() or comm.Barrier() for _ in range(2)]
    max(range(2), key=lambda k: (note(), comm.Barrier()) and k)
    sorted([2, 1], key=lambda k: (note(), comm.Barrier()) and k)
    for _ in steps(2):
        partial(recursive, 1)()
    exec("note(), comm.Barrier()\nfor k in range(2): note(), comm.Barrier()")
Path(f"places-{comm.rank}.txt").write_text("\n".join(noted))
