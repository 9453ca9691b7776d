#ifndef ALONE_H
#define ALONE_H
/* Threads with a processor of their own. */

#include "state/sim.h"

/* The thread's operation begins at a moment. */
void alone_run(struct sim *sim, struct thread *thread, struct moment begins);

/* What it waited for is there. */
void alone_wake(struct sim *sim, struct thread *thread);

#endif
