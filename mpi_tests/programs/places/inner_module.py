"""The innermost module (modules.py): its own computing is at the level of the module."""

from modules import COMM, step

total = 0.0
for i in range(1500000):
    total += i * 0.5
COMM.Barrier()
meet = lambda n: [step(n) for _ in range(2)]  # noqa: E731
