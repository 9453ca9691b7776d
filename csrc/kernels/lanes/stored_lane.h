#ifndef STORED_LANE_H
#define STORED_LANE_H
#include "rows/lane.h"

/* The rows of one thread in a table of its file, one after the other. */
struct stored_rows {
    const int64_t *at; /* places of the table's chunks; see rank_file_rows */
    int64_t chunk_rows;
    int64_t first, count;
};

/* A thread whose rows all lie in its file as they were recorded, so that one call reads many such threads. Python
   owns all arrays. Stamps are checked if last_tick is not 0: see struct stamps. */
struct stored_lane {
    const struct lane *lane;
    const char *path;
    uint64_t first_tick, last_tick, slack;
    struct stored_rows calls, polls, requests;
    const void *flushes; /* struct trace_flush: intervals that are not the program's */
    int64_t n_flushes;
};

#endif
