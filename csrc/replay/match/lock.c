/* Locks of windows: each target has one; MPI_Win_lock_all takes that of all targets, which is kept as one of the
   window.

   Who asks first has it first, but for those who want all targets: they have it as soon as nobody excludes them. */
#include "match/lock.h"

#include "state/fail.h"
#include "threads/running.h"

enum { ALL_TARGETS = -1 };

static struct key key_of_lock(const struct thread *thread, int32_t target)
{
    return (struct key){.a = app_key(thread->app, thread->op->comm), .b = (uint64_t)(uint32_t)target, .c = KEY_LOCKS};
}

static struct lock *find_lock(const struct sim *sim, const struct thread *thread, int32_t target)
{
    struct key key = key_of_lock(thread, target);
    return table_find(&sim->windows, &key);
}

/* window: that of all targets; NULL: it is this one. */
static struct lock *find_or_add_lock(struct sim *sim, const struct thread *thread, int32_t target, struct lock *window)
{
    struct key key = key_of_lock(thread, target);
    struct lock *lock = table_find_or_add(&sim->windows, &key, &sim->locks);
    if (!lock || lock->last) return lock;
    lock->last = &lock->first;
    lock->window = window;
    if (window) window->targets++;
    return lock;
}

static void forget_lock_if_idle(struct sim *sim, struct lock *lock)
{
    if (lock->holders || lock->first || lock->targets) return;
    struct lock *window = lock->window;
    table_remove(&sim->windows, &lock->entry);
    pool_give(&sim->locks, lock);
    if (!window) return;
    window->targets--;
    forget_lock_if_idle(sim, window);
}

static bool is_free(const struct lock *lock, const struct thread *thread)
{
    if (!lock->window) return !lock->exclusive; /* of any target */
    if (thread->op->tag == LOCK_EXCLUSIVE) return !lock->holders && !lock->window->holders;
    return !lock->exclusive;
}

static void take_lock(struct lock *lock, const struct thread *thread)
{
    lock->holders++;
    if (!lock->window || thread->op->tag != LOCK_EXCLUSIVE) return;
    lock->exclusive++;
    lock->window->exclusive++;
}

/* The window lists its locks that somebody waits for, in the order in which that began. */
static void list_lock(struct lock *lock)
{
    struct lock *window = lock->window, *last = window->last_listed;
    lock->before = last;
    lock->after = NULL;
    if (last)
        last->after = lock;
    else
        window->listed = lock;
    window->last_listed = lock;
}

static void unlist(struct lock *lock)
{
    if (lock->before)
        lock->before->after = lock->after;
    else
        lock->window->listed = lock->after;
    if (lock->after)
        lock->after->before = lock->before;
    else
        lock->window->last_listed = lock->before;
}

static void hand_on_lock(struct sim *sim, struct lock *lock)
{
    while (lock->first && is_free(lock, lock->first)) {
        struct thread *thread = lock->first;
        lock->first = thread->next;
        if (!lock->first) lock->last = &lock->first;
        if (!lock->first && lock->window) unlist(lock);
        take_lock(lock, thread);
        thread_wake(sim, thread);
    }
}

void lock_take(struct sim *sim, struct thread *thread)
{
    int32_t target = thread->op->peer;
    struct lock *window = find_or_add_lock(sim, thread, ALL_TARGETS, NULL);
    struct lock *lock = window && target >= 0 ? find_or_add_lock(sim, thread, target, window) : window;
    if (!lock) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return;
    }
    if (!lock->first && is_free(lock, thread)) {
        take_lock(lock, thread);
        thread_goes_on(sim, thread);
        return;
    }
    if (!lock->first && lock->window) list_lock(lock);
    thread->next = NULL;
    *lock->last = thread;
    lock->last = &thread->next;
    thread_block(sim, thread, WAIT_ACCESS);
}

void lock_give(struct sim *sim, struct thread *thread)
{
    struct lock *lock = find_lock(sim, thread, thread->op->peer);
    if (lock && lock->holders) { /* else it was taken before the trace began */
        struct lock *window = lock->window;
        lock->holders--;
        if (window && lock->exclusive) {
            lock->exclusive = 0;
            window->exclusive--;
        }
        hand_on_lock(sim, lock);
        if (window && !window->exclusive) hand_on_lock(sim, window);
        for (struct lock *next, *other = window || lock->holders ? NULL : lock->listed; other; other = next) {
            next = other->after;
            hand_on_lock(sim, other);
        }
        forget_lock_if_idle(sim, lock);
    }
    thread_goes_on(sim, thread);
}
