#ifndef COLLECTIVE_H
#define COLLECTIVE_H

/* A collective from rank 0 to all: a segmented broadcast along any tree, or one of MPI's own. */

enum collective_operation { COLLECTIVE_TREE = 0, COLLECTIVE_BCAST = 1, COLLECTIVE_SCATTER = 2 };

/* One rank's part. */
struct collective {
    intptr_t comm; /* with no other traffic */
    int32_t rank, ranks;
    int32_t operation;
    char *buffer;       /* bytes */
    const char *source; /* of a scatter at the root: ranks times bytes */
    int32_t bytes, segment_bytes;
    int32_t parent; /* in the tree; -1: none */
    int32_t children;
    const int32_t *child;
};

/* Take part in it once. All functions return MPI's error code, and stop at the first. */
int collective_once(const struct collective *c);

/* The naive way: n times in a row, and how long that took here. */
int collective_loop(const struct collective *c, int64_t n, double *total_s);

/* The root goes on when it has heard of all others, which then wait for it. */
int collective_many_to_one(const struct collective *c);

#endif
