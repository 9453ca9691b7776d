void *prv_writer_new(int64_t ranks, const int32_t *application, const int32_t *task, const int32_t *threads);
void prv_writer_free(void *writer);
int64_t prv_write(void *writer, const void *states, int64_t state_count, const void *events, int64_t event_count,
                  const void *messages, int64_t message_count, int64_t *done, char *out, int64_t room);
