#ifndef PRVCALLS_H
#define PRVCALLS_H
#include <stdint.h>

/* Properties of a procedure, as bits. */
enum prv_role {
    PRV_SENDS = 1,
    PRV_RECEIVES = 2,
    PRV_POSTS = 4,
    PRV_COMPLETES = 8,
    PRV_MANY = 16,
    PRV_ROOTED = 32,
    PRV_BEGINS_COLLECTIVE = 64,
    PRV_WAITS_FOR_ONE = 128,
    PRV_LOOKS_AT_CLOCK = 256
};

/* Create a builder of calls and requests from events and messages. threads: (ranks), number of threads; copied.
   procedures: (MPI_EVENT_TYPES, PRV_CALL_VALUES), the procedure of each MPI event. roles: enum prv_role of each
   procedure. These two stay the caller's. Returns NULL if there is no memory. */
void *prv_calls_new(int64_t ranks, const int32_t *threads, const int32_t *procedures, const uint16_t *roles);

/* Free a builder; NULL is ignored. */
void prv_calls_free(void *builder);

/* Take the rows of one window of time, each list sorted: events by time, tracer (states in which the tracer held a
   thread) by begin, sends by logical send, receives by logical receive. Returns -1 if there is no memory. */
int64_t prv_calls_feed(void *builder, const void *events, int64_t event_count, const void *tracer, int64_t tracer_count,
                       const void *sends, int64_t send_count, const void *receives, int64_t receive_count);

/* End the trace at `end` (ns), and with it all open calls. Returns -1 if there is no memory. */
int64_t prv_calls_finish(void *builder, int64_t end);

/* Return the number of calls whose begin or end is missing. */
int64_t prv_calls_broken(const void *builder);

/* Write the number of calls and of requests that are ready to `counts` (2). */
void prv_calls_counts(const void *builder, int64_t *counts);

/* Copy the ready calls (struct trace_call), requests (struct trace_request) and their ranks, and forget them. Room:
   as prv_calls_counts says. */
void prv_calls_take(void *builder, void *calls, int32_t *call_ranks, void *requests, int32_t *request_ranks);

#endif
