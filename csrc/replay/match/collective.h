#ifndef COLLECTIVE_H
#define COLLECTIVE_H
/* Collectives of communicators. */

#include "state/instance.h"
#include "state/sim.h"

struct comm {
    int64_t *made;                 /* per member: collectives that it has entered */
    struct instance *open, **last; /* in order of their number */
    const int32_t *members;
    int32_t *by_rank; /* members in order of their rank; NULL: they are */
    int32_t size;
};

/* Make a communicator of n members, which the caller keeps. Returns false if there is no memory. */
bool comm_init(struct sim *sim, struct comm *comm, const int32_t *members, int64_t n);

/* Let the thread enter the collective of its operation. Errors go to the result of the simulation. */
void collective_enter(struct sim *sim, struct thread *thread);
/* Let the thread go on if the collective is over, else wait until it is. */
void collective_wait(struct sim *sim, struct thread *thread, struct instance *instance);
/* End a collective: wake the members that wait, and give the network back. Call at PHASE_ENDED. */
void collective_ended(struct sim *sim, struct instance *instance);

#endif
