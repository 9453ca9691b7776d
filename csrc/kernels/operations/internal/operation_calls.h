/* Turns calls and requests of a rank into operations. */
#ifndef OPERATION_CALLS_H
#define OPERATION_CALLS_H

#include "operations/internal/op_walk.h"

/* Write the operations of a request where it is posted or started, and where it is completed. */
void op_put_posted(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                   const struct trace_request *r);
void op_put_done(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                 const struct trace_request *r);

/* Write the operations of a call itself. message: which of several equal messages it is; completer: the thread that
   completes the collective or the one-sided operation that it begins. */
void op_put_call(struct op_walk *walk, struct op_thread *thread, const struct op_feed *feed,
                 const struct trace_call *call, int64_t message, int32_t completer);

#endif
