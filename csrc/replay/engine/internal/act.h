#ifndef ACT_H
#define ACT_H
/* What operations do. */

#include "state/sim.h"

/* The operation of a thread acts: its burst and its overhead are over. */
void thread_act(struct sim *sim, struct thread *thread);

#endif
