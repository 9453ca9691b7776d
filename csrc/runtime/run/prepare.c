#include "run/internal/prepare.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "buffer/buffer_shares.h"
#include "clock/clock.h"
#include "clock/resolution.h"
#include "clock/start.h"
#include "counters/counters.h"
#include "mpi/early.h"
#include "places/places.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "record/space_limit.h"
#include "record/threads.h"
#include "run/internal/counter_sampler.h"
#include "sampling/sampling.h"
#include "select/on_off.h"

static pid_t prepared_process;

/* The file and the spools are the parent's; the child is not traced. */
static void forked(void)
{
    threads_disown();
    phase_enter(PHASE_UNTRACED);
    rank_file.store.fd = -1;
    counter_sampler_forget();
    sampling_forget();
    places_forked();
}

bool run_is_disabled(void)
{
    const char *disable = getenv("TRACELIB_DISABLE");
    return disable && disable[0] && disable[0] != '0';
}

static void prepare(void)
{
    if (run_is_disabled()) return;
    start_of_process();
    limit_start();
    division_prepare();
    switch_start();
    clock_check();
    resolution_find();
    pthread_atfork(NULL, NULL, forked);
    prepared_process = getpid();
    counters_prepare();
    places_prepare();
    sampling_prepare(counter_sampler_prepare());
    phase_enter(PHASE_PREPARED);
}

bool run_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!early_is_over()) return false;
    pthread_once(&once, prepare);
    return phase_is_traced();
}

bool run_is_own_process(void)
{
    return getpid() == prepared_process;
}
