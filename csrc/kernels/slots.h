/* The requests of one rank that were posted and not completed yet, and the slot that each has. */
#ifndef SLOTS_H
#define SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* Equal ones posted by one call may be taken for each other. */
struct open_request {
    int64_t posted;
    int64_t sent, received; /* of a collective; of others nothing */
    int32_t operation, root, of;
    int32_t peer, tag, comm;
    int32_t slot;
    int32_t shared; /* another thread completes it: the slot is one of the rank, and nobody has it again */
    int32_t used;
};

struct slots {
    struct open_request *requests; /* an open hash table */
    size_t n, room;
    int32_t *free;
    size_t n_free, free_room;
    int32_t own, shared; /* how many there are of each kind */
};

/* Give the request a slot, which is noted in it, and remember it; the slot's number, -1: no memory. */
int32_t slots_take(struct slots *slots, struct open_request *request);

/* Find an equal request, forget it and write it to *request; 1, 0: none is known, -1: no memory. */
int32_t slots_give(struct slots *slots, struct open_request *request);

void slots_free(struct slots *slots);

#endif
