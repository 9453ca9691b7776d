/* Messages that are received as they arrive (`by_arrival`), as in Dimemas: a small one may be taken for a big one of
   the same key that was sent before it. Which send meets which receive still decides when a rendezvous starts. */
#include "match/arrivals.h"

void arrivals_expect(struct message *message, struct channel *channel)
{
    ((struct routed *)message)->channel = channel;
    channel->arrivals.under_way++;
}

void arrivals_post(struct channel *channel, struct receive *receive)
{
    struct arrivals *arrivals = &channel->arrivals;
    if (arrivals->surplus) {
        bool late = arrivals->surplus-- > arrivals->n_latest || arrivals->latest < receive->posted.time;
        if (arrivals->n_latest > arrivals->surplus) arrivals->n_latest = arrivals->surplus;
        receive->arrived = true;
        receive->thread->usage->late_receives += late;
        return;
    }
    if (arrivals->first)
        arrivals->last->later = receive;
    else
        arrivals->first = receive;
    arrivals->last = receive;
}

static void keep_waiting(struct arrivals *arrivals, int64_t now)
{
    if (arrivals->latest != now) arrivals->n_latest = 0;
    arrivals->latest = now;
    arrivals->n_latest++;
    arrivals->surplus++;
}

struct receive *arrivals_take(const struct message *message)
{
    struct arrivals *arrivals = &((const struct routed *)message)->channel->arrivals;
    struct receive *receive = arrivals->first;
    arrivals->under_way--;
    if (receive)
        arrivals->first = receive->later;
    else
        keep_waiting(arrivals, message->arrival);
    return receive;
}
