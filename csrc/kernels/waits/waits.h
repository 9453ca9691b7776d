#ifndef WAITS_H
#define WAITS_H
#include <stdint.h>

#include "waits/wait_candidates.h"

/* The search for wait states, and those found. One thread at a time may use it. */
struct waits;

/* Create a search. roles: enum waits_role of each procedure; stays the caller's and must outlive the search.
   most_polls: number of failing polls of a lane that are kept apart. Returns NULL if there is no memory. */
struct waits *waits_new(int64_t lanes, const uint8_t *roles, int64_t most_polls);

/* Free a search. */
void waits_free(struct waits *waits);

/* Take n candidates of the lanes [first, stop) whose call returns (WAITS_SENT: was entered) in the window of the
   calls that follow. Returns -1 if there is no memory. */
int64_t waits_add(struct waits *waits, const struct wait_candidate *candidates, int64_t n, int64_t first, int64_t stop);

/* The rows of n ranks in a window, one rank after the other. */
struct waits_rows {
    const int64_t *first_lane;           /* (n + 1) first lane of each rank */
    const void *requests, *calls;        /* struct trace_request completed there; trace_call in order of entry */
    const int64_t *n_requests, *n_calls; /* of each */
    const int64_t *overhead;             /* of each rank: ns of the tracer between two polls of one row */
};

/* Take the rows of n ranks. Returns -1 if there is no memory. */
int64_t waits_ranks(struct waits *waits, const struct waits_rows *rows, int64_t n);

/* End the search: calls that are open end. Returns -1 if there is no memory. */
int64_t waits_finish(struct waits *waits);

/* Return the number of wait states found since the last waits_take, and copy them to `out` and forget them. */
int64_t waits_found(const struct waits *waits);
void waits_take(struct waits *waits, struct wait_state *out);

#endif
