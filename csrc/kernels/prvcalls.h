void *prv_calls_new(int64_t ranks, const int32_t *threads, const int32_t *procedures, const uint16_t *roles);
void prv_calls_free(void *builder);
int64_t prv_calls_feed(void *builder, const void *events, int64_t event_count, const void *sends, int64_t send_count,
                       const void *receives, int64_t receive_count);
int64_t prv_calls_finish(void *builder, int64_t end);
int64_t prv_calls_broken(const void *builder);
void prv_calls_counts(const void *builder, int64_t *counts);
void prv_calls_take(void *builder, void *calls, int32_t *call_ranks, void *requests, int32_t *request_ranks);
