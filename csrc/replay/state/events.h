#ifndef EVENTS_H
#define EVENTS_H
/* The events of a simulation that are to come, in order. */

#include "common/memory.h"
#include "state/heap.h"

enum { WHEEL_BITS = 8, SLOTS = 1 << WHEEL_BITS, WHEELS = 8, WORDS_OF_SLOTS = SLOTS / 64, SOON = 32 };

/* Times before `horizon` are in `soon`, in order, the first to come at its end, or in `crowd` where these are full;
   wheels stand at `base`. */
struct events {
    struct due soon[SOON];
    size_t n_soon;
    struct heap crowd;
    uint64_t base, horizon;
    uint64_t taken[WHEELS][WORDS_OF_SLOTS]; /* bit k: slot k has events */
    struct event *slots[WHEELS][SLOTS];
    struct pool pool; /* struct event */
    size_t n;         /* all */
};

/* Add an event; returns false if there is no memory. Return the first event; NULL if there is none or no memory. Take
   the first event out, after events_first has returned it. */
bool events_add(struct events *events, struct moment moment, void *what, uint32_t generation);
const struct event *events_first_of_all(struct events *events); /* see events_first */
struct event *events_take_of_all(struct events *events);        /* see events_take */

/* Return true if events_first returns an event without turning a wheel. */
static inline bool events_are_near(const struct events *events)
{
    return events->n_soon || events->crowd.n;
}

/* Return the first event, which stays; NULL: there is none, or no memory. */
static inline const struct event *events_first(struct events *events)
{
    bool known = events->n_soon && !events->crowd.n;
    return known ? events->soon[events->n_soon - 1].event : events_first_of_all(events);
}

/* Take the first event out. Call after events_first has returned it. */
static inline struct event events_take(struct events *events)
{
    struct event *own = events->crowd.n ? events_take_of_all(events) : events->soon[--events->n_soon].event;
    struct event event = *own;
    pool_give(&events->pool, own);
    events->n--;
    return event;
}

#endif
