#ifndef POLICY_H
#define POLICY_H
/* Scheduling policy: which of two threads is better, and for how long a thread may run. */

#include "threads/cpus.h"

/* Give the thread the priority and state with which the policy begins. */
void policy_init(struct sim *sim, struct thread *thread);

/* Return true if `a` gets a processor before `b`: by priority (smaller is better), then by the time of queueing. */
bool policy_better(const struct thread *a, const struct thread *b);

/* Return the ns that the thread may run before others as good as it; it may be drawn anew. */
int64_t policy_slice(const struct sim *sim, struct thread *thread);

/* Change the priority of a thread that used its whole slice, or that waited. */
void policy_slice_used(struct sim *sim, struct thread *thread);
void policy_slept(struct sim *sim, struct thread *thread);

/* A receive was asked for: its message was there, or the receiver came first. Returns the other thread whose priority
   changed; NULL: none. */
struct thread *policy_received(struct sim *sim, struct thread *receiver, bool receiver_first);

/* Set the priority that a record of the trace says. Returns true if the policy follows records. */
bool policy_says(struct sim *sim, struct thread *thread, int64_t priority);

/* Return true if priorities change at ticks of a clock. policy_next_tick: ns from one tick to the next, at least 1. */
bool policy_ticks(const struct sim *sim);
int64_t policy_next_tick(struct sim *sim);

/* Begin the intervals of the policy; at a tick find those that end, then change the priorities of each node. */
void policy_begin(struct sim *sim);
void policy_intervals(struct sim *sim);
void policy_tick(struct sim *sim, struct cpus *node);

#endif
