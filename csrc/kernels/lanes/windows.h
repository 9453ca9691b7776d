#ifndef WINDOWS_H
#define WINDOWS_H
#include "lanes/stored_lane.h"

/* The first rows that a window needs that begins at `time` (ns). */
struct window_place {
    int64_t time, calls, polls;
};

/* State of a thread that is kept from window to window. A struct of zeros is right for a first window that begins at
   0. */
struct windowed_lane {
    struct window_place places[2]; /* places of the window that was read last, and of the next window */
    const void *events;            /* struct file_event: all events of the thread, as a .prv shows them */
    int64_t n_events;
};

/* Records of threads, one thread after the other, in memory that is used again by each call. lane_records_free frees
   it. */
struct lane_records {
    char *bytes;
    int64_t room, used; /* bytes */
};

/* Write the states (struct trace_state) of n threads that begin in [begin, end) (ns), or their events (struct
   trace_event) with a time in it, as expand_states and expand_events do. counts: (n), receives the number of records
   of each thread. Consecutive windows are found without a search. Returns n, or the number of the first thread that
   must be read otherwise: it has impossible stamps, or a file that cannot be read. Returns -1 if there is no memory. */
int64_t window_states(const struct stored_lane *lanes, struct windowed_lane *windowed, int64_t n, int64_t begin,
                      int64_t end, int64_t *counts, struct lane_records *into);
int64_t window_events(const struct stored_lane *lanes, struct windowed_lane *windowed, int64_t n, int64_t begin,
                      int64_t end, int64_t *counts, struct lane_records *into);

/* Free the memory of records, and make them empty. */
void lane_records_free(struct lane_records *records);

#endif
