#ifndef HALF_MESSAGES_H
#define HALF_MESSAGES_H
#include "rows/lane.h"

/* One side of a point-to-point message; or a ghost, which stands for `bytes` sides of one channel that were not
   recorded. */
struct half {
    int64_t posted;    /* ns: entry of the call that sent, posted or started it */
    int64_t completed; /* ns: receives: exit of the call that completed it; 0: not known */
    int64_t bytes;
    int32_t peer; /* world rank of the other side */
    int32_t tag;
    int32_t comm; /* in Trace.communicators; -1: unknown */
    int32_t thread;
    int32_t call;    /* in Trace.procedures: the call at `posted`; -1: not looked up */
    int32_t ghost;   /* 1: only posted, bytes, peer, tag and comm are set */
    int32_t channel; /* of partitioned operations from 1 on: which of several that are alike; 0: an ordinary message */
    int32_t reserved;
};

/* A send to a rank of another matcher; `number` counts those of its source. */
struct outgoing {
    struct half half;
    int32_t source, number;
};

/* Sends among the rows of one thread in a window (struct file_call, file_request), in order of posting. Room: calls +
   requests. */
int64_t match_sends(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                    int64_t n_requests, struct half *sends);

/* Receives among the rows, the requests' only if posted in [begin, end) (ns); not in order. Room: as above. */
int64_t match_receives(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                       int64_t n_requests, int64_t begin, int64_t end, struct half *receives);

/* Fills in `call` of halves (in order of posting) from the calls that were entered then. */
void match_names(const struct lane *lane, const void *calls, int64_t n_calls, struct half *halves, int64_t n);

/* Whether a row of requests belongs to the window in which its operation was posted: receives that completed, sends
   that were cancelled. */
int match_belongs_to_posting(const void *request);

/* Rows of requests whose operation was posted before `edge` (ticks) and which belong to the window in which it was.
   Copies them to `late` if that is not NULL; returns how many. */
int64_t match_late(const void *requests, int64_t n, uint64_t edge, void *late);

/* Whether there are cancelled sends among rows of requests. */
int match_cancels(const void *requests, int64_t n);

#endif
