#ifndef NETWORK_H
#define NETWORK_H
/* Links, buses and who waits for them. */

#include "memory.h"

struct message;
struct sim;

struct parked {
    int64_t sequence;
    struct message *message;
};

/* By sequence: the first one, and a heap of the others. */
struct queue {
    struct parked first, *others;
    uint32_t n, room; /* all; the others that there is room for */
};

/* Links and buses of which there is a limited number. */
struct resource {
    int32_t free;
    bool listed;         /* among the freed ones of its lane */
    struct queue parked; /* those that found this one taken */
};

struct candidate {
    int64_t sequence;
    int32_t number;
};

/* Messages between nodes, and those inside of nodes, which no collective holds up. */
struct lane {
    int32_t *freed; /* resources, since the last scan, with messages parked at them */
    struct candidate *candidates;
    size_t n_freed, n_candidates;
    struct queue fresh; /* what no scan has looked at yet */
};

/* network.c: links, buses and who waits for them */
bool network_init(struct sim *sim);
void network_resources(const struct sim *sim, int32_t from, int32_t to, int32_t *resource);
void network_enter(struct sim *sim, struct message *message);
void network_leave(struct sim *sim, struct message *message);
void network_scan(struct sim *sim);
void network_count(struct sim *sim);
void network_free(struct sim *sim);

#endif
