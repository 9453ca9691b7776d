#ifndef WINDOWS_H
#define WINDOWS_H
#include "lanes/stored_lane.h"

/* The first rows that a window needs which begins at `time` (ns). */
struct window_place {
    int64_t time, calls, polls;
};

/* What is kept of a thread from window to window. Of zeros, the places are right for a window that begins at 0. */
struct windowed_lane {
    struct window_place places[2]; /* of the window that was read last, and of the one behind it */
    const void *events;            /* struct file_event: all that the thread has, as a .prv shows them */
    int64_t n_events;
};

/* Records of threads, one thread's after the other, in memory that is used again. */
struct lane_records {
    char *bytes;
    int64_t room, used; /* bytes */
};

/* States (struct trace_state) of n threads that begin in [begin, end) (ns), and events (struct trace_event) with time
   in it, as expand_... gives them of each; counts: how many of each thread. Windows that follow each other are found
   without a search. Returns n, or the number of the first thread of which something is otherwise: stamps that cannot
   be, a file that cannot be read. -1: no memory. */
int64_t window_states(const struct stored_lane *lanes, struct windowed_lane *windowed, int64_t n, int64_t begin,
                      int64_t end, int64_t *counts, struct lane_records *into);
int64_t window_events(const struct stored_lane *lanes, struct windowed_lane *windowed, int64_t n, int64_t begin,
                      int64_t end, int64_t *counts, struct lane_records *into);

void lane_records_free(struct lane_records *records);

#endif
