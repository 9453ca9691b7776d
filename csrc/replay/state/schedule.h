#ifndef SCHEDULE_H
#define SCHEDULE_H
/* Functions that add events that are to come. */

#include "state/sim.h"

/* Return true if an event of this phase only changes which threads run. */
static inline bool is_turn(enum phase phase)
{
    return phase == PHASE_SLICE || phase == PHASE_DISPATCH || phase == PHASE_TICK;
}

/* Add an event at a time (ns, not before now), or at a moment; see struct event for `what` and `generation`. A time
   beyond LONGEST or missing memory ends the simulation with an error. schedule_scan adds a scan of the network in this
   instant, if none is to come. */
void schedule(struct sim *sim, int64_t time, enum phase phase, void *what, uint32_t generation);
void schedule_at(struct sim *sim, struct moment moment, void *what, uint32_t generation);
void schedule_scan(struct sim *sim);

#endif
