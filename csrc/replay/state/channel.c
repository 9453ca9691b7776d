/* Channels: where sends and receives of one key wait for each other. Each plan that sends or receives names its own, so
   that only the first of many equal operations looks for it. */
#include "state/channel.h"

#include "state/messages.h"

static struct key key_of_thread_channel(const struct thread *thread)
{
    const struct op *op = thread->op;
    if (op->kind == OP_PORT_SEND || op->kind == OP_PORT_RECV)
        return (struct key){.a = UINT64_MAX, .b = (uint32_t)op->tag};
    bool sends = op->kind == OP_SEND;
    int32_t source = sends ? thread->rank : op->peer, destination = sends ? op->peer : thread->rank;
    return (struct key){.a = app_key(thread->app, op->comm),
                        .b = (uint64_t)(uint32_t)source << 32 | (uint32_t)destination,
                        .c = (uint32_t)op->tag | (op->other ? (uint64_t)op->other << 32 : 0)};
}

static struct channel *found_or_added(struct sim *sim, const struct key *key)
{
    struct named_channel *named = table_find_or_add(&sim->matching, key, &sim->named_channels);
    if (!named || named->channel) return named ? named->channel : NULL;
    struct channel *channel = pool_take(&sim->channels);
    if (channel) *channel = (struct channel){.named = named};
    return named->channel = channel;
}

struct channel *channel_find(struct sim *sim, struct thread *thread)
{
    struct key key = key_of_thread_channel(thread);
    struct channel *channel = found_or_added(sim, &key);
    if (channel) channel->plans++;
    return thread->plan->channel = channel;
}

/* By arrival, more of it is to come. */
static bool channel_is_busy(const struct channel *channel)
{
    const struct arrivals *arrivals = &channel->arrivals;
    return arrivals->first || arrivals->surplus || arrivals->under_way;
}

void channel_leave(struct sim *sim, struct plan *plan)
{
    struct channel *channel = plan->channel;
    plan->channel = NULL;
    if (--channel->plans || channel->first || channel_is_busy(channel)) return;
    table_remove(&sim->matching, &channel->named->entry);
    pool_give(&sim->named_channels, channel->named);
    pool_give(&sim->channels, channel);
}

int64_t channels_unreceived(const struct sim *sim)
{
    int64_t n = 0;
    for (size_t k = 0; k < sim->matching.room; k++)
        for (const struct entry *entry = sim->matching.at[k]; entry; entry = entry->next) {
            const struct channel *channel = ((const struct named_channel *)entry)->channel;
            if (!channel || channel->receives) continue;
            for (const struct message *m = channel->first; m; m = m->next) n++;
        }
    return n;
}
