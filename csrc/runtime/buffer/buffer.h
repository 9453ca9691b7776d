/* A thread's buffer: it appends rows without any lock; a full one goes to the file. */
#ifndef BUFFER_H
#define BUFFER_H

#include "places/places.h"
#include "record/thread.h"

/* Empty a full buffer into the file. */
void thread_flush(struct thread *t);

/* By the thread itself: all rows that are in its buffer. */
uint64_t thread_rows_held(const struct thread *t);

/* Does nothing wait in the buffer but events? Then it may be divided anew, for another number of readings. */
bool thread_is_empty(const struct thread *t);

/* Room in the buffer for so many events: they will not be parted by a flush. */
void thread_need_events(struct thread *t, uint64_t n);

static inline void *thread_row(struct thread *t, enum table table)
{
    uint64_t capacity = __atomic_load_n(&t->capacity[table], __ATOMIC_RELAXED);
    if (__builtin_expect(t->spool->count[table] >= capacity, 0)) thread_flush(t);
    return (char *)t->rows[table] + t->spool->count[table] * table_layout[table].row_bytes;
}

/* The path of the call that goes on, beside the row that it is about to get. Paths are not counted: there are as many
 * as rows. */
static inline void thread_note_path(struct thread *t, enum table paths, enum table rows)
{
    if (places_depth) ((uint32_t *)t->rows[paths])[t->spool->count[rows]] = t->path;
}

void thread_store_event(struct thread *t, uint64_t time, uint32_t type, int64_t value);

/* A long computation or call has ended (`where`: enum offcpu): events of when the thread had no CPU, if it had none. */
void thread_note_off_cpu(struct thread *t, uint16_t where);

/* The thread is looked at from here on. */
void thread_begin_off_cpu(struct thread *t);

#endif
