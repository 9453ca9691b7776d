#ifndef LOCK_H
#define LOCK_H
/* Locks of windows. */

#include "common/table.h"
#include "state/sim.h"

/* Lock of a target, or of a window whose targets are all locked. */
struct lock {
    struct entry entry;
    struct lock *window; /* NULL: this is one */
    int32_t holders;
    int32_t exclusive; /* 1: the holder excludes others; of a window: how many of its targets' do */
    struct thread *first, **last;
    int32_t targets;                   /* of a window: how many of its locks there are */
    struct lock *listed, *last_listed; /* of a window: those of targets that somebody waits for */
    struct lock *before, *after;       /* in that list */
};

/* Let the thread take the lock of its operation, or wait for it. Errors go to the result of the simulation. */
void lock_take(struct sim *sim, struct thread *thread);
/* Release the lock of the thread's operation, and wake the threads that can have it now. A lock that was taken before
   the trace began is none. */
void lock_give(struct sim *sim, struct thread *thread);

#endif
