#ifndef IDEAL_MESSAGES_H
#define IDEAL_MESSAGES_H
/* Sends meet receives. */

#include "ideal/internal/state.h"

/* Execute the send, receive or wait of a rank. They return false if the rank waits, or the replay ends with an error.
 */
bool messages_send(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known);
bool messages_receive(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known);
bool messages_wait(struct ideal *ideal, struct rank_at *rank, struct receive *receive);

/* Execute a put or a get. Its request completes at once. */
bool messages_access(struct ideal *ideal, struct rank_at *rank, const struct op *op);

/* Note that an operation no longer names a channel. A channel that nobody needs goes back to its pool. */
void messages_leave(struct ideal *ideal, struct channel *channel);

/* Take a fact about a message from another process. */
void messages_told(struct ideal *ideal, const struct told *told);

#endif
