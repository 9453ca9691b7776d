/* Calls whose data no network moves in a replay. */
#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include "operations/op_rows.h"
#include "records.h"

/* Count a call that moves data and becomes no operation, or is on a file, and the time in it (ns). */
static inline void op_leave_out(const struct op_plans *plans, const struct trace_call *call)
{
    plans->left_out[call->call] += call->count;
    plans->left_out_ns[call->call] += call->inside;
}

#endif
