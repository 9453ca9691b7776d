/* The events to come. Those of the near future are in a heap, which decides their order; all others lie in wheels:
   slot k of wheel w holds what differs from the time that the wheels stand at in the w-th group of bits first, and has
   k there. To add one costs the same however many there are, and each moves down a few wheels before its time. */

#include <stddef.h>

#include "events.h"

enum { FEW = 24 }; /* events of a slot that go into the heap at once, whatever its width */

static void put_off(struct events *events, struct later *later)
{
    uint64_t time = (uint64_t)later->event.time, differs = time ^ events->base;
    int wheel = differs ? (63 - __builtin_clzll(differs)) / WHEEL_BITS : 0;
    int slot = (int)(time >> wheel * WHEEL_BITS & (SLOTS - 1));
    later->next = events->slots[wheel][slot];
    events->slots[wheel][slot] = later;
    events->taken[wheel] |= (uint64_t)1 << slot;
}

bool events_add(struct events *events, struct event event)
{
    if ((uint64_t)event.time < events->horizon) return heap_push(&events->near, event);
    struct later *later = pool_take(&events->pool);
    if (!later) return false;
    later->event = event;
    events->n_later++;
    put_off(events, later);
    return true;
}

static bool are_few(const struct later *later)
{
    int n = 0;
    for (; later && n <= FEW; later = later->next) n++;
    return n <= FEW;
}

static bool to_the_heap(struct events *events, struct later *later)
{
    for (struct later *next; later; later = next) {
        next = later->next;
        uint64_t after = (uint64_t)later->event.time + 1;
        if (after > events->horizon) events->horizon = after;
        const void *const *what = later->event.what;
        if (what) __builtin_prefetch(*what); /* a thread begins with the place of its operation */
        if (!heap_push(&events->near, later->event)) return false;
        events->n_later--;
        pool_give(&events->pool, later);
    }
    return true;
}

/* What an event is about fills two lines of the cache, which may be there when its turn comes. */
static void expect(const char *what)
{
    if (!what) return;
    __builtin_prefetch(what);
    __builtin_prefetch(what + 64);
}

/* Move what comes first into the empty heap. false: no memory. */
bool events_open(struct events *events)
{
    while (events->n_later && !events->near.n) {
        int wheel = 0;
        while (!events->taken[wheel]) wheel++;
        int slot = __builtin_ctzll(events->taken[wheel]), shift = wheel * WHEEL_BITS;
        struct later *list = events->slots[wheel][slot];
        events->slots[wheel][slot] = NULL;
        events->taken[wheel] &= events->taken[wheel] - 1;
        events->base = (events->base >> shift >> WHEEL_BITS << WHEEL_BITS | (uint64_t)slot) << shift;
        if (!wheel || are_few(list)) return to_the_heap(events, list);
        for (struct later *next; list; list = next) {
            next = list->next;
            expect(list->event.what);
            put_off(events, list);
        }
    }
    return true;
}
