/* Turns calls and requests on files into operations. */
#ifndef OPERATION_FILES_H
#define OPERATION_FILES_H

#include "operations/internal/op_walk.h"

/* Write the operations of a call on a file, whose plan is PLAN_FILE. completer: as for op_put_call. */
void op_put_on_file(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                    const struct trace_call *call, int32_t completer);

/* Write the operations of a request of a file (op_is_of_file) where it is posted, and where it is completed. */
void op_put_file_posted(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r);
void op_put_file_done(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r);

#endif
