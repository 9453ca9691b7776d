/* What threads do: one operation after the other.

   An operation is a burst, then its overhead on the processor (latency), then what it does: `thread_act`. A thread
   that cannot go on gives its processor back; who wakes it ends the operation. */

#include "fetch.h"

/* Virtual threads come after the thread itself in the order of those of a rank. */
enum { VIRTUAL = 256 };

/* Virtual threads of a block that could run in parallel (section 3.4.1): each computes its share. */
static int64_t share_out(struct sim *sim, struct thread *thread, int64_t whole)
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
        cpu_ready(sim, child);
    }
    return share + whole % n;
}

/* Other applications end for ever, one does not: the first of its threads that is not done says where it stands. */
static void fail_starved(struct sim *sim)
{
    const struct app *app = sim->apps;
    while (app->runs >= sim->repetitions) app++;
    const struct thread *thread = app->threads, *end = thread + app->program->n_streams;
    while (thread + 1 < end && thread->state == THREAD_DONE) thread++;
    fail(sim, REPLAY_STARVED, thread, NULL, -1);
}

/* What is known of the whole so far; the last thread to end says it for good. */
static void note_end(struct sim *sim)
{
    struct result *result = sim->result;
    result->end = sim->now;
    network_count(sim);
    result->busiest = sim->longest_queue;
    result->mean_queue = sim->now ? sim->queue_area / (double)sim->now : 0;
}

static void finish(struct sim *sim, struct thread *thread)
{
    struct app *app = thread->app;
    thread->state = THREAD_DONE;
    thread->usage->end = sim->now;
    note_end(sim);
    cpu_release(sim, thread);
    if (--app->running) return;
    struct result *result = sim->result;
    if (sim->output.runs && result->n_runs < sim->output.runs_room)
        sim->output.runs[result->n_runs] = (struct run_time){app->number, 0, app->began, sim->now};
    result->n_runs++;
    app->runs++;
    if (app->runs == (sim->repetitions ? sim->repetitions : 1)) sim->unfinished--;
    if (!sim->repetitions || !sim->unfinished) return;
    if (sim->output.runs && result->n_runs >= sim->output.runs_room)
        fail_starved(sim);
    else
        app_start(sim, app);
}

/* Its operation is new, or its time is not that of its burst. */
void thread_fetch_other(struct sim *sim, struct thread *thread, int64_t burst)
{
    struct plan *plan = thread->plan;
    if (burst < 0 || (!plan->made && !plan_make(sim, thread))) {
        fail(sim, REPLAY_BAD_OP, thread, NULL, -1);
        return;
    }
    if (!plan->plain && burst) burst = cost_burst(sim, thread, burst, thread->op->block);
    if (burst > LONGEST) burst = LONGEST;
    if (plan->kind == OP_PARALLEL) burst = share_out(sim, thread, burst);
    thread->usage->computing += burst;
    if (plan->drawn) plan_draw(sim, thread);
    thread->usage->overhead += plan->overhead;
    thread->remaining = burst + plan->overhead;
}

/* The operation is over and the thread keeps its processor. */
void thread_goes_on(struct sim *sim, struct thread *thread)
{
    thread_op_done(sim, thread, sim->now);
    thread_fetch(sim, thread);
    cpu_run(sim, thread);
}

void thread_block(struct sim *sim, struct thread *thread, enum waiting why)
{
    thread->waits = (uint8_t)why;
    thread->since = sim->now;
    thread->waits_from = 0;
    bool spins = sim->machine->policy.spans[SPAN_BUSY_WAIT].ns < 0;
    int64_t busy = why == WAIT_MESSAGE && !spins ? cost_span(sim, thread, SPAN_BUSY_WAIT) : 0;
    if (spins && why != WAIT_SEMAPHORE && why != WAIT_CHILDREN) {
        thread->state = THREAD_BUSY;
        return;
    }
    if (busy > 0) {
        thread->state = THREAD_BUSY;
        thread->busy_until = sim->now + busy;
        schedule(sim, thread->busy_until, PHASE_BUSY, thread, thread->generation);
        return;
    }
    thread->state = THREAD_BLOCKED;
    cpu_release(sim, thread);
}

static void account(struct sim *sim, struct thread *thread)
{
    int64_t waited = sim->now > thread->since ? sim->now - thread->since : 0; /* who is ahead did not wait yet */
    struct usage *usage = thread->usage;
    switch (thread->waits) {
    case WAIT_MESSAGE:
        usage->wait_message += waited;
        profile_note(sim, DOING_MESSAGES, thread->since, sim->now, 1);
        break;
    case WAIT_SEND:
        usage->wait_send += waited;
        profile_note(sim, DOING_MESSAGES, thread->since, sim->now, 1);
        break;
    case WAIT_SEMAPHORE:
        usage->wait_semaphore += waited;
        break;
    case WAIT_ACCESS:
        usage->wait_access += waited;
        break;
    case WAIT_MEMBERS:
        usage->wait_members += waited;
        profile_note(sim, DOING_COLLECTIVES, thread->since, sim->now, 1);
        break;
    case WAIT_COLLECTIVE:
        usage->collective += waited;
        profile_note(sim, DOING_COLLECTIVES, thread->since, sim->now, 1);
        break;
    default:
        break;
    }
}

/* What a thread waited for is there, and its processor did not look for it all the while: its operation is over. */
static void wake_from_sleep(struct sim *sim, struct thread *thread)
{
    account(sim, thread);
    if (thread->alone) {
        alone_wake(sim, thread);
        return;
    }
    thread->waits = WAIT_NOTHING;
    thread->finishing = true;
    policy_slept(sim, thread);
    cpu_ready(sim, thread);
}

/* Processor time that its operation needs yet; its context switch may not be over. */
static int64_t left_to_run(struct sim *sim, struct thread *thread)
{
    if (thread->state == THREAD_READY) return thread->remaining;
    if (thread->alone) return thread->op_began + thread->plan->overhead - sim->now;
    int64_t begins = thread->since + thread->switching;
    if (begins > sim->now) {
        thread->usage->context_switch -= begins - sim->now;
        begins = sim->now;
    }
    return begins + thread->remaining - sim->now;
}

void thread_cut(struct sim *sim, struct thread *thread)
{
    struct usage *usage = thread->usage;
    if (thread->state == THREAD_BLOCKED) {
        account(sim, thread);
    } else if (thread->state == THREAD_BUSY || cpu_spins(thread)) {
        usage->busy_wait += sim->now - thread->since;
    } else {
        if (thread->state == THREAD_READY && !thread->alone) usage->wait_cpu += sim->now - thread->since;
        int64_t left = left_to_run(sim, thread);
        int64_t overhead = left < thread->plan->overhead ? left : thread->plan->overhead;
        usage->overhead -= overhead;
        usage->computing -= left - overhead;
    }
}

void thread_wake(struct sim *sim, struct thread *thread)
{
    if (thread->state == THREAD_BUSY) {
        thread->usage->busy_wait += sim->now - thread->since;
        thread->state = THREAD_RUNNING;
        thread->waits = WAIT_NOTHING;
        thread_goes_on(sim, thread);
    } else if (cpu_spins(thread)) { /* its turn will come */
        thread->usage->busy_wait += sim->now - thread->since;
        thread->waits = WAIT_NOTHING;
        thread->finishing = true;
        thread->since = sim->now;
    } else {
        wake_from_sleep(sim, thread);
    }
}

static void wait_for(struct sim *sim, struct thread *thread, struct receive *receive)
{
    if (!receive->access) policy_received(sim, thread, !receive->arrived);
    if (receive->arrived) {
        pool_give(&sim->receives, receive);
        thread_goes_on(sim, thread);
        return;
    }
    receive->waited = true;
    receive->thread = thread;
    thread_block(sim, thread, receive->access ? WAIT_ACCESS : WAIT_MESSAGE);
}

static void wait_for_slot(struct sim *sim, struct thread *thread)
{
    struct slot *at = thread_slot(thread), slot = *at;
    *at = (struct slot){NULL, NULL};
    if (slot.receive) {
        wait_for(sim, thread, slot.receive);
    } else if (slot.instance) {
        collective_wait(sim, thread, slot.instance);
    } else {
        fail(sim, REPLAY_BAD_OP, thread, NULL, -1);
    }
}

static void act_parallel(struct sim *sim, struct thread *thread)
{
    if (thread->children)
        thread_block(sim, thread, WAIT_CHILDREN);
    else
        thread_goes_on(sim, thread);
}

static void child_over(struct sim *sim, struct thread *child)
{
    struct thread *parent = child->parent;
    child->state = THREAD_DONE;
    child->usage->computing += child->own.computing;
    cpu_release(sim, child);
    pool_give(&sim->children, child);
    if (--parent->children == 0 && parent->waits == WAIT_CHILDREN) thread_wake(sim, parent);
}

void thread_act(struct sim *sim, struct thread *thread)
{
    struct receive *receive;
    switch (thread->plan->kind) {
    case OP_SEND:
    case OP_PORT_SEND:
        message_submit(sim, thread);
        break;
    case OP_PUT:
    case OP_GET:
        message_access(sim, thread);
        break;
    case OP_RECV:
    case OP_PORT_RECV:
        if ((receive = message_post(sim, thread, moment_now(sim)))) wait_for(sim, thread, receive);
        break;
    case OP_IRECV:
        if (!(receive = message_post(sim, thread, moment_now(sim)))) break;
        thread_slot(thread)->receive = receive;
        thread_goes_on(sim, thread);
        break;
    case OP_WAIT:
        wait_for_slot(sim, thread);
        break;
    case OP_COLLECTIVE:
    case OP_COLLECTIVE_START:
        collective_enter(sim, thread);
        break;
    case OP_SEM_WAIT:
        semaphore_wait(sim, thread);
        break;
    case OP_SEM_SIGNAL:
        semaphore_signal(sim, thread);
        break;
    case OP_PARALLEL:
        act_parallel(sim, thread);
        break;
    case OP_ACCESSES_WAIT:
        access_wait(sim, thread);
        break;
    case OP_LOCK:
        lock_take(sim, thread);
        break;
    case OP_UNLOCK:
        lock_give(sim, thread);
        break;
    case OP_PRIORITY:
        policy_says(sim, thread, thread->op->other);
        thread_goes_on(sim, thread);
        break;
    case PLAN_SHARE:
        child_over(sim, thread);
        break;
    case PLAN_END:
        finish(sim, thread);
        break;
    default:
        thread_goes_on(sim, thread);
    }
}
