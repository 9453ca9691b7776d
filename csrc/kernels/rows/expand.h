#ifndef EXPAND_H
#define EXPAND_H
#include "rows/lane.h"

/* Makes records of the trace from the rows of one thread in a window of time. Rows are struct file_call, file_poll,
   file_event, file_access. Flushes are struct trace_flush of this thread, disjoint, with the state in which they are
   drawn. Times are ns. The caller owns `out`, which must have the room that is named. Each function returns the
   number of records that it wrote. */

/* Write the states (struct trace_state) that begin in [begin, end). After each call there is a state of the tracer.
   The rows must begin at begin - lane->overhead, with one more call and one more poll on both sides. Room: 3 *
   (calls + polls + flushes) + 3. */
int64_t expand_states(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                      const void *flushes, int64_t n_flushes, int64_t begin, int64_t end, void *states);

/* Write the events (struct trace_event) with a time in [begin, end). The rows must contain one more call and one
   more poll before the window. Room: 6 * calls + 2 * polls + events + 2. */
int64_t expand_events(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                      const void *events, int64_t n_events, const void *accesses, int64_t n_accesses, int64_t begin,
                      int64_t end, void *out);

/* Write the calls and polls (struct trace_call) in order of entry. Room: calls + polls. */
int64_t expand_calls(const struct lane *lane, const void *calls, int64_t n_calls, const void *polls, int64_t n_polls,
                     void *out);

/* Write the requests (struct trace_request) in the order of the rows. Room: n_requests. */
int64_t expand_requests(const struct lane *lane, const void *requests, int64_t n_requests, void *out);

#endif
