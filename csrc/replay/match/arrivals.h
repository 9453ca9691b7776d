#ifndef ARRIVALS_H
#define ARRIVALS_H
/* Messages that are received as they arrive. */

#include "state/channel.h"
#include "state/messages.h"

/* Where messages are received as they arrive. */
struct routed {
    struct message message;
    struct channel *channel;
};

void arrivals_expect(struct message *message, struct channel *channel);
void arrivals_post(struct channel *channel, struct receive *receive);

/* The receive that a message ends; NULL: none waits. */
struct receive *arrivals_take(const struct message *message);

#endif
