/* Calls of which only times and the communicator are stored. */
#include "calls/timed.h"

#include "calls/internal/call_path.h"
#include "calls/internal/polls.h"
#include "calls/internal/rows.h"
#include "handles/comms.h"

static struct file_call timed_row(const struct frame *f, word comm)
{
    struct file_call row = plain_row(f);
    if (f->result == 0 && comm != abi.comm_null) row.comm = comms_find(comm)->index;
    return row;
}

void record_timed(const struct frame *f, word comm)
{
    thread_store_call(f->t, timed_row(f, comm));
}

void record_poll(const struct frame *f)
{
    thread_count_poll(f->t, f->call, f->enter, f->exit);
}

void record_asked(const struct frame *f, word comm, const uint64_t *frame)
{
    struct file_call row = timed_row(f, comm);
    bool may_share = f->result == 0;
    if (!may_share || !thread_shares_row(f->t, &row)) call_path_note(f->t, frame);
    if (may_share && thread_is_repeated(f->t, &row))
        record_poll(f);
    else
        thread_store_call(f->t, row);
}
