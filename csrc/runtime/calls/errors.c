/* Errors that calls return to the program. */
#include "calls/decode.h"
#include "mpi/pmpi.h"
#include "record/phase.h"

/* What a callback of the program has failed with (of attributes, of generalized requests) is returned as it is,
 * whatever number it may be. */
static int class_of(int error)
{
    int class;
    bool may_ask = !abi.last_error || (error >= 0 && error <= *abi.last_error);
    return may_ask && pmpi.Error_class(error, &class) == 0 ? class : error;
}

bool has_received(const struct frame *f)
{
    enum { TRUNCATE = 15 }; /* as the standard ABI numbers classes */
    return f->result == 0 || abi_error_class(class_of(f->result)) == TRUNCATE;
}

/* At the exit of the call, but never before what the thread has noted last (a flush may have come between). */
void record_error(const struct frame *f)
{
    if (!phase_is_recording()) return;
    int class = class_of(f->result);
    struct file_event *row = thread_row(f->t, TABLE_EVENTS);
    uint64_t time = f->exit;
    if (f->t->spool->count[TABLE_EVENTS] > 0 && row[-1].time > time) time = row[-1].time;
    thread_store_event(f->t, time, ERROR_TYPE, abi_error_class(class));
}
