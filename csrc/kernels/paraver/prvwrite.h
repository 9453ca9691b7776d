/* Create a writer of the lines of a .prv. application, task, threads: (ranks), number from 1 of the rank's
   application and task, and its number of threads; copied. Returns NULL if there is no memory. */
void *prv_writer_new(int64_t ranks, const int32_t *application, const int32_t *task, const int32_t *threads);

/* Free a writer; NULL is ignored. */
void prv_writer_free(void *writer);

/* Print states, events and messages (struct trace_state, trace_event, trace_message, each sorted by time) in order
   of time; at one time states come first, then events, then messages. done: (3), the number of rows of each list
   that were printed before; moved on. out: room for `room` bytes. Stops when the room is used up or all rows are
   printed. Returns the bytes written; -1: a row names a rank or thread that does not exist. */
int64_t prv_write(void *writer, const void *states, int64_t state_count, const void *events, int64_t event_count,
                  const void *messages, int64_t message_count, int64_t *done, char *out, int64_t room);
