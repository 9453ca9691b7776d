/* Turns one rank's calls into operations: what it computes and communicates, without the times of the network. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdint.h>

/* Where a walk over the calls of one rank stands: it goes on from window to window. */
struct op_walk;

/* The first burst begins at `begin` (ns). overhead: ns of the tracer after each call, which is no computation;
   cpu_overhead: of CPU time. NULL: no memory. */
struct op_walk *op_walk_open(int32_t rank, int64_t begin, int64_t overhead, int64_t cpu_overhead);
void op_walk_close(struct op_walk *walk);

/* Write the operations (struct op) of `n` consecutive calls to `out`; returns their number, -1: no memory.

   cpu: CPU time before each call; -1 unknown: what the clock says counts; -2: a run of polls. NULL: none is known.
   plan: (n procedures, 2) int32, what a call becomes (`enum op_plan`) and its flags or operation.
   defined: whether collective operations may name a communicator, after that of the world. Operations name
   communicators by their index in the trace + 1; 0 is the world.
   posted: requests in order of posting, done: in order of completion, started: the call that posted the
   request of done[i]; its `call` is -1 where that is no collective. Rows whose call has not come yet are left over:
   op_walk_used says how many were used of posted (0), done (1) and events (2).
   events: of the program, in order of time (struct program_event, its `at` -1). They cut the burst in which they lie:
   where, is in `at`, if the burst was measured and goes on in another window.
   flushes: to be taken out of the bursts.
   left_out: (n procedures) int64, counts collective operations on communicators that are not defined.

   out must have room for one operation for each call, each request of both kinds and each event, and one more. */
int64_t op_walk_calls(struct op_walk *walk, const void *calls, int64_t n, const int64_t *cpu, const int32_t *plan,
                      const int8_t *defined, const void *posted, int64_t n_posted, const void *done,
                      const void *started, int64_t n_done, void *events, int64_t n_events, const void *flushes,
                      int64_t n_flushes, int64_t *left_out, void *out);
int64_t op_walk_used(const struct op_walk *walk, int which);

/* The last operation, if the last call has none yet: 0 or 1. */
int64_t op_walk_finish(struct op_walk *walk, void *out);

/* How many requests were open at once. */
int64_t op_walk_slots(const struct op_walk *walk);

/* Format operations as records of a Dimemas trace ("Dimemas 5.5.0 input format"); returns the bytes written to `out`,
   which must hold 320 for each. comm_id: Dimemas id of the world, then of each communicator. */
int64_t dim_text(const void *operations, int64_t n, int32_t task, int32_t thread, const int32_t *comm_id, char *out);

#endif
