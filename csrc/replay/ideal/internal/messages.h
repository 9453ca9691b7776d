#ifndef IDEAL_MESSAGES_H
#define IDEAL_MESSAGES_H
/* Sends meet receives. */

#include "ideal/internal/state.h"

/* The operation of a rank. false: it waits, or nothing goes on. */
bool messages_send(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known);
bool messages_receive(struct ideal *ideal, struct rank_at *rank, const struct op *op, struct known *known);
bool messages_wait(struct ideal *ideal, struct rank_at *rank, struct receive *receive);

/* A put or a get: its request is over at once. */
bool messages_access(struct ideal *ideal, struct rank_at *rank, const struct op *op);

/* An operation no longer names a channel. */
void messages_leave(struct ideal *ideal, struct channel *channel);

/* What another process tells of a message. */
void messages_told(struct ideal *ideal, const struct told *told);

#endif
