/* Sends meet receives: by communicator, source, destination and tag, in the order of sending, as MPI demands. */

#include <stdlib.h>

#include "sim.h"

/* ---- Channels: an open hash table that holds only those with something in them. */

static uint64_t hash_of(const struct key *key)
{
    uint64_t x = key->a * 0x9e3779b97f4a7c15u ^ key->b * 0xc2b2ae3d27d4eb4fu ^ key->c * 0x165667b19e3779f9u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 29;
}

/* The key of a channel is that of the first in it. */
static const struct key *key_in(const struct channel *channel)
{
    return channel->receives ? &((struct receive *)channel->first)->key : &((struct message *)channel->first)->key;
}

static bool is_of(const struct channel *channel, uint64_t hash, const struct key *key)
{
    if (channel->hash != hash) return false;
    const struct key *mine = key_in(channel);
    return mine->a == key->a && mine->b == key->b && mine->c == key->c;
}

static bool grow(struct channels *channels)
{
    struct channels larger = {NULL, channels->n, channels->room ? 2 * channels->room : 1024};
    larger.at = calloc(larger.room, sizeof *larger.at);
    if (!larger.at) return false;
    for (size_t i = 0; i < channels->room; i++) {
        if (!channels->at[i].first) continue;
        size_t k = channels->at[i].hash & (larger.room - 1);
        while (larger.at[k].first) k = (k + 1) & (larger.room - 1);
        larger.at[k] = channels->at[i];
    }
    free(channels->at);
    *channels = larger;
    return true;
}

/* The channel of `key`, or where it is to be; NULL: no memory. */
static struct channel *channel_of(struct channels *channels, const struct key *key)
{
    if (4 * (channels->n + 1) > 3 * channels->room && !grow(channels)) return NULL;
    uint64_t hash = hash_of(key);
    size_t k = hash & (channels->room - 1);
    for (; channels->at[k].first; k = (k + 1) & (channels->room - 1))
        if (is_of(&channels->at[k], hash, key)) return &channels->at[k];
    channels->at[k].hash = hash;
    return &channels->at[k];
}

/* An empty channel goes, and those after it that it had pushed away move up. */
static void drop(struct channels *channels, struct channel *channel)
{
    size_t mask = channels->room - 1, hole = (size_t)(channel - channels->at);
    channels->n--;
    for (size_t k = (hole + 1) & mask; channels->at[k].first; k = (k + 1) & mask) {
        size_t home = channels->at[k].hash & mask;
        if (((k - home) & mask) < ((k - hole) & mask)) continue;
        channels->at[hole] = channels->at[k];
        hole = k;
    }
    channels->at[hole].first = NULL;
}

static void append_message(struct channels *channels, struct channel *channel, struct message *message)
{
    if (channel->first) {
        ((struct message *)channel->last)->next = message;
    } else {
        channel->first = message;
        channel->receives = false;
        channels->n++;
    }
    channel->last = message;
}

static void append_receive(struct channels *channels, struct channel *channel, struct receive *receive)
{
    if (channel->first) {
        ((struct receive *)channel->last)->next = receive;
    } else {
        channel->first = receive;
        channel->receives = true;
        channels->n++;
    }
    channel->last = receive;
}

static struct key key_of(const struct thread *thread, const struct op *op, int32_t source, int32_t destination)
{
    if (op->kind == OP_PORT_SEND || op->kind == OP_PORT_RECV)
        return (struct key){.a = UINT64_MAX, .b = (uint32_t)op->tag};
    return (struct key){.a = app_key(thread->app, op->comm),
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
        transfer->posted = receive->posted.time;
        transfer->receive = receive->op;
    }
    if (message->arrived && receive->posted.time > message->arrival) receive->thread->usage->late_receives++;
    if (message->arrived)
        forget_if_over(sim, message);
    else if (message->rendezvous && moment_before(moment_now(sim), receive->posted))
        schedule_at(sim, moment_after(receive->posted, 0, PHASE_MEET), message, 0);
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
    *message = (struct message){.sender = thread,
                                .op = thread->op_number,
                                .wire = thread->wire,
                                .hold = thread->hold,
                                .sequence = ++sim->sequence,
                                .from = thread->node,
                                .to = peer_node(sim, thread, op)};
    thread->usage->sends++;
    thread->usage->bytes += op->bytes;
    return message;
}

/* What MPI buffered in the traced run it buffers here; what a rank sent to itself it did, or the run would not have
   ended. */
static bool was_buffered(const struct thread *thread, const struct op *op)
{
    int64_t buffered = thread->app->program->buffered;
    return op->flags & OP_STANDARD && buffered >= 0 && (op->bytes <= buffered || op->peer == thread->rank);
}

static bool is_rendezvous(const struct sim *sim, struct thread *thread, const struct op *op)
{
    const struct quantity *limit = &sim->machine->eager_limit;
    if (limit->law != LAW_CONSTANT || limit->a >= 0) return cost_is_large(sim, thread, op->bytes);
    return op->flags & OP_RENDEZVOUS && !was_buffered(thread, op);
}

void message_submit(struct sim *sim, struct thread *thread)
{
    const struct op *op = thread->op;
    const struct machine *machine = sim->machine;
    struct message *message = new_message(sim, thread);
    if (!message) return;
    message->key = key_of(thread, op, thread->rank, op->peer);
    struct channel *channel = channel_of(&sim->channels, &message->key);
    if (!channel) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return;
    }
    message->rendezvous = is_rendezvous(sim, thread, op);
    bool blocking = !(op->flags & OP_IMMEDIATE);
    message->frees_at_arrival = blocking && (machine->synchronous || (message->rendezvous && machine->delivery_frees));
    message->frees_at_start = blocking && message->rendezvous && !message->frees_at_arrival;
    if (channel->first && channel->receives) {
        struct receive *receive = channel->first;
        channel->first = receive->next;
        if (!channel->first) drop(&sim->channels, channel);
        match(sim, message, receive);
    } else {
        append_message(&sim->channels, channel, message);
    }
    if (!message->rendezvous) network_enter(sim, message);
    if (message->frees_at_arrival || message->frees_at_start)
        thread_block(sim, thread, WAIT_SEND);
    else
        thread_goes_on(sim, thread);
}

/* Who waits for the request of an access waits as for a message. */
static bool open_request(struct sim *sim, struct thread *thread, struct message *message)
{
    struct receive *receive = pool_take(&sim->receives);
    if (!receive) return false;
    *receive = (struct receive){.thread = thread, .op = thread->op_number, .access = true};
    thread_slot(thread)->receive = message->receive = receive;
    return true;
}

/* A put or a get: nobody receives it; the rank can wait for all of its own. */
void message_access(struct sim *sim, struct thread *thread)
{
    struct message *message = new_message(sim, thread);
    if (!message) return;
    bool requested = thread->op->request >= 0;
    if (!access_begin(sim, thread, message) || (requested && !open_request(sim, thread, message))) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return;
    }
    if (thread->op->kind == OP_GET) {
        message->from = message->to;
        message->to = thread->node;
    }
    network_enter(sim, message);
    thread_goes_on(sim, thread);
}

struct receive *message_post(struct sim *sim, struct thread *thread, struct moment posted)
{
    const struct op *op = thread->op;
    struct receive *receive = pool_take(&sim->receives);
    struct channel *channel = NULL;
    if (receive) {
        *receive = (struct receive){.key = key_of(thread, op, op->peer, thread->rank),
                                    .thread = thread,
                                    .op = thread->op_number,
                                    .posted = posted};
        channel = channel_of(&sim->channels, &receive->key);
    }
    if (!channel) {
        fail(sim, REPLAY_NO_MEMORY, thread, NULL, -1);
        return NULL;
    }
    thread->usage->receives++;
    if (!channel->first || channel->receives) {
        append_receive(&sim->channels, channel, receive);
        return receive;
    }
    struct message *message = channel->first;
    channel->first = message->next;
    if (!channel->first) drop(&sim->channels, channel);
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
        if (receive->posted.time > sim->now) receive->thread->usage->late_receives++; /* it was posted ahead */
        if (receive->waited) {
            thread_wake(sim, receive->thread);
            pool_give(&sim->receives, receive);
        }
    }
    if (message->frees_at_arrival) thread_wake(sim, message->sender);
    if (message->access) access_over(sim, message);
    forget_if_over(sim, message);
}

void message_freed(struct sim *sim, struct message *message)
{
    message->held = false;
    network_leave(sim, message);
    forget_if_over(sim, message);
}
