#ifndef PROFILE_H
#define PROFILE_H
/* How many threads do what over time. */

#include "state/sim.h"

/* Count n threads more that do something from one time to another (ns), if a profile is wanted. */
void profile_add(const struct sim *sim, enum doing what, int64_t from, int64_t to, int64_t n);
static inline void profile_note(const struct sim *sim, enum doing what, int64_t from, int64_t to, int64_t n)
{
    if (sim->output.profile && from < to) profile_add(sim, what, from, to, n);
}

#endif
