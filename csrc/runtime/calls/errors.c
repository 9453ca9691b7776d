/* Errors that calls return to the program. */
#include "calls/errors.h"

#include "calls/internal/rows.h"
#include "counters/counters.h"
#include "mpi/pmpi.h"
#include "record/phase.h"

/* Return the class of an error. A failing callback of the program (of attributes, of generalized requests) has its code
 * returned as it is, whatever number that may be. */
static int class_of_error(int error)
{
    int class;
    bool may_ask = !abi.last_error || (error >= 0 && error <= *abi.last_error);
    return may_ask && pmpi.Error_class(error, &class) == 0 ? class : error;
}

bool has_received(const struct frame *f)
{
    enum { TRUNCATE = 15 }; /* as the standard ABI numbers classes */
    return f->result == 0 || abi_error_class(class_of_error(f->result)) == TRUNCATE;
}

/* At the exit of the call, but never before what the thread has noted last (a flush may have come between). */
static void store_error(struct thread *t, uint64_t exit, int64_t class)
{
    struct file_event *row = thread_row(t, TABLE_EVENTS);
    uint64_t time = exit;
    if (t->spool->count[TABLE_EVENTS] > 0 && row[-1].time > time) time = row[-1].time;
    thread_store_event(t, time, ERROR_TYPE, class);
}

void record_error(const struct frame *f)
{
    if (phase_is_recording()) store_error(f->t, f->exit, abi_error_class(class_of_error(f->result)));
}

/* When it was left, and what it has done until then, nobody knows: it takes no time. */
void record_left(struct thread *t)
{
    if (!phase_is_recording()) return;
    const struct frame f = {
        .t = t, .enter = t->spool->entered, .exit = t->spool->entered, .call = (uint16_t)t->spool->entered_call};
    const uint32_t path = t->path;
    t->path = (uint32_t)t->spool->entered_path;
    if (t->readings) counting_left(t);
    store_error(t, f.exit, CALL_WAS_LEFT);
    thread_store_call(t, plain_row(&f));
    t->path = path;
}
