#ifndef QUEUE_H
#define QUEUE_H
/* Messages that wait, by sequence. */

#include "state/lane.h"

/* false: no memory. */
bool queue_push(struct queue *queue, struct message *message);
struct message *queue_pop(struct queue *queue);

/* Take a message out that is there. */
void queue_remove(struct queue *queue, const struct message *message);

#endif
