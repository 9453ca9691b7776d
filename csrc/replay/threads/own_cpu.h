#ifndef OWN_CPU_H
#define OWN_CPU_H
/* Threads with a processor of their own. */

#include "state/sim.h"

/* The thread's operation begins at a moment. */
void own_cpu_run(struct sim *sim, struct thread *thread, struct moment begins);

/* What it waited for is there. */
void own_cpu_wake(struct sim *sim, struct thread *thread);

#endif
