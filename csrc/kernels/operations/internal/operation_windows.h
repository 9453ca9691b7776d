/* Turns calls on RMA windows into operations. */
#ifndef OPERATION_WINDOWS_H
#define OPERATION_WINDOWS_H

#include "operations/internal/op_walk.h"

/* Write the operations of a call on an RMA window, whose plan is an enum op_plan from PLAN_FENCE on. completer: as
   for op_put_call. */
void op_put_on_window(struct op_walk *walk, struct op_thread *thread, const struct op_feed *feed,
                      const struct trace_call *call, int32_t completer);

/* Write the operations of an access to an RMA window where its request is completed. */
void op_put_access_done(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r);

#endif
