#include "calls/internal/aborting.h"

#include "calls/internal/rows.h"
#include "clock/clock.h"
#include "counters/counters.h"
#include "handles/comms.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "run/run.h"

static bool under_way;

/* Attributes take one write each, without the lock. The time, which says that there was an abort, comes last. */
static void note(uint64_t ticks, int code, uint32_t comm)
{
    struct store *store = rank_file_store();
    if (!store) return;
    store_put_integer(store, AT_ABORT_CODE, (uint64_t)(int64_t)code);
    store_put_integer(store, AT_ABORT_COMM, comm);
    store_put_integer(store, AT_ABORT_TICKS, ticks);
}

static bool has_room_for_abort(const struct thread *t)
{
    return t->spool->count[TABLE_CALLS] < t->capacity[TABLE_CALLS];
}

/* A call of no duration: how long it takes, nobody will know. */
static void record(struct thread *t, uint16_t call, uint64_t ticks, uint32_t comm)
{
    if (!has_room_for_abort(t)) thread_flush(t);
    if (!has_room_for_abort(t)) return;
    if (t->readings) {
        counting_enter(t);
        counting_exit(t);
    }
    thread_store_call(
        t, (struct file_call){.enter = ticks, .exit = ticks, .call = call, .comm = comm, .peer = PEER_NONE, .tag = -1});
}

void aborting_begin(struct thread *t, bool recorded, uint16_t call, int code, word comm)
{
    if (!phase_is_recording() || __atomic_exchange_n(&under_way, true, __ATOMIC_RELAXED)) return;
    uint64_t now = clock_ticks();
    uint32_t index = comms_index_soon(comm);
    store_hurry(true);
    note(now, code, index);
    if (recorded) record(t, call, now, index);
    run_aborting();
}

void aborting_end(void)
{
    store_hurry(false);
    __atomic_store_n(&under_way, false, __ATOMIC_RELAXED);
}
