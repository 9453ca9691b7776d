"""Every broadcast along a tree, once each, on a communicator of its own. Prints whether all arrived.

Arguments: bytes, and bytes of a segment.
"""

import sys

from mpi4py import MPI

from tracelib import _ngmpi
from tracelib.collectives.design import CollectiveSetting
from tracelib.collectives.timing import PreparedCollective
from tracelib.collectives.trees import ALGORITHMS

assert _ngmpi.lib.mpi_open_more()
size, segment = (int(word) for word in sys.argv[1:])
for algorithm in ALGORITHMS:
    comm = MPI.COMM_WORLD.Dup()
    right = PreparedCollective(_ngmpi, comm, CollectiveSetting(algorithm, comm.Get_size(), size, segment)).arrives()
    if comm.Get_rank() == 0:
        print(algorithm, right)
