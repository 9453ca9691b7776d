#ifndef SEMAPHORE_H
#define SEMAPHORE_H
/* Semaphores between the threads of a rank. */

#include "state/sim.h"

struct semaphore {
    struct entry entry; /* of its rank's table */
    int64_t count;
    struct thread *waiting, **last;
};

void semaphore_wait(struct sim *sim, struct thread *thread);
void semaphore_signal(struct sim *sim, struct thread *thread);

/* All of a rank, with what they count. */
void semaphores_forget(struct sim *sim, struct rank *rank);

#endif
