/* Scheduling policy: which thread runs first, and for how long (section 3.6, Tables 4 and 5; sections 8.1.2.2, 8.2.2).

   Priorities: smaller is better; equal ones take turns in the order in which they became ready. */
#include "threads/policy.h"

#include "machine/cost.h"

static int64_t clipped(const struct policy *policy, double priority)
{
    if (policy->best == policy->worst) return (int64_t)priority;
    if (priority < policy->best) return policy->best;
    return priority > policy->worst ? policy->worst : (int64_t)priority;
}

void policy_init(struct sim *sim, struct thread *thread)
{
    const struct policy *policy = &sim->machine->policy;
    const int64_t *given = thread->app->program->priority;
    thread->decayed = 0;
    thread->priority = 0;
    if (policy->priority == PRIORITY_FIXED || policy->priority == PRIORITY_RECORDS)
        thread->priority = given ? given[thread->rank] : 0;
    else if (policy->priority == PRIORITY_DECAY || policy->priority == PRIORITY_BOOST)
        thread->priority = clipped(policy, policy->base);
    else if (policy->priority == PRIORITY_SVR4)
        thread->priority = policy->base;
}

bool policy_better(const struct thread *a, const struct thread *b)
{
    if (a->priority != b->priority) return a->priority < b->priority;
    return a->queued < b->queued;
}

static const struct svr4_level *level_of(const struct policy *policy, const struct thread *thread)
{
    return policy->priority == PRIORITY_SVR4 && thread->priority < policy->n_levels ? &policy->levels[thread->priority]
                                                                                    : NULL;
}

int64_t policy_slice(const struct sim *sim, struct thread *thread)
{
    const struct svr4_level *level = level_of(&sim->machine->policy, thread);
    return level ? cost_quantum(sim, thread, &level->quantum) : cost_span(sim, thread, SPAN_SLICE);
}

void policy_slice_used(struct sim *sim, struct thread *thread)
{
    const struct svr4_level *level = level_of(&sim->machine->policy, thread);
    if (level) thread->priority = level->expired;
}

void policy_slept(struct sim *sim, struct thread *thread)
{
    const struct svr4_level *level = level_of(&sim->machine->policy, thread);
    if (level) thread->priority = level->slept;
}

struct thread *policy_received(struct sim *sim, struct thread *receiver, bool receiver_first)
{
    const struct policy *policy = &sim->machine->policy;
    if (policy->priority != PRIORITY_BOOST) return NULL;
    int32_t delta = receiver_first ? policy->receiver_first : policy->receiver_last;
    receiver->priority = clipped(policy, (double)(receiver->priority + delta));
    const struct op *op = receiver->op;
    if (!receiver_first || !policy->sender_receiver_first || op->peer < 0) return NULL;
    const struct app *app = op->kind == OP_PORT_RECV ? &sim->apps[op->comm] : receiver->app;
    struct thread *sender = &app->threads[app->first_of_rank[op->peer]];
    sender->priority = clipped(policy, (double)(sender->priority + policy->sender_receiver_first));
    return sender;
}

bool policy_says(struct sim *sim, struct thread *thread, int64_t priority)
{
    if (sim->machine->policy.priority != PRIORITY_RECORDS) return false;
    thread->priority = priority;
    return true;
}

/* ---- DECAY: what a thread used of its processor counts against it and is forgotten the slower the higher the load
   (F7). An interval ends at the first tick that is not before its end; the next one begins there. */

static bool is_some(const struct span *span)
{
    return span->ns > 0 || span->drawn.law != LAW_CONSTANT;
}

bool policy_ticks(const struct sim *sim)
{
    return sim->machine->policy.priority == PRIORITY_DECAY && is_some(&sim->machine->policy.tick);
}

int64_t policy_next_tick(struct sim *sim)
{
    int64_t tick = cost_interval(sim, &sim->machine->policy.tick, &sim->interval_draws[INTERVALS]);
    return tick > 0 ? tick : 1;
}

static void begin_interval(struct sim *sim, int kind)
{
    const struct span *span = &sim->machine->policy.intervals[kind];
    sim->interval_ends[kind] = sim->now + cost_interval(sim, span, &sim->interval_draws[kind]);
}

void policy_begin(struct sim *sim)
{
    for (int kind = 0; kind < INTERVALS; kind++) begin_interval(sim, kind);
}

void policy_intervals(struct sim *sim)
{
    for (int kind = 0; kind < INTERVALS; kind++) {
        bool ends = is_some(&sim->machine->policy.intervals[kind]) && sim->now >= sim->interval_ends[kind];
        sim->due[kind] = ends;
        if (ends) begin_interval(sim, kind);
    }
}

void policy_tick(struct sim *sim, struct cpus *node)
{
    const struct policy *policy = &sim->machine->policy;
    for (int32_t k = 0; k < node->n; k++)
        if (node->at[k].thread) node->at[k].thread->decayed += 1;
    if (sim->due[INTERVAL_LOAD]) node->load = ((double)node->busy + (double)node->n_ready + node->load) / 2;
    if (!sim->due[INTERVAL_DECAY] && !sim->due[INTERVAL_SETTLE]) return;
    double keep = 2 * node->load / (2 * node->load + 1);
    for (int32_t i = 0; i < node->n_residents; i++) {
        struct thread *thread = node->residents[i];
        if (sim->due[INTERVAL_DECAY]) thread->decayed *= keep;
        if (sim->due[INTERVAL_SETTLE]) thread->priority = clipped(policy, thread->decayed + policy->base);
    }
}
