#ifndef CPU_H
#define CPU_H
/* Processors of nodes, and who runs on them. */

#include "events.h"

struct sim;
struct thread;

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

/* cpu.c: who runs */
void cpu_ready(struct sim *sim, struct thread *thread);
void cpu_run(struct sim *sim, struct thread *thread);
void cpu_release(struct sim *sim, struct thread *thread);
void cpu_dispatch(struct sim *sim, struct cpus *node);
void cpu_slice(struct sim *sim, struct thread *thread);
void cpu_tick(struct sim *sim, struct cpus *node);
void cpu_count_turn(struct sim *sim);
bool cpu_turns_for_ever(const struct sim *sim);
void cpu_busy_ended(struct sim *sim, struct thread *thread);
bool cpu_spins(const struct thread *thread);
void cpu_reorder(struct sim *sim, struct thread *thread);

/* policy.c: who is better */
void policy_init(struct sim *sim, struct thread *thread);
bool policy_better(const struct thread *a, const struct thread *b);
int64_t policy_slice(const struct sim *sim, struct thread *thread);
void policy_slice_used(struct sim *sim, struct thread *thread);
void policy_slept(struct sim *sim, struct thread *thread);
void policy_received(struct sim *sim, struct thread *receiver, bool receiver_first);
void policy_says(struct sim *sim, struct thread *thread, int64_t priority);
bool policy_ticks(const struct sim *sim);
int64_t policy_next_tick(struct sim *sim);
void policy_begin(struct sim *sim);     /* its intervals */
void policy_intervals(struct sim *sim); /* at a tick, before the nodes: which of them end */
void policy_tick(struct sim *sim, struct cpus *node);

#endif
