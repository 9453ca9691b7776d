/* Messages that wait, by sequence: the first one, and a heap of the others. */
#include "network/internal/queue.h"

#include "common/array.h"
#include "state/messages.h"

bool queue_push(struct queue *queue, struct message *message)
{
    struct parked new = {message->sequence, message};
    if (!queue->n) {
        queue->n = 1;
        queue->first = new;
        return true;
    }
    if (queue->n > queue->room && !ARRAY_GROW(queue->others, queue->room, 4)) return false;
    struct parked *others = queue->others;
    if (new.sequence < queue->first.sequence) {
        struct parked second = queue->first;
        queue->first = new;
        new = second;
    }
    size_t k = queue->n++ - 1;
    for (; k && new.sequence < others[(k - 1) / 2].sequence; k = (k - 1) / 2) others[k] = others[(k - 1) / 2];
    others[k] = new;
    return true;
}

/* The first one of the others becomes that of all: there are n others. */
static void queue_move_up(struct queue *queue, size_t n)
{
    struct parked *others = queue->others, last = others[--n];
    queue->first = others[0];
    size_t k = 0;
    for (size_t child; (child = 2 * k + 1) < n; k = child) {
        if (child + 1 < n && others[child + 1].sequence < others[child].sequence) child++;
        if (others[child].sequence > last.sequence) break;
        others[k] = others[child];
    }
    others[k] = last;
}

struct message *queue_pop(struct queue *queue)
{
    struct message *message = queue->first.message;
    if (--queue->n) queue_move_up(queue, queue->n);
    return message;
}

void queue_remove(struct queue *queue, const struct message *message)
{
    if (queue->first.message != message) { /* it becomes the first, and that the first of the others */
        struct parked *others = queue->others, found;
        size_t k = 0;
        while (others[k].message != message) k++;
        found = others[k];
        for (; k; k = (k - 1) / 2) others[k] = others[(k - 1) / 2];
        others[0] = queue->first;
        queue->first = found;
    }
    queue_pop(queue);
}
