"""Measures the network under an MPI by the PRTT method: `mpirun -n 2 python -m tracelib.ngmpi` (docs/ngmpi.md)."""
