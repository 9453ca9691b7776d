/* One-sided operations under way: who waits for those of his rank to a window, or to one target of it. */
#include "match/access.h"

#include "threads/running.h"

enum { ANY_TARGET = -1 };

static struct key key_of_access(const struct thread *thread, int32_t window, int32_t target)
{
    return (struct key){.a = app_key(thread->app, window),
                        .b = (uint64_t)(uint32_t)thread->rank << 32 | (uint32_t)target,
                        .c = KEY_ACCESSES};
}

static struct accesses *accesses_of(struct sim *sim, const struct thread *thread, int32_t target)
{
    struct key key = key_of_access(thread, thread->op->comm, target);
    return table_find_or_add(&sim->windows, &key, &sim->accesses);
}

bool access_begin(struct sim *sim, const struct thread *thread, struct access *access)
{
    access->accesses[0] = accesses_of(sim, thread, thread->op->peer);
    access->accesses[1] = accesses_of(sim, thread, ANY_TARGET);
    if (!access->accesses[0] || !access->accesses[1]) return false;
    for (int k = 0; k < 2; k++) access->accesses[k]->n++;
    return true;
}

void access_over(struct sim *sim, struct access *access)
{
    for (int k = 0; k < 2; k++) {
        struct accesses *accesses = access->accesses[k];
        if (--accesses->n) continue;
        struct thread *thread = accesses->waiting;
        table_remove(&sim->windows, &accesses->entry);
        pool_give(&sim->accesses, accesses);
        for (struct thread *next; thread; thread = next) {
            next = thread->next;
            thread_wake(sim, thread);
        }
    }
}

void access_wait(struct sim *sim, struct thread *thread)
{
    struct key key = key_of_access(thread, thread->op->comm, thread->op->peer);
    struct accesses *accesses = table_find(&sim->windows, &key);
    if (!accesses) {
        thread_goes_on(sim, thread);
        return;
    }
    struct thread **at = &accesses->waiting;
    while (*at && (*at)->number < thread->number) at = &(*at)->next;
    thread->next = *at;
    *at = thread;
    thread_block(sim, thread, WAIT_ACCESS);
}
