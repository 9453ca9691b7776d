#ifndef CHANNEL_H
#define CHANNEL_H
/* Where sends and receives of one key wait for each other. */

#include "common/table.h"
#include "state/sim.h"

struct receive;

/* By arrival: receives that are not over, in the order of posting; or how many messages came that none waited for. */
struct arrivals {
    struct receive *first, *last;
    int64_t surplus, under_way;
    int64_t latest, n_latest; /* when the last of the surplus came, and how many then */
};

/* Sends without receives, or receives without sends, of one key. It goes when it is empty and no plan names it. */
struct channel {
    void *first, *last; /* first is NULL: it is empty */
    struct named_channel *named;
    int32_t plans;
    bool receives;
    struct arrivals arrivals;
};

/* In a table apart from the channel: who has found it does not need the key. */
struct named_channel {
    struct entry entry;
    struct channel *channel;
};

/* Find or make the channel of the thread's plan; returns NULL if there is no memory. Take a plan off its channel. Count
   the messages that nobody received. */
struct channel *channel_find(struct sim *sim, struct thread *thread);
void channel_leave(struct sim *sim, struct plan *plan);
int64_t channels_unreceived(const struct sim *sim);

/* Return the channel of the thread's operation, which sends or receives. NULL: no memory. */
static inline struct channel *thread_channel(struct sim *sim, struct thread *thread)
{
    return thread->plan->channel ? thread->plan->channel : channel_find(sim, thread);
}

#endif
