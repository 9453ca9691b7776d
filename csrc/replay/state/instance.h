#ifndef INSTANCE_H
#define INSTANCE_H
/* Collectives under way. */

#include <stdbool.h>
#include <stdint.h>

#include "common/draw.h"

struct app;
struct thread;

struct instance {
    struct app *app;
    int32_t comm, operation, arrived;
    int64_t number;
    int64_t sent, received;           /* the largest of any member */
    int64_t root_sent, root_received; /* of the root; as Dimemas does, of the last to enter */
    int64_t entered;                  /* of a file: when the last member did in the traced run */
    bool complete, running, done, rooted, of_file;
    int32_t buses;        /* in_turn.c: that it has */
    int64_t sequence;     /* in which it asked for them */
    int32_t open;         /* members that have not waited for it yet */
    struct thread *first; /* whose call it was */
    struct thread *root;  /* that says so and waits in it, NULL: none does */
    int64_t first_op;
    struct draws draws; /* those of the call of the communicator's first member */
    struct thread *waiting, **last;
    struct instance *next, *next_holding;
};

#endif
