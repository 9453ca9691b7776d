/* Events in the order in which they happen. */

#include <stdlib.h>

#include "sim.h"

enum { ARITY = 4 };

/* Of two events of the same phase and instant: by application, rank, thread and operation. */
bool event_tie(const struct event *a, const struct event *b)
{
    switch (a->order & 255) {
    case PHASE_ARRIVE:
    case PHASE_FREE:
    case PHASE_MEET: {
        const struct message *x = a->what, *y = b->what;
        uint64_t who = x->sender->who, other = y->sender->who;
        return who != other ? who < other : x->op < y->op;
    }
    case PHASE_ENDED: {
        const struct instance *x = a->what, *y = b->what;
        if (x->app != y->app) return x->app < y->app;
        return x->comm != y->comm ? x->comm < y->comm : x->number < y->number;
    }
    case PHASE_DISPATCH:
        return a->what < b->what;
    case PHASE_TICK:
    case PHASE_NETWORK:
        return false;
    default:
        return ((const struct thread *)a->what)->who < ((const struct thread *)b->what)->who;
    }
}

bool heap_push(struct heap *heap, struct due due)
{
    if (heap->n == heap->room) {
        size_t room = heap->room ? 2 * heap->room : 256;
        struct due *at = realloc(heap->at, room * sizeof *at);
        if (!at) return false;
        heap->at = at;
        heap->room = room;
    }
    size_t k = heap->n++;
    while (k) {
        size_t parent = (k - 1) / ARITY;
        if (!due_before(&due, &heap->at[parent])) break;
        heap->at[k] = heap->at[parent];
        k = parent;
    }
    heap->at[k] = due;
    return true;
}

struct due heap_pop(struct heap *heap)
{
    struct due top = heap->at[0], last = heap->at[--heap->n];
    size_t k = 0;
    for (;;) {
        size_t first = k * ARITY + 1, least = first;
        if (first >= heap->n) break;
        size_t end = first + ARITY < heap->n ? first + ARITY : heap->n;
        for (size_t i = first + 1; i < end; i++)
            if (due_before(&heap->at[i], &heap->at[least])) least = i;
        if (!due_before(&heap->at[least], &last)) break;
        heap->at[k] = heap->at[least];
        k = least;
    }
    heap->at[k] = last;
    return top;
}
