#ifndef RUNNING_H
#define RUNNING_H
/* Functions by which threads go on, block and wake. */

#include "state/sim.h"

/* End the thread's operation; the thread keeps its processor. */
void thread_goes_on(struct sim *sim, struct thread *thread);

/* Let the thread wait from now on. It keeps its processor while it waits busily, else it gives it back. */
void thread_block(struct sim *sim, struct thread *thread, enum waiting why);

/* Wake the thread: the thing for which it waited is there. */
void thread_wake(struct sim *sim, struct thread *thread);

/* Cut the thread's operation, because the replay ends: its usage holds only what was done so far. */
void thread_cut(struct sim *sim, struct thread *thread);

#endif
