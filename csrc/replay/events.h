#ifndef EVENTS_H
#define EVENTS_H
/* What is to happen in a simulation, in order. */

#include "memory.h"

/* Order of what happens at one instant. An event that is added at the present time with an earlier phase than the one
   under way comes in the next round: phases are gone through again until nothing is left. */
enum phase {
    PHASE_ARRIVE,   /* messages arrive, links and buses become free */
    PHASE_FREE,     /* a link is free before or after its message arrived (networks with a gap) */
    PHASE_ENDED,    /* collectives end */
    PHASE_TICK,     /* the clock of decaying priorities */
    PHASE_SLICE,    /* slices end */
    PHASE_BUSY,     /* busy waiting ends */
    PHASE_POST,     /* receives are posted; whatever else a thread does */
    PHASE_MEET,     /* messages in rendezvous whose receives were posted ahead of the clock */
    PHASE_SUBMIT,   /* sends are submitted, members enter collectives */
    PHASE_NETWORK,  /* one scan of the messages that wait, in order of submission */
    PHASE_RESUME,   /* threads with a processor of their own go on */
    PHASE_DISPATCH, /* other processors take ready threads */
};

/* ns, 73 years. Nothing lasts longer, so that the sum of a few durations is a number; a replay that would is an error.
 */
static const int64_t LONGEST = (int64_t)1 << 61;

/* A point in the order of what happens. */
struct moment {
    int64_t time;
    uint32_t order; /* round and phase */
};

/* What happens to `what`: a message (PHASE_ARRIVE, PHASE_FREE, PHASE_MEET), an instance (PHASE_ENDED), a node
   (PHASE_DISPATCH), a thread; nothing (PHASE_TICK, PHASE_NETWORK). */
struct event {
    int64_t time;
    void *what;
    uint32_t order;      /* round and phase */
    uint32_t generation; /* of the thread when the event was made: a thread taken off its processor has a new one */
    struct event *next;  /* in its slot */
};

/* An event that is put in order. */
struct due {
    int64_t time;
    struct event *event;
};

struct heap {
    struct due *at;
    size_t n, room;
};

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

static inline bool moment_before(struct moment a, struct moment b)
{
    return a.time != b.time ? a.time < b.time : a.order < b.order;
}

/* A phase at some time after a moment: in the next round, if no time is between and the phase is an earlier one. */
static inline struct moment moment_after(struct moment moment, int64_t duration, enum phase phase)
{
    if (duration) return (struct moment){moment.time + duration, phase};
    uint32_t round = moment.order >> 8;
    return (struct moment){moment.time, (phase >= (moment.order & 255) ? round : round + 1) << 8 | phase};
}

/* heap.c; false: no memory. event_tie: of one time and order, the first comes first */
bool heap_push(struct heap *heap, struct due due);
struct due heap_pop(struct heap *heap);
bool event_tie(const struct event *a, const struct event *b);

static inline bool due_before(const struct due *a, const struct due *b)
{
    if (a->time != b->time) return a->time < b->time;
    if (a->event->order != b->event->order) return a->event->order < b->event->order;
    return event_tie(a->event, b->event);
}

/* events.c; events_add is false, events_first NULL although there are events: no memory. events_take: that first one */
bool events_add(struct events *events, struct moment moment, void *what, uint32_t generation);
const struct event *events_first_of_all(struct events *events); /* see events_first */
struct event *events_take_of_all(struct events *events);        /* see events_take */

static inline bool events_are_near(const struct events *events)
{
    return events->n_soon || events->crowd.n;
}

static inline const struct event *events_first(struct events *events)
{
    bool known = events->n_soon && !events->crowd.n;
    return known ? events->soon[events->n_soon - 1].event : events_first_of_all(events);
}

static inline struct event events_take(struct events *events)
{
    struct event *own = events->crowd.n ? events_take_of_all(events) : events->soon[--events->n_soon].event;
    struct event event = *own;
    pool_give(&events->pool, own);
    events->n--;
    return event;
}

#endif
