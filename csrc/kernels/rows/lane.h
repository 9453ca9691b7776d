#ifndef LANE_H
#define LANE_H
#include "rows/clock.h"

/* The analyzer's knowledge of a procedure of a rank file. */
struct procedure {
    int64_t value; /* Paraver event value */
    uint32_t type; /* Paraver event type */
    int32_t state; /* Paraver state inside it */
    int32_t index; /* in Trace.procedures */
    int32_t role;  /* ROLE_... */
};

enum role { ROLE_NONE = 0, ROLE_SEND = 1, ROLE_RECEIVE = 2, ROLE_COLLECTIVE = 3, ROLE_ONE_SIDED = 4, ROLE_CLOCK = 5 };

/* One thread of a rank, and the tables to which its rows refer. Python owns all arrays; they must outlive the lane. */
struct lane {
    struct clock clock;
    int64_t start;    /* ns: process start, or the thread's first row */
    int64_t stop;     /* ns: last event */
    int64_t overhead; /* ns of the tracer between the exit of one call and the entry of the next */
    const struct procedure *procedures;
    const void *communicators;         /* struct file_communicator */
    const uint32_t *members;           /* world ranks of groups that are no progressions */
    const int32_t *communicator_index; /* by row of `communicators`: index in Trace.communicators; -1: none, unknown */
    int64_t n_procedures;
    int64_t n_communicators;
    int64_t n_members;
    int32_t rank;
    int32_t thread;
    int32_t cpu;
    int32_t ranks; /* of the run */
};

/* Merge runs of records by time, then by run, into `out`. A record has record_bytes and starts with its time
   (int64). Run r is the records [offsets[r], offsets[r + 1]), sorted by time. out: room for all records. Returns -1
   if there is no memory. */
int64_t lane_merge(const void *records, const int64_t *offsets, int64_t runs, int64_t record_bytes, void *out);

#endif
