#ifndef CPU_WAIT_H
#define CPU_WAIT_H
/* When threads waited for a processor, if anybody wants to know. */

#include "state/sim.h"

/* Record that the thread waited from `since` until `until` (ns) for the processor that it now has. */
void cpu_wait_add(struct sim *sim, const struct thread *thread, int64_t since, int64_t until);
static inline void cpu_wait_note(struct sim *sim, const struct thread *thread, int64_t since, int64_t until)
{
    bool tells = since < until || thread->cpu != thread->last_cpu;
    if (sim->output.cpu_waits && tells && !thread->parent) cpu_wait_add(sim, thread, since, until);
}

/* Write the buffered waits to the file. */
void cpu_waits_write(struct sim *sim);

#endif
