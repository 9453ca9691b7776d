#ifndef EXPAND_H
#define EXPAND_H
#include "rows/lane.h"

/* From the rows of one thread in a window of time to records of the trace. Rows are struct file_call, file_poll,
   file_event, file_access; flushes are struct trace_flush of this thread, disjoint, with the state that they are drawn
   in. Each returns how many records it wrote. */

/* States (struct trace_state) that begin in [begin, end); after each call the tracer has one of its own. Needs the rows
   from begin - lane->overhead on, and one call and one poll more on both sides. Room: 3 * (calls + polls + flushes)
   + 3. */
int64_t expand_states(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                      const void *flushes, int64_t n_flushes, int64_t begin, int64_t end, void *states);

/* Events (struct trace_event) with time in [begin, end). Needs one call and one poll more before the window.
   Room: 6 * calls + 2 * polls + events + 2. */
int64_t expand_events(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                      const void *events, int64_t n_events, const void *accesses, int64_t n_accesses, int64_t begin,
                      int64_t end, void *out);

/* Calls and polls (struct trace_call) in order of entry. Room: calls + polls. */
int64_t expand_calls(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                     void *out);

/* Requests (struct trace_request) in the order of the rows. */
int64_t expand_requests(const struct lane *lane, const void *requests, int64_t n_requests, void *out);

#endif
