#ifndef QUEUE_H
#define QUEUE_H
/* Messages that wait, by sequence. */

#include "state/lane.h"

/* Add a message by its sequence; returns false if there is no memory. Take the first one out; the queue is not empty.
 */
bool queue_push(struct queue *queue, struct message *message);
struct message *queue_pop(struct queue *queue);

/* Take a message out, which must be in the queue. */
void queue_remove(struct queue *queue, const struct message *message);

#endif
