/* Sends meet receives: by communicator, source, destination and tag, in the order of sending, as MPI demands. */
#include "match/message.h"

#include "machine/cost.h"
#include "machine/standard_sends.h"
#include "match/access.h"
#include "match/arrivals.h"
#include "network/network.h"
#include "packed/supply.h"
#include "state/channel.h"
#include "state/fail.h"
#include "state/messages.h"
#include "state/schedule.h"
#include "threads/running.h"

static void append_message(struct channel *channel, struct message *message)
{
    message->next = NULL;
    if (channel->first)
        ((struct message *)channel->last)->next = message;
    else
        channel->first = message;
    channel->last = message;
    channel->receives = false;
}

static void append_receive(struct channel *channel, struct receive *receive)
{
    receive->next = NULL;
    if (channel->first)
        ((struct receive *)channel->last)->next = receive;
    else
        channel->first = receive;
    channel->last = receive;
    channel->receives = true;
}

static void forget_message_if_over(struct sim *sim, struct message *message)
{
    if (!message->arrived || message->held || !(message->matched || message->access)) return;
    pool_give(message->access ? &sim->one_sided : &sim->messages, message);
}

/* Returns whether it is a rendezvous that begins now: it enters the network. */
static bool match(struct sim *sim, struct message *message, struct receive *receive)
{
    bool by_arrival = sim->machine->by_arrival;
    message->receive = receive;
    message->matched = true;
    if (!by_arrival) receive->arrived = message->arrived;
    if (sim->output.transfers) {
        struct transfer *transfer = &sim->output.transfers[message->op];
        transfer->posted = receive->posted.time;
        transfer->receive = receive->op;
    }
    if (!by_arrival && message->arrived && receive->posted.time > message->arrival)
        receive->thread->usage->late_receives++;
    if (message->arrived) {
        forget_message_if_over(sim, message);
        return false;
    }
    if (!message->rendezvous) return false;
    if (moment_before(moment_now(sim), receive->posted)) {
        schedule_at(sim, moment_after(receive->posted, 0, PHASE_MEET), message, 0);
        return false;
    }
    network_enter(sim, message);
    return true;
}

void message_met(struct sim *sim, struct message *message)
{
    network_enter(sim, message);
    if (message->frees_at_match) thread_wake(sim, message->sender);
}

/* Set up the message that the thread's operation sends. */
static void begin_message(struct sim *sim, struct thread *thread, struct message *message)
{
    const struct plan *plan = thread->plan;
    const struct sending *sending = thread_sending(thread);
    *message = (struct message){.sender = thread,
                                .op = thread->op_number,
                                .wire = sending->wire,
                                .hold = sending->hold,
                                .sequence = ++sim->sequence,
                                .resource = {sending->resource[0], sending->resource[1], sending->resource[2]},
                                .inside = plan->inside,
                                .rendezvous = plan->rendezvous,
                                .frees_at_match = plan->frees_at_match,
                                .frees_at_start = plan->frees_at_start,
                                .frees_at_arrival = plan->frees_at_arrival};
    thread->usage->sends++;
    thread->usage->bytes += plan->bytes;
}

static bool is_rendezvous(const struct sim *sim, struct thread *thread, const struct op *op)
{
    const struct quantity *limit = &sim->machine->eager_limit;
    if (limit->law != LAW_CONSTANT || limit->a >= 0) return cost_is_large(sim, thread, op->bytes);
    return op->flags & OP_RENDEZVOUS && !was_buffered(op, thread->rank, thread->app->program->buffered);
}

/* Whether the send waits for its receive, and whether its thread waits for it. */
static void settle_send(const struct sim *sim, struct thread *thread)
{
    const struct machine *machine = sim->machine;
    struct plan *plan = thread->plan;
    bool blocking = !(thread->op->flags & OP_IMMEDIATE), large = is_rendezvous(sim, thread, thread->op);
    plan->rendezvous = large;
    plan->frees_at_arrival = blocking && (machine->synchronous || (large && machine->delivery_frees));
    bool before = blocking && large && !plan->frees_at_arrival;
    plan->frees_at_match = before && machine->as_dimemas;
    plan->frees_at_start = before && !machine->as_dimemas;
    plan->settled = machine->eager_limit.law == LAW_CONSTANT;
}

void message_submit(struct sim *sim, struct thread *thread)
{
    struct plan *plan = thread->plan;
    struct channel *channel = thread_channel(sim, thread);
    struct message *message = channel ? pool_take(&sim->messages) : NULL;
    if (!message) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return;
    }
    if (!plan->settled) settle_send(sim, thread);
    begin_message(sim, thread, message);
    if (sim->machine->by_arrival) arrivals_expect(message, channel);
    bool begins = false;
    if (channel->first && channel->receives) {
        struct receive *receive = channel->first;
        channel->first = receive->next;
        begins = match(sim, message, receive);
    } else {
        append_message(channel, message);
    }
    if (!plan->rendezvous) network_enter(sim, message);
    if (plan->frees_at_arrival || plan->frees_at_start || (plan->frees_at_match && !begins))
        thread_block(sim, thread, WAIT_SEND);
    else
        thread_goes_on(sim, thread);
}

/* Open the request of an access: a thread waits for it as for a message. Returns false if there is no memory. */
static bool open_request(struct sim *sim, struct thread *thread, struct message *message)
{
    struct receive *receive = pool_take(&sim->receives);
    if (!receive) return false;
    *receive = (struct receive){.thread = thread, .op = thread->op_number, .access = true};
    thread_slot(thread)->receive = message->receive = receive;
    message->matched = true;
    return true;
}

/* A put or a get: nobody receives it; the rank can wait for all of its own. */
void message_access(struct sim *sim, struct thread *thread)
{
    struct access *access = pool_take(&sim->one_sided);
    if (!access) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return;
    }
    begin_message(sim, thread, &access->message);
    access->message.access = true;
    bool requested = thread->plan->request >= 0;
    if (!access_begin(sim, thread, access) || (requested && !open_request(sim, thread, &access->message))) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return;
    }
    network_enter(sim, &access->message);
    thread_goes_on(sim, thread);
}

struct receive *message_post(struct sim *sim, struct thread *thread, struct moment posted)
{
    struct channel *channel = thread_channel(sim, thread);
    struct receive *receive = channel ? pool_take(&sim->receives) : NULL;
    if (!receive) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return NULL;
    }
    *receive = (struct receive){.thread = thread, .op = thread->op_number, .posted = posted};
    thread->usage->receives++;
    if (sim->machine->by_arrival) arrivals_post(channel, receive);
    if (!channel->first || channel->receives) {
        append_receive(channel, receive);
        return receive;
    }
    struct message *message = channel->first;
    channel->first = message->next;
    if (match(sim, message, receive) && message->frees_at_match) thread_wake(sim, message->sender);
    return receive;
}

static void receive_over(struct sim *sim, struct receive *receive)
{
    receive->arrived = true;
    if (receive->posted.time > sim->now) receive->thread->usage->late_receives++; /* it was posted ahead */
    if (!receive->waited) return;
    thread_wake(sim, receive->thread);
    pool_give(&sim->receives, receive);
}

void message_arrived(struct sim *sim, struct message *message)
{
    message->arrived = true;
    message->arrival = sim->now;
    if (!message->overlong) network_leave(sim, message);
    if (sim->output.transfers) sim->output.transfers[message->op].arrival = sim->now;
    bool stays = message->matched || message->access; /* else a thread that is woken may receive it, and it is gone */
    struct thread *sender = message->frees_at_arrival ? message->sender : NULL;
    struct receive *receive = message->matched ? message->receive : NULL;
    if (sim->machine->by_arrival && !message->access) receive = arrivals_take(message);
    if (receive) receive_over(sim, receive);
    if (sender) thread_wake(sim, sender);
    if (!stays) return;
    if (message->access) access_over(sim, (struct access *)message);
    forget_message_if_over(sim, message);
}

void message_freed(struct sim *sim, struct message *message)
{
    message->held = false;
    network_leave(sim, message);
    forget_message_if_over(sim, message);
}
