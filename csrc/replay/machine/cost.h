#ifndef COST_H
#define COST_H
/* Durations of bursts, messages, collectives and files on the machine, in ns. */

#include <stdbool.h>

#include "replay.h"
#include "state/instance.h"
#include "state/sim.h"

struct cost {
    int64_t cpu, wire, hold; /* ns of the sender's processor, to the arrival, that links are taken */
};

/* ns of everything that the machine says. cost_record: which operation of which run a random number is for. */
uint64_t cost_record(const struct thread *thread);
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
int64_t cost_file(const struct sim *sim, struct thread *thread); /* of its OP_FILE, on a file system that is known */

#endif
