/* State of the walk over a rank's calls, and the writing of operations, for all files of the walk. */
#ifndef OP_WALK_H
#define OP_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "operations/op_rows.h"
#include "operations/partitioned.h"
#include "operations/slots.h"
#include "records.h"
#include "replay.h"

/* Semaphores of the rank: 1 to 65535 begin threads, the next 65536 end them (analyzer/operations/threads.py). */
enum { TURNS = 1 << 20, SHARED_REQUESTS = 1 << 30 };

/* Operations and locks that are not what they look like until a later call. */
struct window_rest {
    struct op *at;
    size_t n, room;
};

/* State of a thread. */
struct op_thread {
    int64_t at;      /* ns: end of its last call */
    int64_t held;    /* ns: until then the tracer held it; the next burst begins there */
    int64_t waiting; /* bursts before polls, until the call after them tells their CPU time */
    int64_t burst;   /* not yet part of an operation */
    int64_t next_flush;
    uint32_t number;
    bool open;  /* the call before the next burst has no operation yet */
    bool first; /* the next operation is the first of its call */
};

/* Requests in order of time, some of them in memory. more: reads on; false: there are no more. NULL: those are all. */
struct request_source {
    const struct trace_request *next, *end;
    bool (*more)(struct request_source *source);
};

/* Where a walk stands in the rows of one thread: of its events, the first `next` are written, the first `placed` have
   an `at`. */
struct op_cursor {
    struct request_source *done, rows; /* `done` is `rows` or a source of somebody else's */
    int64_t next, placed;
};

/* The input of a walk. */
struct op_feed {
    const struct op_plans *plans;
    const struct op_rows *rows;
    struct request_source *posted;
    struct op_cursor *cursors; /* of each thread */
};

struct op_walk {
    int32_t rank, n_threads;
    int64_t cpu_overhead;
    int64_t entered; /* of the call before, of any thread */
    struct op_thread *threads;
    struct slots slots;
    struct partitioned partitioned;
    struct window_rest deferred;  /* to targets that have not posted yet */
    struct window_rest unchecked; /* locks with MPI_MODE_NOCHECK, which nobody waits for */
    int32_t *turn; /* by communicator whose collectives several threads call: the semaphore of the next one */
    int32_t turns;
    struct op *out, *end;
    void (*full)(struct op_walk *walk); /* makes room when `out` is at the end; NULL: there is room for all */
    void *context;                      /* whose `full` it is */
    bool failed;
};

/* Return the next request of a source; NULL: there is none. */
static inline const struct trace_request *next_request(struct request_source *source)
{
    return source->next < source->end || (source->more && source->more(source)) ? source->next : NULL;
}

/* Write an operation of a thread, with the burst before it. */
static inline void op_put(struct op_walk *walk, struct op_thread *thread, struct op op)
{
    if (op.kind != OP_EVENT && !(op.flags & OP_BETWEEN_CALLS)) {
        if (thread->first) op.flags |= OP_FIRST;
        thread->first = thread->open = false;
    }
    op.burst = thread->burst;
    op.block = thread->number;
    thread->burst = 0;
    if (walk->out == walk->end) walk->full(walk);
    *walk->out++ = op;
}

/* Write an operation on a semaphore of the rank. */
static inline void op_put_semaphore(struct op_walk *walk, struct op_thread *thread, enum op_kind kind, int64_t number)
{
    op_put(walk, thread, (struct op){.kind = (uint16_t)kind, .tag = (int32_t)number, .peer = -1, .request = -1});
}

/* Open a request that `completer` will complete; NULL: no memory, and the walk has failed. */
static inline struct open_request *op_open(struct op_walk *walk, const struct op_thread *thread, int64_t posted,
                                           int32_t peer, int32_t tag, int32_t comm, int32_t completer)
{
    bool shared = walk->n_threads > 1 && completer != (int32_t)thread->number;
    struct open_request *request = slots_take(&walk->slots, posted, peer, tag, comm, shared);
    walk->failed |= !request;
    return request;
}

/* Write the operation that opens a request, and name its slot. If another thread completes the request, that thread
   must not wait before it is posted: a semaphore orders the two. */
static inline void op_put_opening(struct op_walk *walk, struct op_thread *thread, struct op op,
                                  const struct open_request *request)
{
    op.request = request->slot;
    if (request->shared) op.flags |= OP_SHARED;
    op_put(walk, thread, op);
    if (request->shared) op_put_semaphore(walk, thread, OP_SEM_SIGNAL, SHARED_REQUESTS + (int64_t)op.request);
}

/* Write the operation that waits for a request. */
static inline void op_put_wait(struct op_walk *walk, struct op_thread *thread, struct op op,
                               const struct open_request *request)
{
    op.kind = OP_WAIT;
    op.request = request->slot;
    if (request->shared) {
        op.flags |= OP_SHARED;
        op_put_semaphore(walk, thread, OP_SEM_WAIT, SHARED_REQUESTS + (int64_t)op.request);
    }
    op_put(walk, thread, op);
}

/* Return the WHAT_... of a request, without the ordinal of partitioned operations. */
static inline unsigned op_what_of(const struct trace_request *r)
{
    return (unsigned)r->what & ((1u << WHAT_ORDINAL_SHIFT) - 1);
}

/* Return true if a request reads or writes a file. */
static inline bool op_is_of_file(const struct trace_request *r)
{
    return r->what == WHAT_READ_DONE || r->what == WHAT_WRITE_DONE;
}

#endif
