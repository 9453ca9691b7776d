#ifndef FETCH_H
#define FETCH_H
/* From one operation of a thread to its next: short, and done for each. */

#include "common/duration.h"
#include "packed/supply.h"

/* Note that the overhead of the thread's operation ended at `when` (ns), if transfers are wanted. */
static inline void thread_op_acts(const struct sim *sim, const struct thread *thread, int64_t when)
{
    if (sim->output.transfers && thread->plan->kind < OP_KINDS) sim->output.transfers[thread->op_number].acted = when;
}

/* End the thread's operation at `when` (ns): store its times, if they are wanted, and count it. */
static inline void thread_op_done(struct sim *sim, struct thread *thread, int64_t when)
{
    if (sim->output.times) sim->output.times[thread->op_number] = (struct op_time){thread->op_began, when};
    thread->op_number++;
}

/* As thread_fetch, where the operation is new or its time is not that of its burst. */
void thread_fetch_other(struct sim *sim, struct thread *thread, int64_t burst);

/* Take the next operation: how long its burst and its overhead last. The thread may have no processor yet. */
static inline void thread_fetch(struct sim *sim, struct thread *thread)
{
    int64_t burst = supply_next(sim, thread);
    const struct plan *plan = thread->plan;
    thread->draws = 0;
    if (!plan->simple || (uint64_t)burst > (uint64_t)LONGEST) {
        thread_fetch_other(sim, thread, burst);
        return;
    }
    thread->usage->computing += burst;
    thread->usage->overhead += plan->overhead;
    thread->remaining = burst + plan->overhead;
}

#endif
