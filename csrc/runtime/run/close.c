#include "run/internal/close.h"

#include "buffer/totals.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "record/space_limit.h"
#include "record/tasks_table.h"
#include "record/threads.h"
#include "run/internal/counter_sampler.h"
#include "run/internal/thread_recording.h"
#include "sampling/sampling.h"

static uint64_t end_state;

static void write_totals(const struct totals *totals)
{
    struct store *store = &rank_file.store;
    store_put_integer(store, AT_LOST_CALLS, totals->lost_calls);
    store_put_integer(store, AT_LOST_ROWS, totals->lost_rows);
    if (!rank_file.error) store_put_integer(store, AT_STATE, end_state);
}

/* A run may be closed again, at the end of the process: threads may be gone then. */
static int write_tasks_once(struct store *store)
{
    static bool written;
    if (written) return 0;
    written = true;
    return tasks_write(store);
}

/* The closing blocks need the room that was held for them. */
static bool give_room_back(void)
{
    if (!store_begin()) return false;
    store_give_room_back(&rank_file.store);
    store_end();
    return true;
}

void run_close(uint64_t state)
{
    counter_sampler_stop();
    sampling_stop();
    end_state = state;
    phase_enter(PHASE_CLOSED);
    if (!give_room_back() || !threads_close()) return;
    struct totals totals = threads_totals();
    if (!store_begin()) return;
    struct store *store = rank_file_store();
    int error = store ? limit_close(store) : 0;
    if (store && !error) error = write_tasks_once(store);
    if (error) rank_file_failed(error);
    if (rank_file.store.fd >= 0 && store_check(&rank_file.store, rank_file.path) == 0) write_totals(&totals);
    threads_remove_spools();
    store_end();
}

uint64_t run_end_state(void)
{
    return end_state;
}
