#ifndef ACT_H
#define ACT_H
/* Actions of operations. */

#include "state/sim.h"

/* Execute the action of a thread's operation, after its burst and its overhead. Errors go to the simulation's result.
 */
void thread_act(struct sim *sim, struct thread *thread);

#endif
