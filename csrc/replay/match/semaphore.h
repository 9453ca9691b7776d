#ifndef SEMAPHORE_H
#define SEMAPHORE_H
/* Semaphores between the threads of a rank. */

#include "state/sim.h"

struct semaphore {
    struct entry entry; /* of its rank's table */
    int64_t count;
    struct thread *waiting, **last;
};

/* Take one off the semaphore of the thread's operation, or wait for one. */
void semaphore_wait(struct sim *sim, struct thread *thread);
/* Add one to the semaphore of the thread's operation, or wake the first thread that waits for it. */
void semaphore_signal(struct sim *sim, struct thread *thread);

/* Forget all semaphores of a rank, with their counts. */
void semaphores_forget(struct sim *sim, struct rank *rank);

#endif
