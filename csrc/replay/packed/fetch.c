/* The next operation of a thread where that is more than a burst and what was planned before. */
#include "packed/fetch.h"

#include "machine/cost.h"
#include "packed/plan.h"
#include "state/fail.h"

/* Virtual threads come after the thread itself in the order of those of a rank. */
enum { VIRTUAL = 256 };

/* Virtual threads of a block that could run in parallel (section 3.4.1): each computes its share. */
static int64_t share_out_burst(struct sim *sim, struct thread *thread, int64_t whole)
{
    int64_t n = thread->op->other > 1 ? thread->op->other : 1, share = whole / n;
    for (int64_t k = 1; k < n; k++) {
        struct thread *child = pool_take(&sim->children);
        if (!child) {
            fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
            return 0;
        }
        *child = (struct thread){.app = thread->app, .plan = &sim->share, .op = thread->op, .rank = thread->rank};
        child->op_number = -1;
        child->node = thread->node;
        child->alone = thread->alone;
        child->number = thread->number;
        child->who = thread->who + (uint64_t)k * VIRTUAL;
        child->cpu = child->last_cpu = -1;
        child->parent = thread;
        child->usage = thread->usage;
        child->remaining = child->own.computing = share;
        child->stream = thread->stream;
        child->priority = thread->priority;
        thread->children++;
        sim->above.ready(sim, child);
    }
    return share + whole % n;
}

void thread_fetch_other(struct sim *sim, struct thread *thread, int64_t burst)
{
    struct plan *plan = thread->plan;
    if (burst < 0 || (!plan->made && !plan_make(sim, thread))) {
        fail(sim, REPLAY_BAD_OP, thread, NULL, -1);
        return;
    }
    if (!plan->plain && burst) burst = cost_burst(sim, thread, burst, thread->op->block);
    if (burst > LONGEST) burst = LONGEST;
    if (plan->kind == OP_PARALLEL) burst = share_out_burst(sim, thread, burst);
    thread->usage->computing += burst;
    if (plan->drawn) plan_draw(sim, thread);
    thread->usage->overhead += plan->overhead;
    thread->remaining = burst + plan->overhead;
}
