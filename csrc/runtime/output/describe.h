/* Attributes of a rank file: facts about its process. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "record/store.h"

struct identity {
    int rank, size, thread_level; /* the level as MPI names it */
    uint64_t start_ticks, buffer_bytes;
    int64_t start_realtime_ns;
    bool has_world; /* MPI_Init was called: other processes may have spawned this one */
};

/* Write the attributes that are known when recording begins. May be repeated when the rank becomes known.
 * Context: between store_begin and store_end. */
void describe_process(struct store *s, struct identity who);

#endif
