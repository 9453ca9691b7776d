/* Turns the rows of a rank file into packed operations, a few at a time: the records between the two never leave the
   processor's cache. For ranks of one thread, of which no more is known than rows and events; it gives what
   expand_calls, expand_requests, requests_pick, op_walk_calls and packer_append do one after the other. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include "operations/op_rows.h"
#include "rows/lane.h"

struct op_walk; /* operations.h */
struct packer;  /* csrc/replay/packed/pack.h */

/* Rows of a window of time: struct file_call, file_poll, file_request.

   late: struct trace_request posted in the window and completed after it, in order of posting. begin: of the window, as
   ns and as the first tick that is it. end: of the rank, in its last window, else -1. */
struct thread_rows {
    const void *calls, *polls, *requests, *late;
    int64_t n_calls, n_polls, n_requests, n_late;
    int64_t begin, end;
    uint64_t begin_ticks;
};

/* What a window became: `begins` is where in `bytes` each block begins that begins there. */
struct packed_window {
    uint8_t *bytes;
    int64_t *begins;
    int64_t n_bytes, n_begins, n_operations;
};

struct translation;

/* posted, done: by `what` (65536), which requests open something and which end it. NULL: no memory. */
struct translation *translation_open(struct packer *packer, const uint8_t *posted, const uint8_t *done);
void translation_close(struct translation *translation);

/* The next rank. */
void translation_begin(struct translation *translation, struct op_walk *walk, const struct lane *lane);

/* Its next window. `rest`: events and flushes, as for op_walk_calls, and no calls nor requests; used_events: the first
   of the events that was not used. NULL: no memory; else valid until the next window. */
const struct packed_window *translation_window(struct translation *translation, const struct op_plans *plans,
                                               const struct op_rows *rest, const struct thread_rows *rows,
                                               int64_t *used_events);

#endif
