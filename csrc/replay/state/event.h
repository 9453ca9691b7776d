#ifndef EVENT_H
#define EVENT_H
/* Events: what happens, and when. */

#include <stdbool.h>
#include <stdint.h>

/* Order of what happens at one instant. An event that is added at the present time with an earlier phase than the one
   under way comes in the next round: phases are gone through again until nothing is left. */
enum phase {
    PHASE_ARRIVE,   /* messages arrive, links and buses become free */
    PHASE_FREE,     /* a link is free before or after its message arrived (networks with a gap) */
    PHASE_ENDED,    /* collectives end */
    PHASE_FILE,     /* files were read or written */
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

/* A point in the order of what happens. */
struct moment {
    int64_t time;
    uint32_t order; /* round and phase */
};

/* An event at a time in ns. `what` is a message (PHASE_ARRIVE, PHASE_FREE, PHASE_MEET), an instance (PHASE_ENDED), a
   node (PHASE_DISPATCH), NULL (PHASE_TICK, PHASE_NETWORK), else a thread. */
struct event {
    int64_t time;
    void *what;
    uint32_t order;      /* round and phase */
    uint32_t generation; /* of the thread when the event was made: a thread taken off its processor has a new one */
    struct event *next;  /* in its slot */
};

/* Return true if the first moment comes before the other. */
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

#endif
