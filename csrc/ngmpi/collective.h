#ifndef COLLECTIVE_H
#define COLLECTIVE_H

/* Collectives from rank 0 to all ranks: a segmented broadcast along any tree, or a collective of MPI itself. */

enum collective_operation { COLLECTIVE_TREE = 0, COLLECTIVE_BCAST = 1, COLLECTIVE_SCATTER = 2 };

/* One rank's part of a collective. The caller owns all arrays. */
struct collective {
    intptr_t comm; /* has no other traffic */
    int32_t rank, ranks;
    int32_t operation;
    char *buffer;       /* `bytes` bytes */
    const char *source; /* at the root of a scatter: ranks x bytes */
    int32_t bytes, segment_bytes;
    int32_t parent; /* in the tree; -1: none */
    int32_t children;
    const int32_t *child;
};

/* Take part in the collective once. All functions of this file are called by all ranks, return MPI's error code, and
 * stop at the first error. */
int collective_once(const struct collective *c);

/* Take part n times in a row. Sets *total_s to the seconds that this took on this rank. */
int collective_loop(const struct collective *c, int64_t n, double *total_s);

/* At the root, receive a message of each other rank; at another rank, send it. The others then wait for the root in the
 * next collective. */
int collective_many_to_one(const struct collective *c);

#endif
