"""Calls of mpi4py that hand arrays of counts to MPI: large ones (MPI_X_c) wherever that symbol is defined."""

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
ones, places = [1] * size, list(range(size))
out = np.arange(size, dtype="i4") + 10 * rank
expected = 10 * np.arange(size) + rank

into = np.zeros(size, dtype="i4")
world.Alltoallv([out, (ones, places), MPI.INT], [into, (ones, places), MPI.INT])
assert (into == expected).all()
into[:] = 0
world.Ialltoallv([out, (ones, places), MPI.INT], [into, (ones, places), MPI.INT]).Wait()
assert (into == expected).all()
world.Allgatherv([out[:1], MPI.INT], [into, ones, MPI.INT])
assert (into == 10 * np.arange(size)).all()
into[:] = 0
world.Gatherv([out[:1], MPI.INT], [into, ones, MPI.INT] if rank == 0 else None, 0)
assert rank or (into == 10 * np.arange(size)).all()
world.Reduce_scatter([out, MPI.INT], [into[:1], MPI.INT], ones)
assert into[0] == 10 * sum(range(size)) + size * rank

ring = world.Create_cart([size], [True])
pair = np.zeros(2, dtype="i4")
ring.Neighbor_alltoallv([out[:2], [1, 1], [0, 1], MPI.INT], [pair, [1, 1], [0, 1], MPI.INT])
before, after = ring.Shift(0, 1)
assert pair.tolist() == [10 * before + 1, 10 * after]

assert MPI.INT.Create_indexed([1, 2], [0, 3]).Get_size() == 12
assert MPI.INT.Create_subarray([4, 4], [2, 2], [1, 1]).Get_size() == 16
