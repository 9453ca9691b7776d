#ifndef LANE_H
#define LANE_H
/* Links, buses and who waits for them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message;

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

/* Messages that have an outgoing link, in the order in which they took it. */
struct holders {
    struct message **at;
    int32_t n, room;
};

/* Messages between nodes, and those inside of nodes, which no collective holds up. */
struct lane {
    int32_t *freed; /* resources, since the last scan, with messages parked at them */
    struct candidate *candidates;
    size_t n_freed, n_candidates;
    struct queue fresh; /* what no scan has looked at yet */
};

#endif
