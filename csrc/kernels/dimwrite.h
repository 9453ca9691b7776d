/* Formats one rank's calls as Dimemas records ("Dimemas 5.5.0 input format"). */
#ifndef DIMWRITE_H
#define DIMWRITE_H

#include <stdint.h>

/* Append the records of `n` consecutive calls of one rank to `out`; returns the bytes written.

   walk[0] is where the next burst begins (ns), walk[1] the entry of the call before it, walk[2] the next
   flush: carried from window to window. walk[3] and walk[4] return how many rows of posted and done were
   used; the caller brings the others again. walk[5] is the tracer's time before the next burst: 0 at first.
   walk[6] is the time of bursts before polls, until the call after them tells their CPU time.

   task is the rank; its threads are not told apart.
   cpu: CPU time before each call; -1 unknown: what the clock says counts; -2: a run of polls. NULL: none is known.
   plan: (n procedures, 2) int32, what a call becomes (`enum dim_plan`) and its flag or operation.
   comm_id: Dimemas id of each communicator, after that of the world. defined: whether global operations may
   name it, likewise.
   posted: requests in order of posting, done: in order of completion, started: the call that posted the
   request of done[i]; its `call` is -1 where that is no collective.
   events: of the program, in order of time (struct dim_event, its `at` -1). They cut the burst in which they lie:
   where, is in `at`, if the burst was measured and goes on in another window. walk[7] returns how many were used.
   flushes: to be taken out of the bursts.
   overhead: ns of the tracer after each call, to be taken out as well; cpu_overhead: of cpu.
   left_out: (n procedures) int64, counts global operations on communicators that are not defined.

   out must hold 320 bytes for each call, 160 for each request of both kinds and for each event. */
int64_t dim_records(int64_t *walk, int32_t task, const void *calls, int64_t n, const int64_t *cpu, const int32_t *plan,
                    const int32_t *comm_id, const int8_t *defined, const void *posted, int64_t n_posted,
                    const void *done, const void *started, int64_t n_done, void *events, int64_t n_events,
                    const void *flushes, int64_t n_flushes, int64_t overhead, int64_t cpu_overhead, int64_t *left_out,
                    char *out);

#endif
