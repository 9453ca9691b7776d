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

/* The packed operations of a window. `begins`: the offsets in `bytes` of the blocks that begin in the window. Owned
   by the translation. */
struct packed_window {
    uint8_t *bytes;
    int64_t *begins;
    int64_t n_bytes, n_begins, n_operations;
};

struct translation;

/* Create a translation. posted, done: (65536) by `what`, 1 for requests that open or end something. Both, and the
   packer, stay the caller's. Returns NULL if there is no memory. */
struct translation *translation_open(struct packer *packer, const uint8_t *posted, const uint8_t *done);

/* Free a translation. */
void translation_close(struct translation *translation);

/* Begin the next rank. walk and lane stay the caller's. */
void translation_begin(struct translation *translation, struct op_walk *walk, const struct lane *lane);

/* Translate the next window of the rank. rest: events and flushes as for op_walk_calls, without calls and requests.
   used_events: receives the first event that was not used. Returns the operations, which stay valid until the next
   window; NULL: no memory. */
const struct packed_window *translation_window(struct translation *translation, const struct op_plans *plans,
                                               const struct op_rows *rest, const struct thread_rows *rows,
                                               int64_t *used_events);

/* How stored threads are read. marked: as for rows_are_plain. tracer_times: bursts begin at the start of the
   process, and leave out flushes. */
struct stored_span {
    int64_t end; /* ns, later than all rows */
    const uint8_t *marked;
    int32_t tracer_times;
};

/* Translate the next n ranks, each of one thread whose rows say everything. operations, slots: (n), receive for each
   rank the number of operations, and of requests open at once. Returns the number of ranks appended; the next rank
   must be read otherwise. Returns -1 if there is no memory. translation_packed returns the operations, which stay
   valid until the next call. */
int64_t translation_lanes(struct translation *translation, const struct op_plans *plans,
                          const struct stored_lane *lanes, int64_t n, const struct stored_span *of, int64_t *operations,
                          int64_t *slots);
const struct packed_window *translation_packed(const struct translation *translation);

#endif
