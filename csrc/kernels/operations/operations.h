/* Turns one rank's calls into operations: what it computes and communicates, without the times of the network. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdint.h>

#include "operations/op_rows.h"

/* Where a walk over the calls of one rank stands: it goes on from window to window. */
struct op_walk;

/* The first burst of thread t begins at begin[t] (ns). cpu_overhead: ns of CPU time that the tracer takes after each
   call, which is no computation. n_comms: of the plans. NULL: no memory. */
struct op_walk *op_walk_open(int32_t rank, int32_t n_threads, const int64_t *begin, int64_t n_comms,
                             int64_t cpu_overhead);
void op_walk_close(struct op_walk *walk);

/* Write the operations (struct op) of consecutive calls to `out`, their `block` being the thread; returns their number,
   -1: no memory. Rows whose call has not come yet are left over: used[0] is how many were used of posted, then for each
   thread the first of done that was not, then of events (1 + 2 n).

   out must have room for op_walk_room operations. */
int64_t op_walk_calls(struct op_walk *walk, const struct op_plans *plans, const struct op_rows *rows, int64_t *used,
                      void *out);
int64_t op_walk_room(const struct op_walk *walk, const struct op_rows *rows);

/* The last operations, of calls that have none yet: up to one for each thread. */
int64_t op_walk_finish(struct op_walk *walk, void *out);

/* How many requests were open at once that the thread completes which posted them; and how many in all another one
   did. */
int64_t op_walk_slots(const struct op_walk *walk);
int64_t op_walk_shared_slots(const struct op_walk *walk);

#endif
