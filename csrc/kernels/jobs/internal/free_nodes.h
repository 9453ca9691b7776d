#ifndef FREE_NODES_H
#define FREE_NODES_H

#include <stdint.h>

/* How many nodes will be free when: free[i] from time[i] on, until time[i + 1]; the last for ever. */
struct free_nodes {
    int64_t *time, *free;
    int64_t n;
};

/* The earliest instant from `now` on, at which `width` nodes are free for `length`. Some day that many are free. */
int64_t free_nodes_earliest(const struct free_nodes *free_nodes, int64_t now, int64_t width, int64_t length);

/* So many nodes more (less, if negative) are free from begin to end. The arrays hold two more steps. */
void free_nodes_add(struct free_nodes *free_nodes, int64_t begin, int64_t end, int64_t nodes);

/* Forget what was before `now`. */
void free_nodes_forget(struct free_nodes *free_nodes, int64_t now);

#endif
