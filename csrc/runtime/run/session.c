#include "run/session.h"

#include <limits.h>
#include <string.h>

#include "buffer/buffer.h"
#include "common/settings.h"
#include "handles/sessions.h"
#include "mpi/pmpi.h"
#include "ranks/agree.h"
#include "ranks/sync.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "run/internal/counter_sampler.h"
#include "run/internal/opening.h"
#include "sampling/sampling.h"
#include "select/on_off.h"

/* Between store_begin and store_end. */
static void start_session_file(void)
{
    char own[PATH_MAX];
    memcpy(own, run.stem, sizeof own);
    if (!sessions_place(&rank_file.rank, &run.size)) return;
    run.thread_level = abi.thread_multiple; /* another session may have another */
    settings_tell(rank_file.rank == 0);
    bool alone = phase_now() == PHASE_ALONE;
    phase_enter(PHASE_SESSIONS);
    if (opening_reserve(!alone)) opening_with_mpi(own);
    switch_start_clock();
    counter_sampler_start(rank_file.rank == 0);
    sampling_start(rank_file.rank == 0);
}

void run_session_opened(word session)
{
    sessions_opened(session);
    if (!phase_is_traced() || !store_begin()) return;
    if (phase_now() == PHASE_PREPARED || phase_now() == PHASE_ALONE) start_session_file();
    struct store *store = phase_is_closed() ? NULL : rank_file_store();
    if (store) store_put_integer(store, AT_STATE, STATE_RECORDING);
    store_end();
}

/* Once, and whether or not MPI_Init was called: threads may be in both, in another order on other ranks. */
void run_session_joined(word comm)
{
    static bool joined;
    char stem[PATH_MAX];
    int size = 0;
    word ours;
    pmpi.Comm_size(comm, &size);
    if (!phase_is_traced() || size != run.size || __atomic_exchange_n(&joined, true, __ATOMIC_RELAXED)) return;
    if (!sessions_join(&ours)) return;
    word before = all_ranks;
    all_ranks = pmpi_handle(&ours);
    memcpy(stem, run.stem, sizeof stem);
    if (agree_on_name(rank_file.rank, stem)) {
        agree_measure(stem, rank_file.rank, run.size, comm);
        sync_forget();
    }
    all_ranks = before;
    pmpi.Comm_free(&ours);
}

void run_session_closing(word session)
{
    sessions_closing(session);
}

/* There may be another session later, or this was the last. */
void run_session_closed(void)
{
    if (!phase_is_traced() || phase_reached() != PHASE_SESSIONS || sessions_are_open()) return;
    thread_flush(&self);
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    if (store) store_put_integer(store, AT_STATE, STATE_FINALIZED);
    store_end();
}
