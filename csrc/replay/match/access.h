#ifndef ACCESS_H
#define ACCESS_H
/* One-sided operations under way. */

#include "common/table.h"
#include "state/messages.h"
#include "state/sim.h"

/* Accesses of one rank to a target, or to a window. It exists while there are any. */
struct accesses {
    struct entry entry;
    int32_t n;
    struct thread *waiting; /* by their number */
};

/* A put or a get. */
struct access {
    struct message message;
    struct accesses *accesses[2]; /* of its target, of its window */
};

/* Begin an access of the thread; returns false if there is no memory. End it: threads that wait for it are woken. */
bool access_begin(struct sim *sim, const struct thread *thread, struct access *access);
void access_over(struct sim *sim, struct access *access);

/* Wait until the accesses of the thread's rank that its operation names are over. */
void access_wait(struct sim *sim, struct thread *thread);

#endif
