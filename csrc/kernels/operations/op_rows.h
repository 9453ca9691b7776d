/* The rows and plans that a walk over the calls of one rank reads. */
#ifndef OP_ROWS_H
#define OP_ROWS_H

#include <stdint.h>

/* Kinds of operations that a call becomes. Calls on windows are PLAN_FENCE, and PLAN_ACCESS_PUT to PLAN_WIN_UNLOCK. */
enum op_plan {
    PLAN_NOTHING,
    PLAN_SEND,
    PLAN_RECEIVE,
    PLAN_GLOBAL,
    PLAN_GLOBAL_START,
    PLAN_GLOBAL_ON_WORLD,
    PLAN_GLOBAL_INIT,
    PLAN_FENCE,
    PLAN_PART_READY,
    PLAN_ACCESS_PUT,
    PLAN_ACCESS_GET,
    PLAN_ACCESS_WAIT,
    PLAN_WIN_POST,
    PLAN_WIN_START,
    PLAN_WIN_COMPLETE,
    PLAN_WIN_WAIT,
    PLAN_WIN_LOCK,
    PLAN_WIN_UNLOCK,
    PLAN_FILE,
};

/* The second number of a PLAN_FILE: an enum file_use, and whether all ranks that opened the file call it; whether it
   starts what a request completes; begins or ends a split collective. */
enum file_plan {
    FILE_ACCESS = 7,
    FILE_OF_ALL = 8,
    FILE_STARTS = 16,
    FILE_BEGINS = 32,
    FILE_ENDS = 64,
};

/* Types of events of the program that are semaphores. */
enum program_semaphore { PROGRAM_SIGNAL = -1, PROGRAM_WAIT = -2 };

/* The plan of each call, for all windows of time. Python owns all arrays.

   call: (n_procedures, 2) int32, the kind (`enum op_plan`) and its flags or operation.
   defined: by communicator, after that of the world: 1 if collective operations may name it. Operations name
   communicators by their index in the trace + 1; 0 is the world.
   first_channel: an id that no communicator has. It and the ids after it stand for partitioned messages: `channels` ids
   for each ordinal, one for each communicator.
   by_turns: by communicator: 1 if several threads of the rank call its collectives. NULL: none.
   file_comm: by communicator, after that of the world: the id that stands for it where its ranks meet for a file; 0:
   none.
   lost: (n_procedures + 1), 1 if the call moves data that no network moves.
   left_out: (n_procedures) int64, counts these calls, and collective operations on communicators that are not defined.
   left_out_ns: the time in them.
   first_window: an id that no communicator and no partitioned message has. It and the ids after it stand for messages
   of windows.
   start_waits: 1 if MPI_Win_start waits for the posts; 0: MPI_Win_complete does. */
struct op_plans {
    const int32_t *call;
    int64_t n_procedures;
    int32_t first_channel, channels;
    int32_t first_window, start_waits;
    const int8_t *defined, *by_turns;
    const int32_t *file_comm;
    const uint8_t *lost;
    int64_t *left_out, *left_out_ns;
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

#endif
