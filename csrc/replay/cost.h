#ifndef COST_H
#define COST_H
/* How long things last, and what operations need to know of the nodes. */

#include <stdbool.h>

#include "replay.h"

struct instance;
struct sim;
struct thread;

struct cost {
    int64_t cpu, wire, hold; /* ns of the sender's processor, to the arrival, that links are taken */
};

/* Resources of a node. Half duplex: both links are OUT. */
enum resource_kind { OUT, IN, INTRA_OUT, INTRA_IN, INTRA_BUS, PER_NODE };

/* What operations need to know of a node, in one place. */
struct site {
    int64_t latency, intra_latency, wan_latency; /* ns; -1: drawn at each use */
    double speed;                                /* 0: drawn at each use */
    int32_t network;
    int32_t resources; /* the first of those that are limited */
    uint8_t limited;   /* bit k: there are not as many as wanted of enum resource_kind k */
    bool half_duplex;
    bool dedicated; /* each thread that lives there has its own processor */
};

/* What random numbers are for: an operation of a thread, and how many it had. */
struct draws {
    uint64_t who, op, n;
};

/* cost.c: ns of everything that the machine says; cost_constant is -1 where a time is random. cost_record: which
   operation of which run a random number is for. */
uint64_t cost_record(const struct thread *thread);
int64_t cost_constant(const struct quantity *seconds);
int64_t cost_span(const struct sim *sim, struct thread *thread, enum span_kind kind);
int64_t cost_quantum(const struct sim *sim, struct thread *thread, const struct span *quantum); /* drawn as a slice */
int64_t cost_interval(const struct sim *sim, const struct span *span, uint32_t *draws);         /* of no thread */
bool cost_is_large(const struct sim *sim, struct thread *thread, int64_t bytes);                /* for an eager send */
bool cost_is_plain(const struct sim *sim, const struct thread *thread, uint32_t block); /* of bursts: as measured */
int64_t cost_burst(const struct sim *sim, struct thread *thread, int64_t burst, uint32_t block);
bool cost_is_drawn(const struct sim *sim, int32_t from, int32_t to); /* that of messages */
struct cost cost_message(const struct sim *sim, struct thread *thread, int32_t from, int32_t to, int64_t bytes);
int64_t cost_receive(const struct sim *sim, struct thread *thread, int32_t from, int32_t to, int64_t bytes);
int64_t cost_collective(const struct sim *sim, const struct instance *instance);

/* site.c */
bool sites_init(struct sim *sim);

#endif
