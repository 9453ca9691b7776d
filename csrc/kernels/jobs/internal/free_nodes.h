#ifndef FREE_NODES_H
#define FREE_NODES_H

#include <stdint.h>

/* Number of free nodes over time, as steps: free[i] from time[i] until time[i + 1]; the last step has no end. The
   caller owns the arrays. */
struct free_nodes {
    int64_t *time, *free;
    int64_t n;
};

/* Return the earliest time from `now` on at which `width` nodes are free for the time `length`. The last step must
   have at least `width` free nodes. */
int64_t free_nodes_earliest(const struct free_nodes *free_nodes, int64_t now, int64_t width, int64_t length);

/* Add `nodes` free nodes (negative: remove) from begin to end. The arrays must have room for two more steps. */
void free_nodes_add(struct free_nodes *free_nodes, int64_t begin, int64_t end, int64_t nodes);

/* Remove the steps that end before `now`. */
void free_nodes_forget(struct free_nodes *free_nodes, int64_t now);

#endif
