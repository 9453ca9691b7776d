/* How threads go on. One that cannot gives its processor back; who wakes it ends its operation. */
#include "threads/running.h"

#include "machine/cost.h"
#include "packed/fetch.h"
#include "state/profile.h"
#include "state/schedule.h"
#include "threads/cpu.h"
#include "threads/own_cpu.h"
#include "threads/policy.h"

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
    case WAIT_FILE:
        usage->wait_file += waited;
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

/* End the operation of a thread that slept: the thing for which it waited is there. */
static void wake_from_sleep(struct sim *sim, struct thread *thread)
{
    account(sim, thread);
    if (thread->alone) {
        own_cpu_wake(sim, thread);
        return;
    }
    bool first = sim->machine->as_dimemas && thread->waits == WAIT_SEND;
    thread->waits = WAIT_NOTHING;
    thread->finishing = true;
    policy_slept(sim, thread);
    if (first)
        cpu_ready_first(sim, thread);
    else
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
