/* How far the clocks of other nodes are from that of rank 0's node: measured in MPI_Init and MPI_Finalize. */
#ifndef SYNC_H
#define SYNC_H

#include "store.h"

/* Collective over MPI_COMM_WORLD. The first rank of each node that does not share rank 0's clock exchanges short
 * messages with rank 0, on a communicator of our own, and appends the tightest reading to `sync`. Where all ranks
 * share one clock nothing is sent, but for one small collective the first time. 0 or errno of the file. */
int sync_measure(struct store *store, int rank, int size);

#endif
