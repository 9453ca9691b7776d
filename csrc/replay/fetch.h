#ifndef FETCH_H
#define FETCH_H
/* From one operation of a thread to its next: short, and done for each. */

#include "supply.h"

/* That its operation names. */
static inline struct slot *thread_slot(const struct thread *thread)
{
    const struct plan *plan = thread->plan;
    struct slot *slots = plan->shared ? thread->app->ranks[thread->rank].slots : thread->slots;
    return &slots[plan->request];
}

/* Of its operation, which sends. */
static inline struct sending *thread_sending(const struct thread *thread)
{
    return &thread->supply->sendings[thread->plan - thread->supply->plans];
}

/* Of its operation, which sends or receives. NULL: no memory. */
static inline struct channel *thread_channel(struct sim *sim, struct thread *thread)
{
    return thread->plan->channel ? thread->plan->channel : channel_find(sim, thread);
}

static inline void thread_op_done(struct sim *sim, struct thread *thread, int64_t when)
{
    if (sim->output.times) sim->output.times[thread->op_number] = (struct op_time){thread->op_began, when};
    thread->op_number++;
}

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
