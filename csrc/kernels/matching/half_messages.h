#ifndef HALF_MESSAGES_H
#define HALF_MESSAGES_H
#include "rows/lane.h"

/* One side of a point-to-point message; or a ghost, which stands for `bytes` sides of one channel that were not
   recorded. */
struct half {
    int64_t posted;    /* ns: entry of the call that sent, posted or started it */
    int64_t completed; /* ns, of receives: exit of the call that completed it; 0: not known */
    int64_t bytes;
    int32_t peer; /* world rank of the other side */
    int32_t tag;
    int32_t comm; /* in Trace.communicators; -1: unknown */
    int32_t thread;
    int32_t call;    /* in Trace.procedures: the call at `posted`; -1: not looked up */
    int32_t ghost;   /* 1: only posted, bytes, peer, tag and comm are set */
    int32_t channel; /* of partitioned operations, from 1: which of several equal ones; 0: an ordinary message */
    int32_t reserved;
};

/* A send to a rank of another matcher; `number` is its number among the sends of its source. */
struct outgoing {
    struct half half;
    int32_t source, number;
};

/* Write the sends among the rows of one thread in a window (struct file_call, file_request), in order of posting.
   Room: n_calls + n_requests. Returns the number of sends. */
int64_t match_sends(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                    int64_t n_requests, struct half *sends);

/* Write the receives among the rows, in no order; requests count only if they were posted in [begin, end) (ns).
   Room: n_calls + n_requests. Returns the number of receives. */
int64_t match_receives(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                       int64_t n_requests, int64_t begin, int64_t end, struct half *receives);

/* Fill in `call` of n halves (in order of posting) from the calls that were entered at their times. */
void match_names(const struct lane *lane, const void *calls, int64_t n_calls, struct half *halves, int64_t n);

/* Return true if a row of requests belongs to the window in which its operation was posted: a receive that
   completed, or a send that was cancelled. */
int match_belongs_to_posting(const void *request);

/* Find the rows of requests that were posted before `edge` (ticks) and belong to the window of posting. Copies them
   to `late` unless it is NULL. Returns their number. */
int64_t match_late(const void *requests, int64_t n, uint64_t edge, void *late);

/* Return true if there are cancelled sends among n rows of requests. */
int match_cancels(const void *requests, int64_t n);

#endif
