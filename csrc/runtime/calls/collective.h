/* Collectives, seen from one process. Contract: frame.h.
 *
 * Bytes are what this process contributes and what it is given, by its own arguments. Its share of its own data counts,
 * so that sums do not depend on who is root or on MPI_IN_PLACE. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include "calls/data_bytes.h"
#include "calls/frame.h"

/* Shapes of collectives: which data move between which members. The shape of a procedure has its name
 * (csrc/generate/semantics.py). */
enum shape {
    SHAPE_BARRIER,
    SHAPE_BCAST,
    SHAPE_GATHER,
    SHAPE_GATHERV,
    SHAPE_SCATTER,
    SHAPE_SCATTERV,
    SHAPE_ALLGATHER,
    SHAPE_ALLGATHERV,
    SHAPE_ALLTOALL,
    SHAPE_ALLTOALLV,
    SHAPE_ALLTOALLW,
    SHAPE_REDUCE,
    SHAPE_ALLREDUCE,
    SHAPE_SCAN,
    SHAPE_EXSCAN,
    SHAPE_REDUCE_SCATTER,
    SHAPE_REDUCE_SCATTER_BLOCK,
    SHAPE_NEIGHBOR_ALLGATHER,
    SHAPE_NEIGHBOR_ALLGATHERV,
    SHAPE_NEIGHBOR_ALLTOALL,
    SHAPE_NEIGHBOR_ALLTOALLV,
    SHAPE_NEIGHBOR_ALLTOALLW,
};

/* `root` is looked at only where the shape has one. A blocking collective may also make a set of counters take its turn
 * or measure the clocks, which communicates (ranks/sync.h). */
void record_collective(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                       word comm);
void record_icollective(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                        word comm, word request);

/* Nothing moves before record_start. */
void record_collective_init(const struct frame *f, enum shape shape, struct data send, struct data recv, int root,
                            word comm, word request);

#endif
