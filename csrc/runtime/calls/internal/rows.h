/* Appending rows of calls, requests and accesses to the thread's buffer, unless they are not selected.
 *
 * Context: the thread itself, inside its gate, not between store_begin and store_end (a full buffer is flushed). */
#ifndef ROWS_H
#define ROWS_H

#include "buffer/buffer.h"
#include "select/on_off.h"

/* Store the row of a call, with its path and readings. A thread has a mode (on_off.h) where tracing is off, or not
 * everything is recorded. */
static inline void thread_store_call(struct thread *t, struct file_call row)
{
    if (__builtin_expect(t->mode, 0)) {
        struct file_call copy = row; /* or the row would have an address, and lie in memory twice */
        if (!switch_keeps_call(t, &copy)) return;
    }
    thread_end_polls(t);
    row.thread = (uint16_t)t->index;
    *(struct file_call *)thread_row(t, TABLE_CALLS) = row;
    thread_note_path(t, TABLE_CALL_PATHS, TABLE_CALLS);
    thread_commit_rows(t, TABLE_COUNTS, t->readings); /* they lie there already: no call without its readings */
    thread_commit(t, TABLE_CALLS);
}

/* Store the row of a request. */
static inline void thread_store_request(struct thread *t, struct file_request row)
{
    if (__builtin_expect(t->mode, 0)) {
        struct file_request copy = row;
        if (!switch_keeps_request(t, &copy, 0)) return;
    }
    row.thread = (uint16_t)t->index;
    *(struct file_request *)thread_row(t, TABLE_REQUESTS) = row;
    thread_commit(t, TABLE_REQUESTS);
}

/* Store the row of an access, after the row of its call, if that was recorded. */
static inline void thread_store_access(struct thread *t, struct file_access row)
{
    if (__builtin_expect(t->mode, 0) && !switch_keeps_access(t, row.enter)) return;
    row.thread = (uint16_t)t->index;
    *(struct file_access *)thread_row(t, TABLE_ACCESSES) = row;
    thread_commit(t, TABLE_ACCESSES);
}

#endif
