#ifndef MATCH_H
#define MATCH_H
#include "rows/lane.h"

/* One side of a point-to-point message; or a ghost, which stands for `bytes` sides of one channel that were not
   recorded. */
struct half {
    int64_t posted;    /* ns: entry of the call that sent, posted or started it */
    int64_t completed; /* ns: receives: exit of the call that completed it */
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

/* Sends among the rows of one thread in a window (struct file_call, file_request), in order of posting. Room: calls +
   requests. */
int64_t match_sends(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                    int64_t n_requests, struct half *sends);

/* Receives among the rows, the requests' only if posted in [begin, end) ticks; not in order. Room: as above. */
int64_t match_receives(const struct lane *lane, const void *calls, int64_t n_calls, const void *requests,
                       int64_t n_requests, uint64_t begin, uint64_t end, struct half *receives);

/* Fills in `call` of halves (in order of posting) from the calls that were entered then. */
void match_names(const struct lane *lane, const void *calls, int64_t n_calls, struct half *halves, int64_t n);

/* The sends and receives that wait for their other side. */
struct matcher;

/* For the destinations [first, last); the CPU of a thread is first_cpu[rank] + thread. NULL: no memory. */
struct matcher *match_new(int32_t first, int32_t last, const int32_t *first_cpu);
void match_free(struct matcher *matcher);

/* Adds the next sends of a source in its order of sending, the k-th with the number first_number + k in `window`.
   Writes the messages (struct trace_message, `reserved` is that number) that are complete now and the windows of their
   sends; returns how many, -1 if memory is short. Room: n. */
int64_t match_add_sends(struct matcher *matcher, int32_t source, const struct half *sends, int64_t n, int32_t window,
                        int32_t first_number, void *messages, int32_t *windows);

/* Adds the next receives of a destination in its order of posting; else as above. */
int64_t match_add_receives(struct matcher *matcher, int32_t destination, const struct half *receives, int64_t n,
                           void *messages, int32_t *windows);

/* How many halves have met a ghost: their partner was not recorded. */
int64_t match_alone(const struct matcher *matcher);

/* How many halves still wait; copies those of up to `room`: rank it belongs to, 1 for a send, the half. */
int64_t match_waiting(const struct matcher *matcher, int64_t room, int32_t *ranks, int32_t *sends, struct half *halves);

#endif
