"""Does the same as paused.f90."""

from pathlib import Path

from mpi4py import MPI

import tracelib

world = MPI.COMM_WORLD
rank = world.rank
made = []
for i in range(1, 101):
    if i % 20 == 5 + rank:
        tracelib.pause()
    if i % 20 == 11 + 3 * rank:
        tracelib.resume()
    if not 5 + rank <= i % 20 < 11 + 3 * rank:
        made.append(i)
    target, source = (rank + 1) % world.size, (rank - 1) % world.size
    world.Sendrecv(bytearray(i), target, recvbuf=bytearray(100), source=source)
    given, taken = bytearray(i), bytearray(i)
    world.Allreduce(given, taken, MPI.MAX)
    world.Iallreduce(given, taken, MPI.MAX).Wait()
Path(f"made-{rank}.txt").write_text(" ".join(map(str, made)))
