/* The walk, one call at a time. */
#ifndef OPERATIONS_WALK_H
#define OPERATIONS_WALK_H

#include "operations/internal/op_walk.h"

/* Start to read the rows of thread t, then walk over one call after the other, in the end over what is left of the
   thread's requests that are done. */
void op_cursor_open(const struct op_rows *rows, int32_t t, struct op_cursor *cursor);
void op_walk_call(struct op_walk *walk, const struct op_feed *feed, const struct trace_call *call);
void op_walk_done(struct op_walk *walk, const struct op_feed *feed, int32_t t);

/* Write the operations of the last calls, as op_walk_finish. */
void op_walk_end_calls(struct op_walk *walk);

#endif
