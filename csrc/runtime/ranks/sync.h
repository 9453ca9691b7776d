/* How far the clocks of other nodes are from that of rank 0's node: measured in MPI_Init, MPI_Finalize and, on request,
 * at collectives between them. */
#ifndef SYNC_H
#define SYNC_H

#include "record/store.h"
#include "record/thread.h"

/* Collective over `all_ranks` (pmpi.h). The first rank of each node that does not share rank 0's clock exchanges short
 * messages with rank 0, on a communicator of our own, and appends the tightest reading to `sync`. Where all ranks
 * share one clock nothing is sent, but for one small collective the first time. Returns 0 or errno of the file.
 * Context: between store_begin and store_end, in the thread that makes the call of MPI. */
int sync_measure(struct store *store, int rank, int size);

/* Free what is ours in MPI after the measurement: the next one is again the first.
 * Context: collective. */
void sync_forget(void);

/* True if collectives are counted: TRACELIB_SYNC asks for measurements between, and this rank takes part in them. */
extern bool sync_counts;

/* Count a blocking collective over MPI_COMM_WORLD that this thread has left, and which no rank can leave before all
 * have entered it. Measure if it is the turn of this one. Context: the thread itself, inside its gate, not between
 * store_begin and store_end. */
void sync_collective(struct thread *t);

#endif
