/* Semaphores between the threads of a rank: the only shared memory primitive that is simulated (section 3.3). */
#include "match/semaphore.h"

#include <stdlib.h>

#include "state/fail.h"
#include "threads/running.h"

/* entry.key.a: its number. */
static struct semaphore *semaphore_of(struct sim *sim, struct thread *thread)
{
    struct key key = {.a = (uint64_t)thread->op->tag};
    struct rank *rank = &thread->app->ranks[thread->rank];
    struct semaphore *semaphore = table_find_or_add(&rank->semaphores, &key, &sim->semaphores);
    if (!semaphore) fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
    if (semaphore && !semaphore->last) semaphore->last = &semaphore->waiting;
    return semaphore;
}

/* Nobody waits for it and it counts nothing: programs may have one for each of millions of events. */
static void forget_semaphore_if_idle(struct sim *sim, const struct thread *thread, struct semaphore *semaphore)
{
    if (semaphore->count || semaphore->waiting) return;
    table_remove(&thread->app->ranks[thread->rank].semaphores, &semaphore->entry);
    pool_give(&sim->semaphores, semaphore);
}

void semaphore_wait(struct sim *sim, struct thread *thread)
{
    struct semaphore *semaphore = semaphore_of(sim, thread);
    if (!semaphore) return;
    if (semaphore->count > 0) {
        semaphore->count--;
        forget_semaphore_if_idle(sim, thread, semaphore);
        thread_goes_on(sim, thread);
        return;
    }
    thread->next = NULL;
    *semaphore->last = thread;
    semaphore->last = &thread->next;
    thread_block(sim, thread, WAIT_SEMAPHORE);
}

void semaphore_signal(struct sim *sim, struct thread *thread)
{
    struct semaphore *semaphore = semaphore_of(sim, thread);
    if (!semaphore) return;
    struct thread *first = semaphore->waiting;
    if (first) {
        semaphore->waiting = first->next;
        if (!semaphore->waiting) semaphore->last = &semaphore->waiting;
        forget_semaphore_if_idle(sim, thread, semaphore);
        thread_wake(sim, first);
    } else {
        semaphore->count++;
    }
    thread_goes_on(sim, thread);
}

void semaphores_forget(struct sim *sim, struct rank *rank)
{
    struct table *table = &rank->semaphores;
    for (size_t k = 0; k < table->room; k++)
        for (struct entry *next, *entry = table->at[k]; entry; entry = next) {
            next = entry->next;
            pool_give(&sim->semaphores, entry);
        }
    free(table->at);
    *table = (struct table){0};
}
