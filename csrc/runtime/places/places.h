/* The place of each call in the program: its call path, a row of the table `paths`.
 *
 * A stack is walked once (internal/walk.h). Each thread remembers what walking read (internal/known_stacks.h). Where a
 * later call finds all of it unchanged, its path is the same. */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

struct store;

/* Frames of a path that are wanted (TRACELIB_STACK); 0: no paths. Does not change once threads record. */
extern unsigned places_depth;

/* Of the code in memory: it changes when some is unloaded. */
extern uint32_t places_generation;

enum { SITES = 1 << 12 };

/* Where no callers are wanted, a return address is all that a thread has to remember. The first part of what it
 * remembers (places.c). */
struct sites {
    uint32_t generation;
    struct site {
        uint64_t place;
        uint32_t path;
        bool in_python; /* its path is not the same each time */
    } site[SITES];
};

static inline struct site *site_of(const struct sites *s, uint64_t place)
{
    return (struct site *)&s->site[place / 2 % SITES];
}

/* Before anything is recorded. */
void places_prepare(void);

/* A call's stack: `frame` is the wrapper's frame, at which the caller's frame pointer lies and behind it the return
 * address, `sp` the caller's stack pointer. Is it one that the thread knows? Then its path is noted. */
bool places_known(struct thread *t, const uint64_t *frame, uint64_t sp);

static inline bool places_note(struct thread *t, const uint64_t *frame, uint64_t sp)
{
    if (__builtin_expect(places_depth == 0, 0)) return true;
    const struct sites *known = (const struct sites *)t->stacks;
    if (places_depth == 1 && known && known->generation == __atomic_load_n(&places_generation, __ATOMIC_RELAXED)) {
        const struct site *site = site_of(known, frame[1]);
        if (__builtin_expect(site->place == frame[1] && !site->in_python, 1)) return t->path = site->path, true;
    }
    return places_known(t, frame, sp);
}

/* The path of a call whose stack is not known: it is walked. With all signals blocked. Where a thread has spent more
 * than a tenth of its time on this, fewer callers are looked for. */
uint32_t places_find(struct thread *t, const uint64_t *frame, uint64_t sp);

/* Calls of the process whose callers were not all looked for. */
extern uint64_t places_shortened;

/* How long places_known took on average since places_forget_looks, in ticks; 0: not known. Some of all are timed, where
 * callers are wanted. Any thread may ask. */
uint64_t places_look_ticks(void);
void places_forget_looks(void);

/* The file is there: it gets what was found before. Between store_begin and store_end. 0 or errno. */
int places_started(struct store *store);

/* Whether a frame of this thread's stack is gone: its CFA was `cfa`, and a call made now has `frame` and `sp` (as for
 * places_find). False also where it cannot be told: callers that are not known, another stack. May be called in a
 * signal handler. */
bool places_frame_is_gone(const uint64_t *frame, uint64_t sp, uint64_t cfa);

/* A thread ends. */
void places_leave(struct thread *t);

/* In a forked child: who had the lock is not there. */
void places_forked(void);

#endif
