#ifndef SEMAPHORE_H
#define SEMAPHORE_H
/* Semaphores between the threads of a rank. */

#include "state/sim.h"

void semaphore_wait(struct sim *sim, struct thread *thread);
void semaphore_signal(struct sim *sim, struct thread *thread);
void semaphores_free(struct rank *rank);

#endif
