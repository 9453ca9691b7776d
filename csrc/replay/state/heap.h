#ifndef HEAP_H
#define HEAP_H
/* Events in the order in which they happen. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/tie_break.h"

/* An event that is put in order. */
struct due {
    int64_t time;
    struct event *event;
};

struct heap {
    struct due *at;
    size_t n, room;
};

/* Add an event; returns false if there is no memory. Take the first one out; the heap is not empty. */
bool heap_push(struct heap *heap, struct due due);
struct due heap_pop(struct heap *heap);

/* Return true if the first event comes before the other: by time, phase, and the rule for ties. */
static inline bool due_before(const struct due *a, const struct due *b)
{
    if (a->time != b->time) return a->time < b->time;
    if (a->event->order != b->event->order) return a->event->order < b->event->order;
    return event_tie(a->event, b->event);
}

#endif
