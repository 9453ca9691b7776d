/* Turns one rank's calls into operations: what it computes and communicates, without the times of the network. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdint.h>

/* Where a walk over the calls of one rank stands: it goes on from window to window. */
struct op_walk;

/* What calls become, for all windows.

   call: (n_procedures, 2) int32, what a call becomes (`enum op_plan`) and its flags or operation.
   defined: whether collective operations may name a communicator, after that of the world. Operations name
   communicators by their index in the trace + 1; 0 is the world.
   first_channel: an id that no communicator has, and those after it stand for partitioned messages: `channels` for each
   ordinal, one for each communicator.
   by_turns: collectives of this communicator are called by several threads of the rank. NULL: none is.
   lost: (n_procedures + 1) whether calls move data and become nothing. left_out: (n_procedures) int64, counts these,
   and collective operations on communicators that are not defined. first_window: an id that no communicator and no
   partitioned message has; those after it stand for messages of windows. start_waits: MPI_Win_start waits for the
   posts, else MPI_Win_complete does. */
struct op_plans {
    const int32_t *call;
    int64_t n_procedures;
    int32_t first_channel, channels;
    int32_t first_window, start_waits;
    const int8_t *defined, *by_turns;
    const uint8_t *lost;
    int64_t *left_out;
};

/* The rows of a window of time. Of a walk over n threads, those of thread t are [first[t], first[t + 1]) of done,
   events and flushes, and thread t has all of its calls; `first` has n + 1 entries.

   cpu: CPU time before each call; -1 unknown: what the clock says counts; -2: a run of polls. NULL: none is known.
   window: by call, the communicator that stands for the window it is on; 0: none. NULL: all 0, and the next three, too.
   detail: by call on a window, as in the trace. first_partner, partners: the ranks that it tells, or waits for, are
   partners[first_partner[k]] to partners[first_partner[k + 1]] of call k.
   message: by call, which of several alike the message that it sends or receives is; 0: the next one. NULL: all 0.
   posted: requests in order of posting, `reserved` as in `message`; done: in order of completion.
   events: of the program, in order of time (struct program_event, its `at` -1). They cut the burst in which they lie:
   where, is in `at`, if the burst was measured and goes on in another window.
   flushes: of all windows; to be taken out of the bursts.
   calls: NULL: they, and requests, come from elsewhere (translate.h); cpu, window and message are NULL then. */
struct op_rows {
    const void *calls;
    int64_t n_calls;
    const int64_t *cpu;
    const int32_t *window, *detail, *partners;
    const int64_t *first_partner;
    const int32_t *message;
    const void *posted;
    int64_t n_posted;
    const void *done;
    const int64_t *first_done;
    void *events;
    const int64_t *first_event;
    const void *flushes;
    const int64_t *first_flush;
};

/* The first burst of thread t begins at begin[t] (ns). overhead: ns of the tracer after each call, which is no
   computation; cpu_overhead: of CPU time. n_comms: of the plans. NULL: no memory. */
struct op_walk *op_walk_open(int32_t rank, int32_t n_threads, const int64_t *begin, int64_t n_comms, int64_t overhead,
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

/* Format operations as records of a Dimemas trace ("Dimemas 5.5.0 input format"); returns the bytes written to `out`,
   which must hold 320 for each. comm_id: Dimemas id of the world, then of each communicator. */
int64_t dim_text(const void *operations, int64_t n, int32_t task, int32_t thread, const int32_t *comm_id, char *out);

#endif
