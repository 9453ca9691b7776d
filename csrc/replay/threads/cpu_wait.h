#ifndef CPU_WAIT_H
#define CPU_WAIT_H
/* When threads waited for a processor, if anybody wants to know. */

#include "state/sim.h"

/* The thread waited for its processor until a time. */
void cpu_wait_add(struct sim *sim, const struct thread *thread, int64_t until);
static inline void cpu_wait_note(struct sim *sim, const struct thread *thread, int64_t until)
{
    if (sim->output.cpu_waits && thread->since < until && !thread->parent) cpu_wait_add(sim, thread, until);
}

/* What is in the buffer goes to the file. */
void cpu_waits_write(struct sim *sim);

#endif
