#include "run/internal/thread_recording.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "buffer/block.h"
#include "buffer/buffer.h"
#include "buffer/buffer_shares.h"
#include "common/user_message.h"
#include "counters/counters.h"
#include "counters/trigger.h"
#include "places/places.h"
#include "record/phase.h"
#include "record/rank_file.h"
#include "record/spool.h"
#include "record/threads.h"
#include "select/on_off.h"

static pthread_key_t at_thread_exit;

/* The thread itself may be recording. What it records from here on is written at its next call or at exit. */
static void close_thread(struct thread *t, void *unused)
{
    (void)unused;
    switch_close(t);
    block_write(t, 0, true);
    for (int i = 0; i < BUFFERED_TABLES; i++) __atomic_store_n(&t->capacity[i], 0, __ATOMIC_RELAXED);
}

bool threads_close(void)
{
    if (!store_begin()) return false;
    threads_each(close_thread, NULL);
    store_end();
    return true;
}

/* Before MPI_Init no file is there yet: what the thread has recorded stays in memory until the run is closed. */
static bool stays_in_memory(struct thread *t)
{
    bool file_may_come = phase_now() == PHASE_PREPARED && rank_file.store.fd < 0;
    struct thread *kept = thread_rows_held(t) && file_may_come ? malloc(sizeof *kept) : NULL;
    if (!kept) return false;
    thread_end_polls(t);
    *kept = *t;
    kept->counting = NULL;
    kept->trigger = NULL;
    threads_replace(t, kept);
    return true;
}

static void leave_process(void *thread)
{
    struct thread *t = thread;
    if (thread_gate(t) == GATE_SHUT) return; /* a forked child: buffer and file are the parent's */
    thread_set_gate(t, GATE_SHUT);
    switch_leave(t);
    if (thread_rows_held(t)) rank_file_demand();
    if (!store_begin()) return;
    bool stays = stays_in_memory(t);
    if (!stays) {
        close_thread(t, NULL);
        spool_remove(t->index);
        threads_remove(t);
    }
    counting_end(t);
    trigger_close(t->trigger);
    if (!stays) spool_unmap(t->spool, t->spool_bytes);
    store_end();
    if (stays) return;
    free(t->handles.memory);
    free(t->statuses.memory);
    places_leave(t);
    free(t->summed.of_call);
}

/* A thread's memory goes with it: it must be told when that ends. */
static bool watch_end(struct thread *t)
{
    static bool watching;
    if (t->index == 0) watching = pthread_key_create(&at_thread_exit, leave_process) == 0;
    return watching && pthread_setspecific(at_thread_exit, t) == 0;
}

static bool number_thread(struct thread *t)
{
    static bool said;
    if (threads_number(&t->index)) return true;
    if (!said)
        say("rank %d: more than %d threads: calls of those above that number are only counted, not recorded",
            rank_file.rank, (int)SAMPLER_THREAD);
    said = true;
    return false;
}

static void divide_buffer(struct thread *t, bool samples)
{
    if (samples) {
        thread_divide_for_sampler(t);
        return;
    }
    counting_begin(t);
    t->trigger = trigger_open(t->index);
    thread_divide(t);
}

static bool join_run(struct thread *t, bool samples)
{
    t->spool_bytes = thread_buffer_bytes();
    if (!store_begin()) return false;
    t->tid = (int32_t)syscall(SYS_gettid);
    if (samples) t->index = SAMPLER_THREAD;
    bool numbered = samples || number_thread(t);
    t->spool = numbered && watch_end(t) ? spool_create(t->index, t->spool_bytes) : NULL;
    if (t->spool) {
        divide_buffer(t, samples);
        t->mode = switch_first_mode();
        threads_add(t);
    }
    store_end();
    return t->spool != NULL;
}

bool thread_join(struct thread *t)
{
    return join_run(t, false);
}

bool thread_join_as_sampler(void)
{
    thread_set_gate(&self, GATE_SHUT);
    if (!join_run(&self, true)) return false;
    thread_set_gate(&self, GATE_OPEN); /* its end is to be noticed */
    return true;
}
