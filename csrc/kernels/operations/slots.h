/* The requests of one rank that were posted and not completed yet, and the slot that each has. */
#ifndef SLOTS_H
#define SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* An open request. Equal requests that one call posted are interchangeable. */
struct open_request {
    int64_t posted;
    int32_t peer, tag, comm;
    int32_t slot;
    int32_t shared;              /* another thread completes it: the slot belongs to the rank, and is not used again */
    int32_t gone;                /* it was given back */
    int32_t operation, root, of; /* only of a collective, as the next two */
    int64_t sent, received;
};

/* The open requests and their slots. at: open requests in order of taking, which nearly always is the order of
   completion, too: from `first` to `end`, with gaps where a request was given back. free: slots to be used again. */
struct slots {
    struct open_request *at;
    size_t first, end, room, n;
    int32_t *free;
    size_t n_free, free_room;
    int32_t next, own, shared; /* the next slot never had since nothing was open; how many there are of each kind */
    int32_t is_unordered;      /* a request was posted before the one taken before it */
};

/* Add a request and give it a slot. Returns NULL if there is no memory; else the request, which is valid until the
   next is taken. The caller fills in the fields of a collective. */
struct open_request *slots_take(struct slots *slots, int64_t posted, int32_t peer, int32_t tag, int32_t comm,
                                int32_t shared);

/* Remove the first equal request. Returns it, valid until the next is taken; NULL: none is known. */
const struct open_request *slots_give(struct slots *slots, int64_t posted, int32_t peer, int32_t tag, int32_t comm);

/* Free the memory of the slots. */
void slots_free(struct slots *slots);

#endif
