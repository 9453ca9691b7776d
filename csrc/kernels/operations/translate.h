/* Turns the rows of a rank file into packed operations, a few at a time: the records between the two never leave the
   processor's cache. For ranks of one thread, of which no more is known than rows and events; it gives what
   expand_calls, expand_requests, requests_pick, op_walk_calls and packer_append do one after the other. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include "lanes/stored_lane.h"
#include "operations/op_rows.h"
#include "operations/thread_rows.h"
#include "rows/lane.h"

struct op_walk; /* operations.h */
struct packer;  /* csrc/replay/packed/pack.h */

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

/* Threads that are read where they lie. marked: as for rows_are_plain. tracer_times: bursts begin at the start of the
   process, and leave out flushes. */
struct stored_span {
    int64_t end; /* ns: after all */
    const uint8_t *marked;
    int32_t tracer_times;
};

/* The next n ranks, each of one thread of which rows say all that there is to know: the number of operations of each,
   and how many requests it had open at once. Returns how many were appended; the next one must be read otherwise. -1:
   no memory. What they became is valid until the next call. */
int64_t translation_lanes(struct translation *translation, const struct op_plans *plans,
                          const struct stored_lane *lanes, int64_t n, const struct stored_span *of, int64_t *operations,
                          int64_t *slots);
const struct packed_window *translation_packed(const struct translation *translation);

#endif
