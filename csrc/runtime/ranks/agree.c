#include "ranks/agree.h"

#include <inttypes.h>
#include <string.h>

#include "buffer/counter_set.h"
#include "buffer/own_time.h"
#include "common/user_message.h"
#include "counters/counters.h"
#include "mpi/pmpi.h"
#include "node/start_sampler.h"
#include "ranks/overhead.h"
#include "ranks/sync.h"
#include "record/rank_file.h"
#include "record/thread.h"

struct agreement {
    char stem[PATH_MAX];
    bool first; /* the ranks have not met before, as rank 0 remembers it */
};

bool agree_on_name(int rank, char stem[PATH_MAX])
{
    static bool met;
    struct agreement a = {.first = rank == 0 && !__atomic_exchange_n(&met, true, __ATOMIC_RELAXED)};
    memcpy(a.stem, stem, sizeof a.stem);
    pmpi.Bcast(&a, sizeof a, abi.byte, 0, all_ranks);
    memcpy(stem, a.stem, sizeof a.stem);
    return a.first;
}

/* Also a rank that has no file takes part. */
void agree_clocks(int rank, int size)
{
    if (!store_begin()) return;
    int error = sync_measure(rank_file_store(), rank, size);
    if (error) rank_file_failed(error);
    store_end();
}

/* This thread goes over to the counters that the ranks have decided on. */
static void start_counters(int rank, int size)
{
    if (!store_begin()) return;
    counters_started(rank_file_store(), rank, size);
    store_end();
    if (thread_gate(&self) == GATE_INSIDE) thread_change_set(&self);
}

/* This thread is inside a call; it may also be one that is not recorded. */
static void measure_overhead(int rank, word comm)
{
    struct overhead overhead = {0, 0};
    if (thread_gate(&self) == GATE_INSIDE) overhead = overhead_measure(&self, comm);
    if (!store_begin()) return;
    own_time_measured(rank_file_store(), overhead.ticks, overhead.cpu_ns);
    store_end();
    debug("rank %d: the tracer takes %" PRIu64 " ticks between two calls", rank, overhead.ticks);
}

void agree_measure(const char *stem, int rank, int size, word comm)
{
    agree_clocks(rank, size);
    sampler_start(stem, rank, size);
    start_counters(rank, size);
    measure_overhead(rank, comm);
}
