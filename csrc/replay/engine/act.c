/* Execution of threads, one operation after the other.

   An operation is a burst, then its overhead on the processor (latency), then its action: `thread_act`. A thread that
   cannot go on gives its processor back. The function that wakes it ends the operation. */
#include "engine/internal/act.h"

#include "engine/internal/setup.h"
#include "match/access.h"
#include "match/collective.h"
#include "match/file.h"
#include "match/lock.h"
#include "match/message.h"
#include "match/semaphore.h"
#include "network/network.h"
#include "packed/fetch.h"
#include "state/fail.h"
#include "state/messages.h"
#include "threads/cpu.h"
#include "threads/policy.h"
#include "threads/running.h"

/* Other applications end for ever, one does not: the first of its threads that is not done says where it stands. */
static void fail_starved(struct sim *sim)
{
    const struct app *app = sim->apps;
    while (app->runs >= sim->repetitions) app++;
    const struct thread *thread = app->threads, *end = thread + app->program->n_streams;
    while (thread + 1 < end && thread->state == THREAD_DONE) thread++;
    fail(sim, REPLAY_STARVED, thread, NULL, -1);
}

/* Store the results of the simulation so far. The last thread to end makes them final. */
static void note_end(struct sim *sim)
{
    struct result *result = sim->result;
    result->end = sim->now;
    network_count(sim);
    result->busiest = sim->longest_queue;
    result->mean_queue = sim->now ? sim->queue_area / (double)sim->now : 0;
}

static void finish_thread(struct sim *sim, struct thread *thread)
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

static void wait_for(struct sim *sim, struct thread *thread, struct receive *receive)
{
    struct thread *sender = receive->access ? NULL : policy_received(sim, thread, !receive->arrived);
    if (sender) cpu_reorder(sim, sender);
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
    if ((thread->op->flags & (OP_OF_FILE | OP_OF_COLLECTIVE)) == OP_OF_FILE) {
        file_wait(sim, thread);
        return;
    }
    *at = (struct slot){NULL, NULL, 0};
    if (slot.receive) {
        wait_for(sim, thread, slot.receive);
    } else if (slot.instance) {
        collective_wait(sim, thread, slot.instance);
    } else {
        fail(sim, REPLAY_BAD_OP, thread, NULL, -1);
    }
}

/* Dimemas puts a thread to the end of the queue between two bursts. */
static void act_nothing(struct sim *sim, struct thread *thread)
{
    bool between = thread->plan->kind == OP_NONE && thread->to_come && sim->machine->as_dimemas;
    if (!between || !cpu_is_wanted(sim, thread)) {
        thread_goes_on(sim, thread);
        return;
    }
    thread_op_done(sim, thread, sim->now);
    cpu_release(sim, thread);
    thread_fetch(sim, thread);
    cpu_ready(sim, thread);
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
    thread_op_acts(sim, thread, sim->now);
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
    case OP_FILE:
        file_access(sim, thread);
        break;
    case OP_PRIORITY:
        if (policy_says(sim, thread, thread->op->other)) cpu_reorder(sim, thread);
        thread_goes_on(sim, thread);
        break;
    case PLAN_SHARE:
        child_over(sim, thread);
        break;
    case PLAN_END:
        finish_thread(sim, thread);
        break;
    default:
        act_nothing(sim, thread);
    }
}
