/* The events to come. Those of the near future are in order; all others lie in wheels: slot k of wheel w holds what
   differs from the time that the wheels stand at in the w-th group of bits first, and has k there. To add one costs the
   same however many there are, and each moves down a wheel or two before its time. */
#include "state/events.h"

enum { FEW = 24 }; /* events of a slot that are put in order at once, whatever its width */

static void put_off(struct events *events, struct event *event)
{
    uint64_t time = (uint64_t)event->time, differs = time ^ events->base;
    unsigned wheel = (63 - (unsigned)__builtin_clzll(differs | 1)) / WHEEL_BITS;
    unsigned slot = time >> wheel * WHEEL_BITS & (SLOTS - 1);
    event->next = events->slots[wheel][slot];
    events->slots[wheel][slot] = event;
    events->taken[wheel][slot / 64] |= (uint64_t)1 << slot % 64;
}

/* Make room for an event among the k last of `soon` that come at its time or later; returns its place. */
static size_t place_among_equals(struct due *soon, size_t k, const struct due *due)
{
    for (; k && soon[k - 1].time == due->time && due_before(&soon[k - 1], due); k--) soon[k] = soon[k - 1];
    return k;
}

/* Among those of the near future: by insertion, since what is new mostly comes soon or is one of few. */
static inline bool put_into_order(struct events *events, struct event *event)
{
    struct due due = {event->time, event}, *soon = events->soon;
    if (events->n_soon == SOON) return heap_push(&events->crowd, due);
    size_t k = events->n_soon++;
    for (; k && soon[k - 1].time < due.time; k--) soon[k] = soon[k - 1];
    if (k && soon[k - 1].time == due.time) k = place_among_equals(soon, k, &due);
    soon[k] = due;
    return true;
}

bool events_add(struct events *events, struct moment moment, void *what, uint32_t generation)
{
    struct event *event = pool_take(&events->pool);
    if (!event) return false;
    *event = (struct event){moment.time, what, moment.order, generation, NULL};
    events->n++;
    if ((uint64_t)moment.time < events->horizon) return put_into_order(events, event);
    put_off(events, event);
    return true;
}

static bool are_few(const struct event *event)
{
    int n = 0;
    for (; event && n <= FEW; event = event->next) n++;
    return n <= FEW;
}

static bool all_in_order(struct events *events, struct event *event)
{
    for (struct event *next; event; event = next) {
        next = event->next;
        uint64_t after = (uint64_t)event->time + 1;
        if (after > events->horizon) events->horizon = after;
        const void *const *what = event->what;
        if (what) __builtin_prefetch(*what); /* a thread begins with the place of its operation */
        if (!put_into_order(events, event)) return false;
    }
    return true;
}

/* Prefetch the object of an event, two lines of the cache, so that it may be there when its turn comes. */
static void expect(const char *what)
{
    if (!what) return;
    __builtin_prefetch(what);
    __builtin_prefetch(what + 64);
}

/* Take the list of the first slot that has one; the wheels go on to it. */
static struct event *next_wheel_slot(struct events *events, unsigned *wheel)
{
    unsigned word = 0;
    for (*wheel = 0; !events->taken[*wheel][word];)
        if (++word == WORDS_OF_SLOTS) {
            word = 0;
            ++*wheel;
        }
    uint64_t *taken = &events->taken[*wheel][word];
    unsigned slot = word * 64 + (unsigned)__builtin_ctzll(*taken), shift = *wheel * WHEEL_BITS;
    struct event *list = events->slots[*wheel][slot];
    events->slots[*wheel][slot] = NULL;
    *taken &= *taken - 1;
    events->base = (events->base >> shift >> WHEEL_BITS << WHEEL_BITS | slot) << shift;
    return list;
}

/* Put what comes first in order: there is something, and nothing that is. false: no memory. */
static bool open_wheels(struct events *events)
{
    for (;;) {
        unsigned wheel;
        struct event *list = next_wheel_slot(events, &wheel);
        if (!wheel || are_few(list)) return all_in_order(events, list);
        for (struct event *next; list; list = next) {
            next = list->next;
            expect(list->what);
            put_off(events, list);
        }
    }
}

/* The first event is among those that found no room. */
static bool is_crowded(const struct events *events)
{
    const struct heap *crowd = &events->crowd;
    return crowd->n && !(events->n_soon && due_before(&events->soon[events->n_soon - 1], &crowd->at[0]));
}

const struct event *events_first_of_all(struct events *events)
{
    if (!events_are_near(events) && !(events->n && open_wheels(events))) return NULL;
    return is_crowded(events) ? events->crowd.at[0].event : events->soon[events->n_soon - 1].event;
}

struct event *events_take_of_all(struct events *events)
{
    return is_crowded(events) ? heap_pop(&events->crowd).event : events->soon[--events->n_soon].event;
}
