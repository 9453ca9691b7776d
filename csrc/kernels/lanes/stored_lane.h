#ifndef STORED_LANE_H
#define STORED_LANE_H
#include "rows/lane.h"

/* The rows of one thread in a table of its file, one after the other. */
struct stored_rows {
    const int64_t *at; /* where the table's chunks lie; see rank_file_rows */
    int64_t chunk_rows;
    int64_t first, count;
};

/* A thread all of whose rows lie in its file as they were recorded, where one call reads those of many such threads.
   Its stamps are looked at if `last_tick` is not 0: see struct stamps. */
struct stored_lane {
    const struct lane *lane;
    const char *path;
    uint64_t first_tick, last_tick, slack;
    struct stored_rows calls, polls, requests;
    const void *flushes; /* struct trace_flush: what is not the program's */
    int64_t n_flushes;
};

#endif
