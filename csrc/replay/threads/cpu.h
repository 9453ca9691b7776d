#ifndef CPU_H
#define CPU_H
/* Processors of nodes, and who runs on them. */

#include "threads/cpus.h"

/* Put a thread that wants a processor behind the ready ones of its node; cpu_ready_first: before those as good as it.
 */
void cpu_ready(struct sim *sim, struct thread *thread);
void cpu_ready_first(struct sim *sim, struct thread *thread);
bool cpu_is_wanted(const struct sim *sim, const struct thread *thread); /* somebody waits for its processor */
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

#endif
