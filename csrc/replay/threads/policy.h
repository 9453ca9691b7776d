#ifndef POLICY_H
#define POLICY_H
/* Scheduling policy: which of two threads is better, and for how long a thread may run. */

#include "threads/cpus.h"

void policy_init(struct sim *sim, struct thread *thread);
bool policy_better(const struct thread *a, const struct thread *b);
int64_t policy_slice(const struct sim *sim, struct thread *thread);
void policy_slice_used(struct sim *sim, struct thread *thread);
void policy_slept(struct sim *sim, struct thread *thread);

/* A receive was asked for: its message was there, or the receiver came first. Returns the other thread whose priority
   changed; NULL: none. */
struct thread *policy_received(struct sim *sim, struct thread *receiver, bool receiver_first);

/* A record says so. Returns whether it counts. */
bool policy_says(struct sim *sim, struct thread *thread, int64_t priority);

bool policy_ticks(const struct sim *sim);
int64_t policy_next_tick(struct sim *sim);
void policy_begin(struct sim *sim);     /* its intervals */
void policy_intervals(struct sim *sim); /* at a tick, before the nodes: which of them end */
void policy_tick(struct sim *sim, struct cpus *node);

#endif
