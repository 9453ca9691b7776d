/* Threads with a processor of their own. They need no events for what nobody else can see: a thread that posts receives
   and waits for them is ahead of the clock, as far as its next operation that others see, or the first message that has
   not arrived.

   That changes nothing. What a receive meets does not depend on when it is posted, since one thread posts all those of
   a key, in their order; only a message in rendezvous depends on it, and that one has an event (PHASE_MEET). A message
   that arrives before its receiver waits for it lets that one go on from where it would have waited. */
#include "threads/own_cpu.h"

#include "packed/fetch.h"
#include "state/messages.h"
#include "state/profile.h"
#include "state/schedule.h"

enum step {
    PASSED,  /* the operation is over */
    BLOCKED, /* its message has not arrived */
    SEEN     /* others can see it: it needs its turn */
};

static enum step wait_ahead(struct sim *sim, struct thread *thread, struct receive *receive, struct moment at)
{
    if (receive->arrived) {
        pool_give(&sim->receives, receive);
        return PASSED;
    }
    receive->waited = true;
    thread->waits = receive->access ? WAIT_ACCESS : WAIT_MESSAGE;
    thread->state = THREAD_BLOCKED;
    thread->since = at.time;
    thread->waits_from = at.order;
    return BLOCKED;
}

static enum step step_ahead(struct sim *sim, struct thread *thread, struct moment at)
{
    struct receive *receive;
    switch (thread->plan->kind) {
    case OP_NONE:
    case OP_EVENT:
        return PASSED;
    case OP_RECV:
        receive = sim->above.post(sim, thread, at);
        return receive ? wait_ahead(sim, thread, receive, at) : SEEN;
    case OP_IRECV:
        receive = sim->above.post(sim, thread, at);
        thread_slot(thread)->receive = receive;
        return receive ? PASSED : SEEN;
    case OP_WAIT: {
        struct slot *slot = thread_slot(thread);
        receive = slot->receive;
        slot->receive = NULL;
        return receive ? wait_ahead(sim, thread, receive, at) : SEEN;
    }
    default:
        return SEEN;
    }
}

/* For the profile: an operation lasts from a time to another. */
static void note_step(const struct sim *sim, const struct thread *thread, int64_t from, int64_t to)
{
    profile_note(sim, DOING_COMPUTING, from, thread->op_began, 1);
    profile_note(sim, DOING_MESSAGES, thread->op_began, to, 1);
}

/* Its operation begins at a moment. */
void own_cpu_run(struct sim *sim, struct thread *thread, struct moment begins)
{
    thread->state = THREAD_RUNNING;
    while (!sim->failed) {
        struct moment at = moment_after(begins, thread->remaining, (enum phase)thread->plan->phase);
        thread->op_began = at.time - thread->plan->overhead;
        if (sim->output.profile) note_step(sim, thread, begins.time, at.time);
        enum step step = thread->ahead && at.time <= LONGEST ? step_ahead(sim, thread, at) : SEEN;
        if (step == SEEN)
            schedule_at(sim, at, thread, thread->generation);
        else
            thread_op_acts(sim, thread, at.time);
        if (step != PASSED) return;
        thread_op_done(sim, thread, at.time);
        thread_fetch(sim, thread);
        begins = at;
    }
}

/* Return when a woken thread goes on. A thread that waited goes on at this instant, after all else that happens now. A
   thread whose wait begins later goes on from that moment. */
static struct moment goes_on_from(const struct sim *sim, const struct thread *thread)
{
    struct moment waits = {thread->since, thread->waits_from}, now = moment_now(sim);
    if (moment_before(now, waits)) return waits;
    return moment_after(now, 0, PHASE_RESUME);
}

void own_cpu_wake(struct sim *sim, struct thread *thread)
{
    struct moment from = goes_on_from(sim, thread);
    thread->waits = WAIT_NOTHING;
    thread_op_done(sim, thread, from.time);
    thread_fetch(sim, thread);
    own_cpu_run(sim, thread, from);
}
