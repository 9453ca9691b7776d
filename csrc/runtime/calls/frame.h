/* The call that a wrapper has made: who made it, when, and how it ended.
 *
 * Every function of this room whose first argument is a `struct frame` has one contract, unless it says otherwise. A
 * wrapper (csrc/generate/wrappers.py) calls it after MPI has returned, in the thread that made the call, inside of this
 * thread's gate and never in a signal handler. It takes no lock of the tracer for long: a full buffer takes that of the
 * store while it is written, a table of handles takes its own. It returns nothing and cannot fail: what has no room is
 * counted as lost. Arguments are canonical C values, whatever language the program is in: handles are words, integers
 * are integers. They were valid if `result` is 0. */
#ifndef FRAME_H
#define FRAME_H

#include "buffer/buffer.h"
#include "mpi/abi.h"

struct frame {
    struct thread *t;
    uint64_t enter, exit; /* ticks */
    int result;           /* as MPI returned it; MPI_SUCCESS is 0 in every MPI */
    uint16_t call;        /* number of the procedure */
    uint32_t path;        /* row of `paths`; t->path may be that of another call, made in it on another stack */
};

/* The row of a call without partner, as one has that failed: nothing was transferred. */
static inline struct file_call plain_row(const struct frame *f)
{
    return (struct file_call){.enter = f->enter, .exit = f->exit, .call = f->call, .peer = PEER_NONE, .tag = -1};
}

#endif
