/* The requests of one rank that were posted and not completed yet, and the slot that each has. */
#ifndef SLOTS_H
#define SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* Equal ones posted by one call may be taken for each other. */
struct open_request {
    int64_t posted;
    int32_t peer, tag, comm;
    int32_t slot;
    int32_t shared;              /* another thread completes it: the slot is one of the rank, and nobody has it again */
    int32_t gone;                /* it was given back */
    int32_t operation, root, of; /* of a collective; of others nothing, as the next two */
    int64_t sent, received;
};

/* at: what is open, in order of taking, which nearly always is that of completion, too: from `first` to `end`, with
   gaps where something was given back. free: slots to be had again. */
struct slots {
    struct open_request *at;
    size_t first, end, room, n;
    int32_t *free;
    size_t n_free, free_room;
    int32_t next, own, shared; /* the next slot never had since nothing was open; how many there are of each kind */
    int32_t is_unordered;      /* one was posted before the one taken before it */
};

/* Remember a request, and give it a slot; NULL: no memory, else valid until the next is taken. What a collective has
   besides is for the caller to write. */
struct open_request *slots_take(struct slots *slots, int64_t posted, int32_t peer, int32_t tag, int32_t comm,
                                int32_t shared);

/* Find the first equal request and forget it; NULL: none is known, else valid until the next is taken. */
const struct open_request *slots_give(struct slots *slots, int64_t posted, int32_t peer, int32_t tag, int32_t comm);

void slots_free(struct slots *slots);

#endif
