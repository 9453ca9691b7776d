/* Sends meet receives: by communicator, source, destination and tag, in the order of sending, as MPI demands. */
#include "ideal/internal/messages.h"

#include "common/duration.h"

static struct channel *find_channel(struct ideal *ideal, const struct key *key)
{
    struct channel *channel = table_find_or_add(&ideal->channels, key, &ideal->channel_pool);
    if (!channel) {
        refuse(ideal, IDEAL_NO_MEMORY);
        return NULL;
    }
    if (!channel->last_letter) {
        channel->last_letter = &channel->letters;
        channel->last_receive = &channel->receives;
    }
    return channel;
}

static void forget_channel_if_over(struct ideal *ideal, struct channel *channel)
{
    if (channel->names || channel->letters || channel->receives) return;
    table_remove(&ideal->channels, &channel->entry);
    pool_give(&ideal->channel_pool, channel);
}

void messages_leave(struct ideal *ideal, struct channel *channel)
{
    channel->names--;
    forget_channel_if_over(ideal, channel);
}

static struct key key_of_channel(int32_t comm, int32_t source, int32_t destination, int32_t tag, int64_t number)
{
    return (struct key){.a = (uint32_t)comm,
                        .b = (uint64_t)(uint32_t)source << 32 | (uint32_t)destination,
                        .c = (uint32_t)tag | (number ? (uint64_t)number << 32 : 0)};
}

static struct channel *channel_of_op(struct ideal *ideal, struct rank_at *rank, const struct op *op,
                                     struct known *known, bool sends)
{
    if (known->channel) return known->channel;
    int32_t own = ideal->first[ideal->own] + rank->number;
    struct key key = key_of_channel(op->comm, sends ? own : op->peer, sends ? op->peer : own, op->tag, op->other);
    known->channel = find_channel(ideal, &key);
    if (known->channel) known->channel->names++;
    return known->channel;
}

/* A letter and a receive have met; tells when it arrives. */
static bool met(struct ideal *ideal, struct receive *receive, struct letter of, int64_t *arrives)
{
    int64_t arrived = of.kind != TOLD_SEND && receive->posted > of.sent ? receive->posted : of.sent;
    receive->arrived = *arrives = arrived;
    if (of.kind == TOLD_WAITING) {
        struct rank_at *sender = own_rank(ideal, of.source);
        int32_t destination = ideal->first[ideal->own] + receive->rank->number;
        struct told told = {arrived, 0, of.source, destination, 0, 0, TOLD_RECEIVED, 0, 0};
        if (!sender) {
            told.process = process_of(ideal, of.source);
            if (!outbox_add(ideal, told)) return false;
        } else if (sender->waits_to_send) { /* else it is about to */
            sender->waits_to_send = false;
            wake(ideal, sender, arrived);
        }
    }
    if (!receive->waited) return true;
    wake(ideal, receive->rank, arrived);
    pool_give(&ideal->receives, receive);
    return true;
}

/* A message of a rank comes to its receiver, who is one of ours: when it arrives, -1 if that is not known yet. */
static bool deliver(struct ideal *ideal, struct channel *channel, struct letter of, int64_t *arrived)
{
    struct receive *receive = channel->receives;
    if (receive) {
        channel->receives = receive->next;
        if (!channel->receives) channel->last_receive = &channel->receives;
        return met(ideal, receive, of, arrived);
    }
    struct rank_at *sender = own_rank(ideal, of.source);
    if (sender) sender->waiting++;
    if (++ideal->waiting > ideal->most_waiting) return refuse(ideal, IDEAL_OTHER); /* the simulator needs no memory */
    struct letter *letter = pool_take(&ideal->letters);
    if (!letter) return refuse(ideal, IDEAL_NO_MEMORY);
    *letter = of;
    letter->next = NULL;
    *channel->last_letter = letter;
    channel->last_letter = &letter->next;
    *arrived = -1;
    return true;
}

bool messages_send(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known)
{
    bool large = op->bytes >= ideal->eager_limit, waits = large && !(op->flags & OP_IMMEDIATE);
    enum told_kind kind = waits ? TOLD_WAITING : large ? TOLD_LARGE_SEND : TOLD_SEND;
    int32_t own = ideal->first[ideal->own] + rank->number;
    if (!own_rank(ideal, op->peer)) {
        int32_t process = process_of(ideal, op->peer);
        struct told told = {rank->now, op->other, own, op->peer, op->comm, op->tag, kind, process, 0};
        if (!outbox_add(ideal, told)) return false;
        rank->waits_to_send = waits;
        return !waits;
    }
    struct channel *channel = channel_of_op(ideal, rank, op, known, true);
    int64_t arrived;
    if (!channel || !deliver(ideal, channel, (struct letter){NULL, rank->now, own, kind}, &arrived)) return false;
    if (!waits) return true;
    rank->waits_to_send = arrived < 0;
    if (arrived > rank->now) rank->now = arrived;
    return !rank->waits_to_send;
}

static struct receive *post_ideal_receive(struct ideal *ideal, struct rank_at *rank, struct channel *channel)
{
    struct receive *receive = pool_take(&ideal->receives);
    if (!receive) {
        refuse(ideal, IDEAL_NO_MEMORY);
        return NULL;
    }
    *receive = (struct receive){.rank = rank, .posted = rank->now, .arrived = -1};
    struct letter *letter = channel->letters;
    if (!letter) {
        *channel->last_receive = receive;
        channel->last_receive = &receive->next;
        return receive;
    }
    channel->letters = letter->next;
    if (!channel->letters) channel->last_letter = &channel->letters;
    struct letter of = *letter;
    struct rank_at *sender = own_rank(ideal, of.source);
    if (sender) sender->waiting--;
    ideal->waiting--;
    pool_give(&ideal->letters, letter);
    int64_t arrived;
    return met(ideal, receive, of, &arrived) ? receive : NULL;
}

bool messages_receive(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known)
{
    struct channel *channel = channel_of_op(ideal, rank, op, known, false);
    struct receive *receive = channel ? post_ideal_receive(ideal, rank, channel) : NULL;
    if (!receive) return false;
    if (op->kind == OP_RECV) return messages_wait(ideal, rank, receive);
    rank->requests[op->request].receive = receive;
    return true;
}

bool messages_wait(struct ideal *ideal, struct rank_at *rank, struct receive *receive)
{
    if (receive->arrived < 0) {
        receive->waited = true;
        return false;
    }
    if (receive->arrived > rank->now) rank->now = receive->arrived;
    pool_give(&ideal->receives, receive);
    return true;
}

bool messages_access(struct ideal *ideal, struct rank_at *rank, const struct op *op)
{
    if (op->request < 0) return true;
    struct receive *receive = pool_take(&ideal->receives);
    if (!receive) return refuse(ideal, IDEAL_NO_MEMORY);
    *receive = (struct receive){.rank = rank, .posted = rank->now, .arrived = rank->now};
    rank->requests[op->request].receive = receive;
    return true;
}

void messages_told(struct ideal *ideal, const struct told *told)
{
    struct rank_at *rank = own_rank(ideal, told->kind == TOLD_RECEIVED ? told->source : told->destination);
    int64_t arrived;
    if (!rank || told->time < 0 || told->time > LONGEST) {
        refuse(ideal, IDEAL_OTHER);
    } else if (told->kind != TOLD_RECEIVED) {
        struct key key = key_of_channel(told->comm, told->source, told->destination, told->tag, told->number);
        struct channel *channel = find_channel(ideal, &key);
        struct letter letter = {NULL, told->time, told->source, (enum told_kind)told->kind};
        if (channel && deliver(ideal, channel, letter, &arrived)) forget_channel_if_over(ideal, channel);
    } else if (rank->waits_to_send) {
        rank->waits_to_send = false;
        wake(ideal, rank, told->time);
    }
}
