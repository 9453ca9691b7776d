#ifndef OP_STEP_H
#define OP_STEP_H
/* A step of the walk: the burst, the requests that the call posts, the call, the requests that it completes. Walks
   that know more of their calls than others include it to have it compiled for their case. */

#include "operations/internal/left_out.h"
#include "operations/internal/op_walk.h"
#include "operations/internal/operation_calls.h"

/* Special values of the CPU time before a call: the clock's time counts; the next call tells it. */
enum { CPU_UNKNOWN = -1, CPU_LATER = -2 };

/* An event of the program. Types PROGRAM_SIGNAL and PROGRAM_WAIT: a semaphore with the number `value`. */
struct program_event {
    int64_t time;
    int64_t type;
    int64_t value;
    int64_t at; /* ns of the burst before it, by the clock; -1: not known yet */
    int64_t thread;
};

/* A burst from `begin` to `end` (ns by the clock), of which `before` ns have passed at `begin`, and `after` at
   `end`. */
struct op_burst {
    int64_t begin, end, before, after;
};

/* Note the places of events in a burst. */
void op_place_events(const struct op_rows *rows, struct op_thread *thread, struct op_cursor *cursor,
                     struct op_burst burst);

/* Write the events of a burst that took `wall` ns by the clock and counts as `ns`. The events cut the burst; the
   parts sum up to `ns`. Returns the ns before the last event. */
int64_t op_put_events(struct op_walk *walk, const struct op_rows *rows, struct op_thread *thread,
                      struct op_cursor *cursor, int64_t wall, int64_t ns);

/* Return the ns of [begin, end) that n flushes took. The flushes before it are passed for good. */
int64_t op_flushed_by(const struct op_rows *rows, struct op_thread *thread, int64_t n, int64_t begin, int64_t end);

/* End the call before the next burst: a call without any operation takes no time. */
static inline void op_end_call(struct op_walk *walk, struct op_thread *thread)
{
    if (thread->open) op_put(walk, thread, (struct op){.kind = OP_NONE, .peer = -1, .request = -1});
}

/* Write the requests that the last call of the thread completed. A request that the call before this one both posted
   and completed has posted == walk->entered. */
static inline void op_put_completed(struct op_walk *walk, const struct op_plans *plans, struct op_thread *thread,
                                    struct request_source *done)
{
    const struct trace_request *row;
    for (; (row = next_request(done)) && row->completed <= thread->at && row->posted <= walk->entered; done->next++)
        op_put_done(walk, thread, plans, row);
}

/* Return the ns of [begin, end) that flushes took. */
static inline int64_t op_flushed(const struct op_rows *rows, struct op_thread *thread, int64_t begin, int64_t end)
{
    int64_t n = rows->first_flush[thread->number + 1];
    return thread->next_flush == n ? 0 : op_flushed_by(rows, thread, n, begin, end);
}

/* Return the ns that a burst counts as, from `measured` ns of CPU time (-1: unknown) and `wall` ns by the clock. No
   thread computes longer than time passes: MPI spent the excess in the failing polls between two readings. */
static inline int64_t op_burst_of(const struct op_walk *walk, int64_t measured, int64_t wall)
{
    int64_t ns = measured - walk->cpu_overhead;
    return measured < 0 || ns > wall ? wall : ns;
}

/* Add the computation before a call to the thread's burst, and write the events in it. */
static inline void op_put_computation(struct op_walk *walk, const struct op_rows *rows, struct op_thread *thread,
                                      struct op_cursor *cursor, int64_t enter, int64_t measured)
{
    int64_t begin = thread->held, before = thread->waiting, after = before;
    int64_t wall = enter - begin - op_flushed(rows, thread, begin, enter);
    if (wall > 0) after += wall;
    int64_t ns = measured == CPU_LATER ? 0 : op_burst_of(walk, measured, after);
    thread->waiting = measured == CPU_LATER ? after : 0;
    if (cursor->next < rows->first_event[thread->number + 1]) {
        op_place_events(rows, thread, cursor, (struct op_burst){begin, enter, before, after});
        if (measured != CPU_LATER) ns -= op_put_events(walk, rows, thread, cursor, after, ns);
    }
    if (ns > 0) thread->burst += ns;
}

/* Write the requests that the call posted. Returns the thread that completes the collective, one-sided operation or
   operation on a file that the call begins. */
static inline int32_t op_put_all_posted(struct op_walk *walk, const struct op_plans *plans, struct op_thread *thread,
                                        struct request_source *posted, int64_t entered)
{
    const struct trace_request *row;
    int32_t completer = (int32_t)thread->number;
    for (; (row = next_request(posted)) && row->posted <= entered; posted->next++) {
        unsigned what = op_what_of(row);
        bool ends_call = what == WHAT_COLLECTIVE_DONE || what == WHAT_RMA_DONE;
        if (ends_call || op_is_of_file(row)) completer = row->thread;
        if (!ends_call) op_put_posted(walk, thread, plans, row);
    }
    return completer;
}

/* Move the thread to the end of the call. */
static inline void op_pass(struct op_walk *walk, struct op_thread *thread, const struct trace_call *call)
{
    /* Computation between the calls of a folded row joins the next burst. */
    int64_t done_at = call->enter + call->inside, held = done_at + call->tracer;
    if (done_at > thread->at) thread->at = done_at;
    if (held > thread->held) thread->held = held;
    walk->entered = call->enter;
}

/* Do the step of thread `number`. measured: ns of CPU time before the call; message: as for op_put_call. */
static inline void op_step(struct op_walk *walk, const struct op_feed *feed, int32_t number,
                           const struct trace_call *call, int64_t measured, int64_t message)
{
    const struct op_plans *plans = feed->plans;
    struct op_thread *thread = &walk->threads[number];
    struct op_cursor *cursor = &feed->cursors[number];
    op_put_completed(walk, plans, thread, cursor->done);
    op_end_call(walk, thread);
    op_put_computation(walk, feed->rows, thread, cursor, call->enter, measured);
    thread->open = thread->first = true;
    int32_t completer = op_put_all_posted(walk, plans, thread, feed->posted, call->enter);
    if (plans->call[2 * call->call] != PLAN_NOTHING) op_put_call(walk, thread, feed, call, message, completer);
    if (plans->lost[call->call]) op_leave_out(plans, call);
    op_pass(walk, thread, call);
}

#endif
