#include "run/internal/without_mpi.h"

#include "common/settings.h"
#include "counters/counters.h"
#include "mpi/resolve.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "run/internal/counter_sampler.h"
#include "run/internal/opening.h"
#include "run/internal/prepare.h"
#include "sampling/sampling.h"

static void open_alone(void)
{
    static bool tried;
    if (tried || phase_now() != PHASE_PREPARED || rank_file.store.fd >= 0) return;
    tried = true;
    run.size = 1;
    settings_tell(true);
    if (!opening_reserve(false)) return;
    opening_create();
    if (rank_file.store.fd < 0) return;
    phase_enter(PHASE_ALONE);
    counters_started_alone(&rank_file.store);
    counter_sampler_start(true);
    sampling_start(true);
}

static void create_on_demand(void)
{
    if (phase_now() != PHASE_PREPARED || !store_begin()) return;
    open_alone();
    store_end();
}

void run_wanted(void)
{
    rank_file_on_demand(create_on_demand);
    if (!resolve_mpi_expected()) rank_file_demand();
}

static void create_if_worth(void)
{
    if (sampling_was_worth_it()) create_on_demand();
}

/* A program without MPI, which `tracelib run --sample` has started: it gets a file when it has computed for a while, or
 * when it ends. Until then it may still become another program (exec). */
__attribute__((constructor)) static void begin_alone_at_load(void)
{
    bool directly;
    if (!setting_text("TRACELIB_ALONE") || !sampling_is_asked_without_mpi(&directly) || resolve_mpi_expected()) return;
    if (!run_prepare() || !sampling_is_wanted()) return;
    rank_file_on_demand(create_if_worth);
    sampling_start_alone(directly);
}
