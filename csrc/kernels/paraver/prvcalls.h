#ifndef PRVCALLS_H
#define PRVCALLS_H
#include <stdint.h>

/* What a procedure does, by bits. */
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

void *prv_calls_new(int64_t ranks, const int32_t *threads, const int32_t *procedures, const uint16_t *roles);
void prv_calls_free(void *builder);
int64_t prv_calls_feed(void *builder, const void *events, int64_t event_count, const void *tracer, int64_t tracer_count,
                       const void *sends, int64_t send_count, const void *receives, int64_t receive_count);
int64_t prv_calls_finish(void *builder, int64_t end);
int64_t prv_calls_broken(const void *builder);
void prv_calls_counts(const void *builder, int64_t *counts);
void prv_calls_take(void *builder, void *calls, int32_t *call_ranks, void *requests, int32_t *request_ranks);

#endif
