#ifndef RUNNING_H
#define RUNNING_H
/* How threads go on. */

#include "state/sim.h"

/* The operation is over and the thread keeps its processor. */
void thread_goes_on(struct sim *sim, struct thread *thread);

void thread_block(struct sim *sim, struct thread *thread, enum waiting why);

/* What it waited for is there. */
void thread_wake(struct sim *sim, struct thread *thread);

/* The replay ends while it is under way: its usage becomes what it was so far. */
void thread_cut(struct sim *sim, struct thread *thread);

#endif
