#ifndef PLAN_H
#define PLAN_H
/* Plans: the checks and costs of an operation for its thread. */

#include "state/sim.h"

/* Make the plan of the thread's operation. Returns false if the operation names something that does not exist. */
bool plan_make(const struct sim *sim, struct thread *thread);

/* Draw the random costs of the thread's operation anew. */
void plan_draw(const struct sim *sim, struct thread *thread);

#endif
