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

/* Note that a message is under way on its channel. Call when it is submitted, on machines that match by arrival. */
void arrivals_expect(struct message *message, struct channel *channel);
/* Post a receive on its channel: it takes a message that came and that none waited for, or waits for the next. */
void arrivals_post(struct channel *channel, struct receive *receive);

/* Take the receive that a message ends when it arrives; NULL: none waits. */
struct receive *arrivals_take(const struct message *message);

#endif
