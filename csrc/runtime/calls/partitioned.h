/* Partitioned operations: one message a start. Contract: frame.h. */
#ifndef PARTITIONED_H
#define PARTITIONED_H

#include "calls/frame.h"
#include "handles/requests.h"

struct partitioned {
    enum request_kind kind;
    int partitions, peer, tag;
    int64_t count; /* elements of a partition */
    word type, comm;
};

/* MPI_Psend_init and MPI_Precv_init. */
void record_partitioned_init(const struct frame *f, struct partitioned p, word request);

/* MPI_Pready, _range and _list: `partitions` became ready. */
void record_pready(const struct frame *f, word request, int64_t partitions);

/* MPI_Parrived that found the partition; else it is a record_poll. */
void record_parrived(const struct frame *f, word request);

#endif
