"""Rank 1 calls MPI_Abort(6)."""

from mpi4py import MPI

MPI.COMM_WORLD.Barrier()
if MPI.COMM_WORLD.rank == 1:
    MPI.COMM_WORLD.Abort(6)
MPI.COMM_WORLD.Barrier()
