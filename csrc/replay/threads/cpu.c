/* Processors of nodes, and the threads that run on them. Ready threads of a node wait in the policy's order. Where each
   thread has a processor of its own, no thread waits. */
#include "threads/cpu.h"

#include "common/array.h"
#include "machine/cost.h"
#include "packed/fetch.h"
#include "state/fail.h"
#include "state/profile.h"
#include "state/schedule.h"
#include "threads/cpu_wait.h"
#include "threads/own_cpu.h"
#include "threads/policy.h"

/* ---- The ready threads of a node: a heap in the order of the policy. */

static bool ready_push(struct cpus *node, struct thread *thread)
{
    if (node->n_ready == node->room && !ARRAY_GROW(node->ready, node->room, 16)) return false;
    size_t k = node->n_ready++;
    for (; k && policy_better(thread, node->ready[(k - 1) / 2]); k = (k - 1) / 2)
        node->ready[k] = node->ready[(k - 1) / 2];
    node->ready[k] = thread;
    return true;
}

static struct thread *ready_pop(struct cpus *node)
{
    struct thread *top = node->ready[0], *last = node->ready[--node->n_ready];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < node->n_ready; k = child) {
        if (child + 1 < node->n_ready && policy_better(node->ready[child + 1], node->ready[child])) child++;
        if (!policy_better(node->ready[child], last)) break;
        node->ready[k] = node->ready[child];
    }
    node->ready[k] = last;
    return top;
}

/* After priorities of threads that wait have changed. */
static void ready_sort(struct cpus *node)
{
    size_t n = node->n_ready;
    node->n_ready = 0;
    for (size_t k = 0; k < n; k++) ready_push(node, node->ready[k]); /* there is room */
}

/* ---- Running. */

/* The thread was the last on this processor. */
static bool had(const struct cpu *cpu, const struct thread *thread)
{
    return cpu->used && cpu->last == thread->who;
}

static struct cpus *node_of(struct sim *sim, const struct thread *thread)
{
    return &sim->nodes[thread->node];
}

static void ask_for_policy(struct sim *sim, struct cpus *node)
{
    if (node->asked && node->asked_at == sim->now) return;
    node->asked = true;
    node->asked_at = sim->now;
    schedule(sim, sim->now, PHASE_DISPATCH, node, 0);
}

/* When the thread has computed all of its burst, if nobody takes its processor away. */
static int64_t computed_at(const struct thread *thread)
{
    int64_t left = thread->remaining - thread->plan->overhead;
    return thread->since + thread->switching + (left > 0 ? left : 0);
}

/* For the profile: n more do what this thread is to do on its processor from a time on. */
static void note_plan(const struct sim *sim, const struct thread *thread, int64_t from, int64_t n)
{
    int64_t computed = computed_at(thread), ends = thread->since + thread->switching + thread->remaining;
    profile_note(sim, DOING_COMPUTING, from, computed, n);
    profile_note(sim, DOING_MESSAGES, from > computed ? from : computed, ends, n);
}

/* The thread has a processor: its operation acts after what remains. */
void cpu_run(struct sim *sim, struct thread *thread)
{
    if (thread->alone) {
        own_cpu_run(sim, thread, moment_now(sim));
        return;
    }
    int64_t begins = sim->now + thread->switching;
    thread->state = THREAD_RUNNING;
    thread->since = sim->now;
    note_plan(sim, thread, begins, 1);
    if (thread->remaining >= thread->plan->overhead)
        thread->op_began = begins + thread->remaining - thread->plan->overhead;
    schedule(sim, begins + thread->remaining, (enum phase)thread->plan->phase, thread, thread->generation);
}

static void enqueue(struct sim *sim, struct thread *thread, int64_t place)
{
    thread->state = THREAD_READY;
    thread->since = sim->now;
    if (thread->alone) {
        own_cpu_run(sim, thread, moment_after(moment_now(sim), 0, PHASE_RESUME));
        return;
    }
    struct cpus *node = node_of(sim, thread);
    thread->queued = place;
    if (!ready_push(node, thread)) fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
    ask_for_policy(sim, node);
}

void cpu_ready(struct sim *sim, struct thread *thread)
{
    enqueue(sim, thread, ++sim->queued);
}

void cpu_ready_first(struct sim *sim, struct thread *thread)
{
    enqueue(sim, thread, -++sim->queued);
}

bool cpu_is_wanted(const struct sim *sim, const struct thread *thread)
{
    return !thread->alone && sim->nodes[thread->node].n_ready;
}

/* The thread leaves its processor; whatever was to happen to it there does not. */
void cpu_release(struct sim *sim, struct thread *thread)
{
    thread->generation = ++sim->generations;
    if (thread->alone || thread->cpu < 0) return;
    struct cpus *node = node_of(sim, thread);
    node->at[thread->cpu].thread = NULL;
    thread->last_cpu = thread->cpu;
    thread->cpu = -1;
    node->busy--;
    if (node->n_ready) ask_for_policy(sim, node);
}

/* The part of its work that a thread did since it began to run; its context switch was over before. */
static void note_progress(struct sim *sim, struct thread *thread)
{
    note_plan(sim, thread, sim->now, -1);
    thread->remaining -= sim->now - thread->since - thread->switching;
    thread->since = sim->now;
}

static void take_off(struct sim *sim, struct thread *thread)
{
    struct cpus *node = node_of(sim, thread);
    bool spins = sim->machine->policy.spans[SPAN_BUSY_WAIT].ns < 0;
    if (thread->state == THREAD_BUSY && !spins) { /* it has nothing to compute */
        cpu_busy_ended(sim, thread);
        return;
    }
    if (thread->state != THREAD_BUSY) note_progress(sim, thread);
    cpu_release(sim, thread);
    thread->state = THREAD_READY;
    thread->queued = ++sim->queued;
    if (!ready_push(node, thread)) fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
    ask_for_policy(sim, node);
}

/* The processor that the thread had last, else one where nobody came after it, else one that nobody had, else the
   first. */
static int32_t choose_cpu(const struct cpus *node, const struct thread *thread)
{
    if (thread->last_cpu >= 0 && !node->at[thread->last_cpu].thread && had(&node->at[thread->last_cpu], thread))
        return thread->last_cpu;
    int32_t new = -1, any = -1;
    for (int32_t k = node->n; k-- > 0;) {
        if (node->at[k].thread) continue;
        any = k;
        if (!node->at[k].used) new = k;
    }
    for (int32_t k = 0; k < node->n; k++)
        if (!node->at[k].thread && had(&node->at[k], thread)) return k;
    return new >= 0 ? new : any;
}

static void begin_slice(struct sim *sim, struct thread *thread, int64_t begins)
{
    int64_t slice = policy_slice(sim, thread);
    if (slice) schedule(sim, begins + slice, PHASE_SLICE, thread, thread->generation);
}

/* For how long nobody takes a processor away that was just given. A context switch is finished and something computed
   after it: else threads whose priorities change by the clock would take it from each other for ever. */
static int64_t kept(struct sim *sim, struct thread *thread)
{
    int64_t least = thread->switching ? thread->switching + 1 : 0, wanted = cost_span(sim, thread, SPAN_LEAST_RUN);
    return wanted > least ? wanted : least;
}

static void begin_to_run(struct sim *sim, struct cpus *node, struct thread *thread)
{
    struct cpu *cpu = &node->at[thread->cpu = choose_cpu(node, thread)];
    bool changes = cpu->used && !had(cpu, thread), spins = cpu_spins(thread);
    if (!spins) thread->usage->wait_cpu += sim->now - thread->since;
    thread->switching = changes && !spins ? cost_span(sim, thread, SPAN_CONTEXT_SWITCH) : 0;
    thread->usage->context_switch += thread->switching;
    cpu_wait_note(sim, thread, spins ? sim->now : thread->since, sim->now + thread->switching);
    thread->usage->switches += changes;
    cpu->thread = thread;
    cpu->last = thread->who;
    cpu->used = true;
    node->busy++;
    thread->kept_until = sim->now + kept(sim, thread);
    thread->generation = ++sim->generations;
    if (thread->finishing) {
        thread->finishing = false;
        thread_op_done(sim, thread, sim->now + thread->switching);
        thread_fetch(sim, thread);
    }
    begin_slice(sim, thread, sim->now + thread->switching);
    if (spins)
        thread->state = THREAD_BUSY;
    else
        cpu_run(sim, thread);
}

/* Take the worst running thread off that has run for long enough, if a better one is ready; later, if none has. */
static bool preempt(struct sim *sim, struct cpus *node)
{
    const struct policy *policy = &sim->machine->policy;
    struct thread *worst = NULL;
    int64_t soonest = INT64_MAX;
    if (!policy->preemptive) return false;
    for (int32_t k = 0; k < node->n; k++) {
        struct thread *thread = node->at[k].thread;
        if (thread->priority <= node->ready[0]->priority) continue;
        if (thread->kept_until > sim->now)
            soonest = thread->kept_until < soonest ? thread->kept_until : soonest;
        else if (!worst || policy_better(worst, thread))
            worst = thread;
    }
    if (worst)
        take_off(sim, worst);
    else if (soonest < INT64_MAX)
        schedule(sim, soonest, PHASE_DISPATCH, node, 0);
    return worst;
}

void cpu_dispatch(struct sim *sim, struct cpus *node)
{
    node->asked = false;
    while (node->n_ready && !sim->failed && (node->busy < node->n || preempt(sim, node)))
        if (node->busy < node->n) begin_to_run(sim, node, ready_pop(node));
}

/* It is not its turn, and what it waits for has not come. */
bool cpu_spins(const struct thread *thread)
{
    return thread->state == THREAD_READY && thread->waits != WAIT_NOTHING;
}

/* Than changes of who runs. */
static bool is_more_to_come(const struct sim *sim)
{
    return sim->has_scan || sim->events.n > sim->turns;
}

/* All wait for each other and would take turns for ever. */
static bool only_turns_to_come(const struct sim *sim)
{
    if (is_more_to_come(sim)) return false;
    for (int32_t a = 0; a < sim->n_apps; a++)
        for (int32_t k = 0; k < sim->apps[a].program->n_streams; k++) {
            const struct thread *thread = &sim->apps[a].threads[k];
            bool computes = thread->waits == WAIT_NOTHING || thread->waits == WAIT_CHILDREN;
            if (thread->state != THREAD_DONE && computes) return false;
        }
    return true;
}

enum { MOST_TURNS = 1 << 24 };

/* In a turn somebody computes, or priorities change so that somebody will; not in as many as this, one after the
   other. */
void cpu_count_turn(struct sim *sim)
{
    sim->idle_turns = is_more_to_come(sim) ? 0 : sim->idle_turns + 1;
    sim->stuck |= cpu_turns_for_ever(sim);
}

bool cpu_turns_for_ever(const struct sim *sim)
{
    return sim->idle_turns >= MOST_TURNS;
}

/* It has computed all that its operation needs, which acts later at this instant. */
static bool is_to_act_now(const struct sim *sim, const struct thread *thread)
{
    return thread->state == THREAD_RUNNING && thread->since + thread->switching + thread->remaining == sim->now;
}

/* The slice is over: to the end of the queue, if anybody in it has no other processor to go to. A burst that ends with
   its slice waits no turn: its operation acts first, and a thread that then goes on has its slice's end after that. */
void cpu_slice(struct sim *sim, struct thread *thread)
{
    struct cpus *node = node_of(sim, thread);
    if (is_to_act_now(sim, thread)) {
        struct moment again = {sim->now, (sim->round + 1) << 8 | PHASE_SLICE};
        schedule_at(sim, again, thread, thread->generation);
        return;
    }
    policy_slice_used(sim, thread);
    cpu_count_turn(sim);
    sim->stuck |= thread->state == THREAD_BUSY && only_turns_to_come(sim);
    if ((int64_t)node->n_ready > node->n - node->busy)
        take_off(sim, thread);
    else
        begin_slice(sim, thread, sim->now);
}

void cpu_busy_ended(struct sim *sim, struct thread *thread)
{
    thread->usage->busy_wait += sim->now - thread->since;
    thread->state = THREAD_BLOCKED;
    thread->since = sim->now;
    cpu_release(sim, thread);
}

/* The priority of a thread changed: it may be another's turn. */
void cpu_reorder(struct sim *sim, struct thread *thread)
{
    struct cpus *node = node_of(sim, thread);
    if (thread->alone || !node->n_ready) return;
    ready_sort(node);
    ask_for_policy(sim, node);
}

void cpu_tick(struct sim *sim, struct cpus *node)
{
    policy_tick(sim, node);
    ready_sort(node);
    if (node->n_ready) ask_for_policy(sim, node);
}
