/* Semaphores between the threads of a rank: the only shared memory primitive that is simulated (section 3.3). */
#include "meeting/semaphore.h"

#include <stdlib.h>

#include "state/fail.h"
#include "threads/running.h"

struct semaphore {
    int64_t id;
    int64_t count;
    struct thread *waiting, **last;
    struct semaphore *next;
};

static struct semaphore *semaphore_of(struct sim *sim, struct thread *thread)
{
    struct rank *rank = &thread->app->ranks[thread->rank];
    for (struct semaphore *s = rank->semaphores; s; s = s->next)
        if (s->id == thread->op->tag) return s;
    struct semaphore *semaphore = calloc(1, sizeof *semaphore);
    if (!semaphore) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return NULL;
    }
    semaphore->id = thread->op->tag;
    semaphore->last = &semaphore->waiting;
    semaphore->next = rank->semaphores;
    return rank->semaphores = semaphore;
}

/* Nobody waits for it and it counts nothing: programs may have one for each of millions of events. */
static void forget_if_idle(struct rank *rank, struct semaphore *semaphore)
{
    if (semaphore->count || semaphore->waiting) return;
    struct semaphore **at = &rank->semaphores;
    while (*at != semaphore) at = &(*at)->next;
    *at = semaphore->next;
    free(semaphore);
}

void semaphore_wait(struct sim *sim, struct thread *thread)
{
    struct semaphore *semaphore = semaphore_of(sim, thread);
    if (!semaphore) return;
    if (semaphore->count > 0) {
        semaphore->count--;
        forget_if_idle(&thread->app->ranks[thread->rank], semaphore);
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
        forget_if_idle(&thread->app->ranks[thread->rank], semaphore);
        thread_wake(sim, first);
    } else {
        semaphore->count++;
    }
    thread_goes_on(sim, thread);
}

void semaphores_free(struct rank *rank)
{
    for (struct semaphore *next, *s = rank->semaphores; s; s = next) {
        next = s->next;
        free(s);
    }
    rank->semaphores = NULL;
}
