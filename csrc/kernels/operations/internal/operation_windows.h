/* What calls on windows become. */
#ifndef OPERATION_WINDOWS_H
#define OPERATION_WINDOWS_H

#include "operations/internal/op_walk.h"

/* What a call on a window stands for, of which the plan is an enum op_plan from PLAN_FENCE on; `completer` as for
 * op_put_call.
 */
void op_put_on_window(struct op_walk *walk, struct op_thread *thread, const struct op_feed *feed,
                      const struct trace_call *call, int32_t completer);
void op_put_access_done(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r);

#endif
