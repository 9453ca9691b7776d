#ifndef CPUS_H
#define CPUS_H
/* Processors of nodes, and the threads that are ready for them. */

#include <stddef.h>

#include "state/sim.h"

struct cpu {
    struct thread *thread;
    uint64_t last; /* who had it last, if it was used */
    bool used;
};

/* Ready threads of a node, and its processors. */
struct cpus {
    struct cpu *at;
    int32_t n, busy;
    int64_t threads; /* that live on the node */
    bool asked;      /* a dispatch is to come at the present time */
    int64_t asked_at;
    struct thread **ready;
    size_t n_ready, room;
    double load;
    struct thread **residents; /* all threads of the node, but for virtual ones */
    int32_t n_residents;
};

#endif
