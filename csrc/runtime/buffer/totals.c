#include "buffer/totals.h"

#include "buffer/block.h"
#include "record/rank_file.h"
#include "record/space_limit.h"
#include "record/store.h"

/* After the limit or a full disk has stopped the recording, what waits is lost. */
static bool is_lost(void)
{
    return limit_stopped() || rank_file.error;
}

static void add_thread_totals(struct thread *t, void *data)
{
    struct totals *sum = data;
    struct waiting w = block_waiting(t);
    sum->calls += t->calls + w.calls;
    sum->lost_calls += t->lost_calls + (is_lost() ? w.calls : 0);
    sum->lost_rows += t->lost_rows;
    sum->left_out_calls += t->left_out_calls;
    sum->waiting_bytes += is_lost() ? 0 : block_bytes(&w);
}

struct totals threads_totals(void)
{
    struct totals sum = {0};
    if (!store_begin()) return sum;
    sum = threads_gone();
    threads_each(add_thread_totals, &sum);
    store_end();
    return sum;
}
