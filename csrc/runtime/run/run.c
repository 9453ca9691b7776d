#define _GNU_SOURCE
#include "run/run.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "buffer/totals.h"
#include "clock/clock.h"
#include "common/settings.h"
#include "common/user_message.h"
#include "counters/counters.h"
#include "handles/comms.h"
#include "handles/requests.h"
#include "handles/sessions.h"
#include "mpi/detect.h"
#include "mpi/early.h"
#include "mpi/pmpi.h"
#include "mpi/resolve.h"
#include "node/start_sampler.h"
#include "ranks/agree.h"
#include "ranks/closing_line.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "record/threads.h"
#include "run/internal/close.h"
#include "run/internal/counter_sampler.h"
#include "run/internal/opening.h"
#include "run/internal/prepare.h"
#include "run/internal/thread_recording.h"
#include "sampling/sampling.h"
#include "select/on_off.h"

static void refuse_mpi(const char *why)
{
    debug("not traced: %s", why);
    if (resolve_speaks()) say("%s; the program runs untraced (tracelib doctor tells more)", why);
    if (phase_reached() == PHASE_ALONE) run_close(STATE_EXITED);
    phase_enter(PHASE_REFUSED);
    threads_shut();
}

static void meet_mpi(void)
{
    char why[UNKNOWN_MPI_ROOM];
    bool known = detect_mpi(why) && pmpi_resolve(); /* stand-ins for what the MPI lacks need it even untraced */
    if (!run_prepare()) return;
    if (known)
        debug("MPI is %s", abi.name);
    else
        refuse_mpi(why);
}

void run_meet_mpi(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (early_is_over()) pthread_once(&once, meet_mpi);
}

void run_started(void)
{
    char why[UNKNOWN_MPI_ROOM];
    if (!phase_is_traced() || phase_reached() == PHASE_WORLD) return;
    if (!detect_confirms(why)) {
        refuse_mpi(why);
        return;
    }
    if (!store_begin()) return;
    bool had_session = phase_reached() == PHASE_SESSIONS;
    phase_enter(PHASE_WORLD);
    store_end();
    char own[PATH_MAX], agreed[PATH_MAX];
    memcpy(own, run.stem, sizeof own);
    all_ranks = abi.world;
    pmpi.Comm_rank(abi.world, &rank_file.rank);
    pmpi.Comm_size(abi.world, &run.size);
    pmpi.Query_thread(&run.thread_level);
    comms_know_world();
    settings_tell(rank_file.rank == 0);
    if (!had_session) requests_start(run.thread_level == abi.thread_multiple);
    if (rank_file.rank == 0 && !run.stem[0]) opening_reserve(false);
    run.first = rank_file.rank == 0;
    memcpy(agreed, run.stem, sizeof agreed);
    bool first_meeting = agree_on_name(rank_file.rank, agreed);
    if (!agreed[0]) {
        run_close(STATE_EXITED); /* what came before MPI_Init has no place to go either */
        phase_enter(PHASE_REFUSED);
        thread_set_gate(&self, GATE_SHUT);
        return;
    }
    if (store_begin()) {
        memcpy(run.stem, agreed, sizeof run.stem);
        opening_with_mpi(own);
        store_end();
    }
    if (first_meeting) agree_measure(run.stem, rank_file.rank, run.size, abi.world);
    if (!had_session) switch_start_clock();
    counter_sampler_start(rank_file.rank == 0);
    sampling_start(rank_file.rank == 0);
}

/* Hold the disk space that the last blocks will need, so that the closing line can say whether they are lost. Returns
 * true if they are. */
static bool hold_room(uint64_t waiting_bytes)
{
    enum { METADATA_BYTES = 1 << 17 }; /* and one more page for each table */
    struct store *store = rank_file_store();
    int error = store ? store_hold_room(store, waiting_bytes + METADATA_BYTES) : 0;
    if (error) rank_file_failed(error);
    return rank_file.error;
}

uint64_t run_finalizing(void)
{
    static bool asked;
    struct counting_pause pause;
    uint64_t bytes = 0, entered = run_prepare() ? clock_ticks() : 0;
    bool recorded = false; /* this call */
    bool failed = false;   /* the disk is full: it is lost */
    self.finalizing = true;
    if (!phase_is_traced() || phase_reached() != PHASE_WORLD || asked) return entered;
    asked = true;
    all_ranks = abi.world;
    counting_hold(&self, &pause);
    agree_clocks(rank_file.rank, run.size);
    uint64_t waiting = threads_totals().waiting_bytes;
    if (store_begin()) {
        bytes = store_bytes(&rank_file.store);
        recorded = thread_gate(&self) != GATE_SHUT && switch_is_on();
        failed = hold_room(waiting);
        store_end();
    }
    closing_line_gather(rank_file.rank, run.size, bytes, recorded, failed);
    counting_resume(&self, &pause);
    return entered;
}

void run_finalized(void)
{
    if (!phase_is_traced() || phase_reached() != PHASE_WORLD) return;
    switch_join(&self);
    run_close(STATE_FINALIZED);
    sampler_check();
    if (rank_file.rank == 0) closing_line_say(run.size, run.stem);
}

void run_aborting(void)
{
    if (phase_is_traced() && phase_reached() >= PHASE_SESSIONS) run_close(STATE_EXITED);
}

static void finish_file(void)
{
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    if (store) store_finish(store);
    if (phase_reached() == PHASE_ALONE) closing_line_say_alone(&rank_file.store, run.stem);
    if (phase_reached() == PHASE_SESSIONS && rank_file.rank == 0 && store)
        closing_line_say_rank(store, run.size, run.stem);
    store_end();
}

void run_leave(bool last)
{
    if (!phase_is_traced() || !run_is_own_process()) return;
    bool closed = phase_is_closed(); /* MPI_Abort may end in exit() */
    rank_file_demand();
    enum phase reached = phase_reached();
    if (reached == PHASE_ALONE) {
        run_close(STATE_FINALIZED);
    } else if (reached >= PHASE_SESSIONS) {
        bool ended = reached == PHASE_SESSIONS && !sessions_are_open();
        run_close(closed ? run_end_state() : ended ? STATE_FINALIZED : STATE_EXITED);
    } else if (threads_close() && store_begin()) {
        threads_remove_spools(); /* no MPI and no file: nothing to keep */
        store_end();
    }
    if (last) finish_file();
}
