"""Computes and calls while it is imported, in another module, too (modules.py)."""

from modules import COMM, compute

compute(100000)
COMM.Barrier()

import inner_module  # noqa: E402

for _ in range(2):
    compute(60000)
    COMM.Barrier()


def meet(n):
    for _ in range(2):
        COMM.Barrier()
        compute(n)
    inner_module.meet(n)
