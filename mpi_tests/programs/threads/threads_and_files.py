"""Threads that call MPI and h5py at once, each in its own communicator and file; prints what they read back."""

import sys
from threading import Thread

import h5py
import numpy as np
from mpi4py import MPI

ROUNDS, THREADS = 200, 3
rank = MPI.COMM_WORLD.rank
copies = [MPI.COMM_SELF.Dup() for _ in range(THREADS)]  # threads of two ranks that wait for each other take long
sums = [0.0] * THREADS


def work(thread: int) -> None:
    name, mine, total = f"{sys.argv[1]}-{rank}-{thread}.h5", np.zeros(1), np.zeros(1)
    with h5py.File(name, "w") as file:
        table = file.create_dataset("sums", (0,), "f8", maxshape=(None,), chunks=(16,))
        for i in range(ROUNDS):
            mine[0] = i * (rank + 1)
            copies[thread].Allreduce(mine, total)
            table.resize(i + 1, axis=0)
            table[i] = total[0]
    with h5py.File(name) as file:
        sums[thread] = float(np.sum(file["sums"][:]))


threads = [Thread(target=work, args=(k,)) for k in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
# In one write: mpirun may put what another rank prints between two.
print(f"{rank} {MPI.Query_thread() == MPI.THREAD_MULTIPLE} {sums}\n", end="", flush=True)
