/* Turns one rank's calls into operations: what it computes and communicates, without the times of the network. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdint.h>

#include "operations/op_rows.h"

/* Where a walk over the calls of one rank stands: it goes on from window to window. */
struct op_walk;

/* Create a walk over the calls of a rank. begin: (n_threads), ns at which the first burst of each thread begins.
   n_comms: number of communicators of the plans. cpu_overhead: ns of CPU time that the tracer takes after each call,
   which is no computation. Returns NULL if there is no memory. */
struct op_walk *op_walk_open(int32_t rank, int32_t n_threads, const int64_t *begin, int64_t n_comms,
                             int64_t cpu_overhead);

/* Free a walk. */
void op_walk_close(struct op_walk *walk);

/* Write the operations (struct op) of consecutive calls to `out`, which must have room for op_walk_room operations.
   Their `block` is the thread. Rows whose call has not come yet are left over. used: (1 + 2 n), receives the number
   of posted requests used, then for each thread the first of `done` that was not used, then for each thread the
   first event that was not used. Returns the number of operations; -1: no memory. */
int64_t op_walk_calls(struct op_walk *walk, const struct op_plans *plans, const struct op_rows *rows, int64_t *used,
                      void *out);
int64_t op_walk_room(const struct op_walk *walk, const struct op_rows *rows);

/* Write the operations of the last calls that have none yet, at most one for each thread. Returns their number. */
int64_t op_walk_finish(struct op_walk *walk, void *out);

/* Return the largest number of requests open at once that the posting thread completes; and the total number that
   another thread completes. */
int64_t op_walk_slots(const struct op_walk *walk);
int64_t op_walk_shared_slots(const struct op_walk *walk);

#endif
