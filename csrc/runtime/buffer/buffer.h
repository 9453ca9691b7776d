/* A thread's buffer: the thread appends rows without any lock; a full buffer goes to the file.
 *
 * Context: the thread `t` itself, inside its gate, without store_begin, and not in a signal handler. Others may read
 * the buffer at the same time (block.h): a row is complete before thread_commit counts it (release). Any function that
 * may append can flush, and then takes the store's lock. */
#ifndef BUFFER_H
#define BUFFER_H

#include "places/places.h"
#include "record/thread.h"

/* Write the buffer to the file and empty it: store_begin, block_write, store_end. Counters and their readings are held
 * meanwhile. Does nothing if there are no rows, or if a signal handler that called exit interrupted a flush. */
void thread_flush(struct thread *t);

/* Return the number of rows in the buffer. */
uint64_t thread_rows_held(const struct thread *t);

/* True if only events are buffered, so the buffer may be re-partitioned for another number of readings. */
bool thread_is_empty(const struct thread *t);

/* Make room for `n` events, so that no flush comes between them. */
void thread_need_events(struct thread *t, uint64_t n);

/* Return room for the next row of a table, after a flush if the buffer is full. The caller fills it and then calls
 * thread_commit. */
static inline void *thread_row(struct thread *t, enum table table)
{
    uint64_t capacity = __atomic_load_n(&t->capacity[table], __ATOMIC_RELAXED);
    if (__builtin_expect(t->spool->count[table] >= capacity, 0)) thread_flush(t);
    return (char *)t->rows[table] + t->spool->count[table] * table_layout[table].row_bytes;
}

/* Store the path of the current call beside the row of `rows` that is about to be committed. Paths have no count of
 * their own: there are as many as rows. */
static inline void thread_note_path(struct thread *t, enum table paths, enum table rows)
{
    if (places_depth) ((uint32_t *)t->rows[paths])[t->spool->count[rows]] = t->path;
}

/* Append and commit one event; `time` in ticks. */
void thread_store_event(struct thread *t, uint64_t time, uint32_t type, int64_t value);

/* Append events for the time in which the thread had no CPU, if there was any, when a long computation or call has
 * ended
 * (`where`: enum offcpu). */
void thread_note_off_cpu(struct thread *t, uint16_t where);

/* Begin to watch the thread's use of CPUs: read its CPU time and run delay, and append the first events. */
void thread_begin_off_cpu(struct thread *t);

#endif
