#ifndef COLLECTIVE_H
#define COLLECTIVE_H
/* Collectives of communicators. */

#include "cost.h"

struct app;
struct sim;
struct thread;

struct instance {
    struct app *app;
    int32_t comm, operation, arrived;
    int64_t number;
    int64_t sent, received; /* the largest of any member */
    int64_t root_sent, root_received;
    bool complete, running, done, rooted;
    int32_t open;         /* members that have not waited for it yet */
    struct thread *first; /* whose call it was */
    int64_t first_op;
    struct draws draws; /* those of the call of the communicator's first member */
    struct thread *waiting, **last;
    struct instance *next, *next_holding;
};

struct comm {
    int64_t *made;                 /* per member: collectives that it has entered */
    struct instance *open, **last; /* in order of their number */
    const int32_t *members;
    int32_t *by_rank; /* members in order of their rank; NULL: they are */
    int32_t size;
};

/* collective.c */
bool comm_init(struct sim *sim, struct comm *comm, const int32_t *members, int64_t n);
void collective_enter(struct sim *sim, struct thread *thread);
void collective_wait(struct sim *sim, struct thread *thread, struct instance *instance);
void collective_start(struct sim *sim, struct instance *instance);
void collective_ended(struct sim *sim, struct instance *instance);

#endif
