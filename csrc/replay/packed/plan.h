#ifndef PLAN_H
#define PLAN_H
/* What operations are to their threads. */

#include "state/sim.h"

/* false: what it names does not exist. */
bool plan_make(const struct sim *sim, struct thread *thread);

/* Its costs are random: draw them anew. */
void plan_draw(const struct sim *sim, struct thread *thread);

#endif
