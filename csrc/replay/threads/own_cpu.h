#ifndef OWN_CPU_H
#define OWN_CPU_H
/* Threads with a processor of their own. */

#include "state/sim.h"

/* Begin the thread's operation at a moment. */
void own_cpu_run(struct sim *sim, struct thread *thread, struct moment begins);

/* Wake the thread: the thing for which it waited is there. */
void own_cpu_wake(struct sim *sim, struct thread *thread);

#endif
