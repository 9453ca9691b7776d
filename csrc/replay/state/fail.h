#ifndef FAIL_H
#define FAIL_H
/* How a simulation ends early. */

#include "state/sim.h"

/* End the simulation with an error; the first error counts. thread: whose operation it is in; other, other_op: what
   that does not agree with; NULL, -1: none. */
void fail(struct sim *sim, enum replay_error error, const struct thread *thread, const struct thread *other,
          int64_t other_op);

#endif
