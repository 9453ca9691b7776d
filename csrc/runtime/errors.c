/* Errors that calls return to the program. */
#include "decode.h"
#include "pmpi.h"
#include "run.h"

/* At the exit of the call, but never before what the thread has noted last (a flush may have come between). */
void record_error(const struct frame *f)
{
    int class;
    if (!run_is_recording() || pmpi.Error_class(f->result, &class)) return;
    struct file_event *row = thread_row(f->t, TABLE_EVENTS);
    uint64_t time = f->exit;
    if (f->t->spool->count[TABLE_EVENTS] > 0 && row[-1].time > time) time = row[-1].time;
    thread_store_event(f->t, time, ERROR_TYPE, abi_error_class(class));
}
