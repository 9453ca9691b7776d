#ifndef WAITS_H
#define WAITS_H
#include <stdint.h>

#include "waits/wait_candidates.h"

struct waits;

/* `roles` of each procedure; `most_polls`: failing polls of a lane that are kept apart. NULL: no memory. The arrays
   stay the caller's. */
struct waits *waits_new(int64_t lanes, const uint8_t *roles, int64_t most_polls);
void waits_free(struct waits *waits);

/* The candidates of lanes [first, stop) whose call returns (WAITS_SENT: was entered) in the window of the calls that
   follow. -1: no memory. */
int64_t waits_add(struct waits *waits, const struct wait_candidate *candidates, int64_t n, int64_t first, int64_t stop);

/* What n ranks did in a window, one rank's rows after the other. */
struct waits_rows {
    const int64_t *first_lane;           /* of each rank, n + 1 */
    const void *requests, *calls;        /* struct trace_request completed there; trace_call in order of entry */
    const int64_t *n_requests, *n_calls; /* of each */
    const int64_t *overhead;             /* of each: ns of the tracer between two polls of one row */
};

/* -1: no memory. */
int64_t waits_ranks(struct waits *waits, const struct waits_rows *rows, int64_t n);

/* No more calls: those that were open end. */
int64_t waits_finish(struct waits *waits);

/* How many wait states were found since the last time; writes them out and forgets them. */
int64_t waits_found(const struct waits *waits);
void waits_take(struct waits *waits, struct wait_state *out);

#endif
