/* Sends meet receives: by communicator, source, destination and tag, in the order of sending, as MPI demands. */

#include <stdlib.h>

#include "sim.h"

/* ---- Channels: an open hash table that holds only those with something in them. */

static uint64_t place(const struct channel *key)
{
    uint64_t x = key->a * 0x9e3779b97f4a7c15u ^ key->b * 0xc2b2ae3d27d4eb4fu ^ key->c * 0x165667b19e3779f9u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 29;
}

static bool same(const struct channel *x, const struct channel *y)
{
    return x->a == y->a && x->b == y->b && x->c == y->c;
}

static bool grow(struct channels *channels)
{
    struct channels larger = {NULL, channels->n, channels->room ? 2 * channels->room : 1024};
    larger.at = calloc(larger.room, sizeof *larger.at);
    if (!larger.at) return false;
    for (size_t i = 0; i < channels->room; i++) {
        if (!channels->at[i].used) continue;
        size_t k = place(&channels->at[i]) & (larger.room - 1);
        while (larger.at[k].used) k = (k + 1) & (larger.room - 1);
        larger.at[k] = channels->at[i];
    }
    free(channels->at);
    *channels = larger;
    return true;
}

/* The channel of `key`, made if it is not there; NULL: no memory. */
static struct channel *channel_of(struct channels *channels, const struct channel *key)
{
    if (2 * (channels->n + 1) > channels->room && !grow(channels)) return NULL;
    size_t k = place(key) & (channels->room - 1);
    for (; channels->at[k].used; k = (k + 1) & (channels->room - 1))
        if (same(&channels->at[k], key)) return &channels->at[k];
    channels->at[k] = (struct channel){.a = key->a, .b = key->b, .c = key->c, .used = true};
    channels->n++;
    return &channels->at[k];
}

/* An empty channel goes, and those after it that it had pushed away move up. */
static void drop_if_empty(struct channels *channels, struct channel *channel)
{
    if (channel->messages || channel->receives) return;
    size_t mask = channels->room - 1, hole = (size_t)(channel - channels->at);
    channels->n--;
    for (size_t k = (hole + 1) & mask; channels->at[k].used; k = (k + 1) & mask) {
        size_t home = place(&channels->at[k]) & mask;
        if (((k - home) & mask) < ((k - hole) & mask)) continue;
        channels->at[hole] = channels->at[k];
        hole = k;
    }
    channels->at[hole].used = false;
}

static struct channel key_of(const struct thread *thread, const struct op *op, int32_t source, int32_t destination)
{
    if (op->kind == OP_PORT_SEND || op->kind == OP_PORT_RECV)
        return (struct channel){.a = UINT64_MAX, .b = (uint32_t)op->tag};
    return (struct channel){.a = (uint64_t)thread->app->runs << 40 | (uint64_t)thread->app->number << 32 |
                                 (uint32_t)op->comm,
                            .b = (uint64_t)(uint32_t)source << 32 | (uint32_t)destination,
                            .c = (uint32_t)op->tag | (op->other ? (uint64_t)op->other << 32 : 0)};
}

/* ---- Messages. */

static void forget_if_over(struct sim *sim, struct message *message)
{
    if (message->arrived && !message->held && (message->receive || message->access)) pool_give(&sim->messages, message);
}

static void match(struct sim *sim, struct message *message, struct receive *receive)
{
    message->receive = receive;
    receive->arrived = message->arrived;
    if (sim->output->transfers) {
        struct transfer *transfer = &sim->output->transfers[message->op];
        transfer->posted = receive->posted;
        transfer->receive = receive->op;
    }
    if (message->arrived && receive->posted > message->arrival) receive->thread->usage->late_receives++;
    if (message->arrived)
        forget_if_over(sim, message);
    else if (message->rendezvous)
        network_enter(sim, message);
}

static struct message *new_message(struct sim *sim, struct thread *thread)
{
    struct message *message = pool_take(&sim->messages);
    if (!message) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return NULL;
    }
    const struct op *op = thread->op;
    message->sender = thread;
    message->who = thread->who;
    message->op = thread->op_number;
    message->size = op->bytes;
    message->wire = thread->cost.wire;
    message->hold = thread->cost.hold;
    message->sequence = ++sim->sequence;
    message->from = thread->node;
    message->to = peer_node(sim, thread, op);
    thread->usage->sends++;
    thread->usage->bytes += op->bytes;
    return message;
}

static bool is_rendezvous(const struct machine *machine, const struct op *op)
{
    if (machine->eager_limit < 0) return op->flags & OP_RENDEZVOUS;
    return op->bytes >= machine->eager_limit;
}

void message_submit(struct sim *sim, struct thread *thread)
{
    const struct op *op = thread->op;
    const struct machine *machine = sim->machine;
    struct message *message = new_message(sim, thread);
    struct channel key = key_of(thread, op, thread->rank, op->peer);
    struct channel *channel = message ? channel_of(&sim->channels, &key) : NULL;
    if (!channel) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return;
    }
    message->rendezvous = is_rendezvous(machine, op);
    bool blocking = !(op->flags & OP_IMMEDIATE);
    message->frees_at_arrival = blocking && (machine->synchronous || (message->rendezvous && machine->delivery_frees));
    message->frees_at_start = blocking && message->rendezvous && !message->frees_at_arrival;
    struct receive *receive = channel->receives;
    if (receive) {
        channel->receives = receive->next;
        drop_if_empty(&sim->channels, channel);
    } else {
        if (channel->messages)
            channel->last_message->next = message;
        else
            channel->messages = message;
        channel->last_message = message;
    }
    if (receive) match(sim, message, receive);
    if (!message->rendezvous) network_enter(sim, message);
    if (message->frees_at_arrival || message->frees_at_start)
        thread_block(sim, thread, WAIT_SEND);
    else
        thread_goes_on(sim, thread);
}

/* A put or a get: nobody receives it; the rank can wait for all of its own. */
void message_access(struct sim *sim, struct thread *thread)
{
    struct message *message = new_message(sim, thread);
    if (!message) return;
    message->access = true;
    thread->app->ranks[thread->rank].accesses++;
    if (thread->op->kind == OP_GET) {
        message->from = message->to;
        message->to = thread->node;
    }
    network_enter(sim, message);
    thread_goes_on(sim, thread);
}

struct receive *message_post(struct sim *sim, struct thread *thread)
{
    const struct op *op = thread->op;
    struct channel key = key_of(thread, op, op->peer, thread->rank);
    struct receive *receive = pool_take(&sim->receives);
    struct channel *channel = receive ? channel_of(&sim->channels, &key) : NULL;
    if (!channel) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return NULL;
    }
    thread->usage->receives++;
    receive->thread = thread;
    receive->op = thread->op_number;
    receive->posted = sim->now;
    struct message *message = channel->messages;
    if (!message) {
        if (channel->receives)
            channel->last_receive->next = receive;
        else
            channel->receives = receive;
        channel->last_receive = receive;
        return receive;
    }
    channel->messages = message->next;
    drop_if_empty(&sim->channels, channel);
    match(sim, message, receive);
    return receive;
}

void message_started(struct sim *sim, struct message *message)
{
    if (sim->output->transfers) sim->output->transfers[message->op].start = sim->now;
    struct thread *sender = message->sender;
    if (message->frees_at_start) thread_wake(sim, sender);
}

void message_arrived(struct sim *sim, struct message *message)
{
    message->arrived = true;
    message->arrival = sim->now;
    if (!message->overlong) network_leave(sim, message);
    if (sim->output->transfers) sim->output->transfers[message->op].arrival = sim->now;
    struct receive *receive = message->receive;
    if (receive) {
        receive->arrived = true;
        if (receive->waited) {
            thread_wake(sim, receive->waiter);
            pool_give(&sim->receives, receive);
        }
    }
    if (message->frees_at_arrival) thread_wake(sim, message->sender);
    if (message->access) {
        struct rank *rank = &message->sender->app->ranks[message->sender->rank];
        if (--rank->accesses == 0) {
            for (struct thread *next, *thread = rank->waiting; thread; thread = next) {
                next = thread->next;
                thread_wake(sim, thread);
            }
            rank->waiting = NULL;
        }
    }
    forget_if_over(sim, message);
}

void message_freed(struct sim *sim, struct message *message)
{
    message->held = false;
    network_leave(sim, message);
    forget_if_over(sim, message);
}
