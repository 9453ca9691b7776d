/* What the walk over a rank's calls and what makes operations of them have in common. */
#ifndef OP_WALK_H
#define OP_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "operations.h"
#include "partitioned.h"
#include "records.h"
#include "replay.h"
#include "slots.h"

enum op_plan {
    NOTHING,
    SEND,
    RECEIVE,
    GLOBAL,
    GLOBAL_START,
    GLOBAL_ON_WORLD,
    GLOBAL_INIT,
    FENCE,
    PART_READY,
    ACCESS_PUT,
    ACCESS_GET,
    ACCESS_WAIT,
    WIN_POST,
    WIN_START,
    WIN_COMPLETE,
    WIN_WAIT,
    WIN_LOCK,
    WIN_UNLOCK,
};

/* What of a row of a trace a call on a window stands for. */
struct window_call {
    int32_t window; /* how operations name it; of one that is not known, its communicator */
    int32_t detail;
    bool is_known;
    const int32_t *partners; /* ranks whom the call tells, or waits for */
    int64_t n_partners;
};

/* Operations and locks that are not what they look like until a later call. */
struct window_rest {
    struct op *at;
    size_t n, room;
};

/* What has become of a thread. */
struct op_thread {
    int64_t at;      /* where the next burst begins */
    int64_t gap;     /* of the tracer before the next burst: 0 at first */
    int64_t waiting; /* bursts before polls, until the call after them tells their CPU time */
    int64_t burst;   /* not yet part of an operation */
    int64_t next_flush;
    uint32_t number;
    bool open;  /* the call before the next burst has no operation yet */
    bool first; /* the next operation is the first of its call */
};

struct op_walk {
    int32_t rank, n_threads;
    int64_t overhead, cpu_overhead;
    int64_t entered; /* of the call before, of any thread */
    struct op_thread *threads;
    struct slots slots;
    struct partitioned partitioned;
    struct window_rest deferred;  /* to targets that have not posted yet */
    struct window_rest unchecked; /* locks with MPI_MODE_NOCHECK, which nobody waits for */
    int32_t *turn; /* by communicator whose collectives several threads call: the semaphore of the next one */
    int32_t turns;
    struct op *out;
    bool failed;
};

/* One operation of a thread, with the burst before it. */
static inline void op_put(struct op_walk *walk, struct op_thread *thread, struct op op)
{
    if (op.kind != OP_EVENT && !(op.flags & OP_BETWEEN_CALLS)) {
        if (thread->first) op.flags |= OP_FIRST;
        thread->first = thread->open = false;
    }
    op.burst = thread->burst;
    op.block = thread->number;
    thread->burst = 0;
    *walk->out++ = op;
}

void op_put_semaphore(struct op_walk *walk, struct op_thread *thread, enum op_kind kind, int64_t number);

/* What a request stands for where it is posted or started, and where it is completed. */
void op_put_posted(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                   const struct trace_request *r);
void op_put_done(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                 const struct trace_request *r);

/* What a call stands for itself. message: which of several alike; completer: the thread that completes the collective
   or the one-sided operation that it begins. */
void op_put_call(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                 const struct trace_call *call, int64_t message, const struct window_call *window, int32_t completer);

/* The same of calls on windows, `kind` an enum op_plan from FENCE on. */
void op_put_on_window(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans,
                      const struct trace_call *call, const struct window_call *window, int32_t completer);
void op_put_access_done(struct op_walk *walk, struct op_thread *thread, const struct trace_request *r);

/* What both files need of each other. */
void op_put_opening(struct op_walk *walk, struct op_thread *thread, struct op op, struct open_request request,
                    int32_t completer);
void op_put_wait(struct op_walk *walk, struct op_thread *thread, struct op op, const struct open_request *request);
void op_put_global(struct op_walk *walk, struct op_thread *thread, const struct op_plans *plans, struct op op);

/* WHAT_... without the ordinal of partitioned operations. */
static inline unsigned op_what_of(const struct trace_request *r)
{
    return (unsigned)r->what & ((1u << WHAT_ORDINAL_SHIFT) - 1);
}

#endif
