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

/* false: no memory. */
bool comm_init(struct sim *sim, struct comm *comm, const int32_t *members, int64_t n);

void collective_enter(struct sim *sim, struct thread *thread);
void collective_wait(struct sim *sim, struct thread *thread, struct instance *instance);
void collective_ended(struct sim *sim, struct instance *instance);

#endif
