"""h5py with MPI: 20 steps written together and one at a time, read again by columns."""

import h5py
import numpy
from mpi4py import MPI

STEPS, COLUMNS = 20, 64

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
with h5py.File("steps.h5", "w", driver="mpio", comm=world) as file:
    together = file.create_dataset("together", (STEPS, size, COLUMNS), dtype="f8")
    apart = file.create_dataset("apart", (STEPS, size), dtype="i8")
    file.attrs["ranks"] = size
    for step in range(STEPS):
        with together.collective:
            together[step, rank] = numpy.arange(COLUMNS) + 100 * step + rank
        apart[step, rank] = step * size + rank
with h5py.File("steps.h5", "r", driver="mpio", comm=world) as file:
    mine = slice(rank * COLUMNS // size, (rank + 1) * COLUMNS // size)
    with file["together"].collective:
        columns = file["together"][:, :, mine]
    total = world.allreduce(float(columns.sum()))
    if rank == 0:
        print("result: ranks", file.attrs["ranks"])
        print("result: together", total)
        print("result: apart", int(file["apart"][:].sum()))
