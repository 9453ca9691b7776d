"""Calls at the level of modules, in functions and in modules that modules import; backwards in a loop, too."""

import sys
import types

from mpi4py import MPI

COMM = MPI.COMM_WORLD


def compute(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total


def step(n):
    COMM.Barrier()
    compute(n)
    return COMM.allreduce(1)


if __name__ == "__main__":
    sys.modules["modules"] = types.ModuleType("modules")
    sys.modules["modules"].__dict__.update(COMM=COMM, compute=compute, step=step)
    import outer_module

    for _ in range(3):
        compute(40000)
        COMM.Barrier()
        compute(40000)
        step(40000)
    compute((COMM.rank + 1) * 400000)
    outer_module.meet(40000)
    COMM.Barrier()
