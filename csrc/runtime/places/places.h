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

/* Generation of the code in memory: it changes when some is unloaded. */
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

/* Return the slot of a return address, which may hold another one. */
static inline struct site *site_of(const struct sites *s, uint64_t place)
{
    return (struct site *)&s->site[place / 2 % SITES];
}

/* Read TRACELIB_STACK.
 * Context: while the run is prepared. */
void places_prepare(void);

/* Look for the path of a call by what the thread remembers: `frame` is the wrapper's frame, at which the caller's frame
 * pointer lies and behind it the return address, `sp` the caller's stack pointer. Returns true, and sets t->path, if
 * the thread knows this stack. Context: the thread itself, no lock. */
bool places_known(struct thread *t, const uint64_t *frame, uint64_t sp);

/* Set t->path of a call whose stack is known; arguments as for places_known. Returns false if it is not known. True
 * where no paths are wanted.
 * Context: the thread itself, no lock. */
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

/* Walk a stack that is not known, remember it, and return its path (a row of `paths`). Where a thread has spent more
 * than a tenth of its time on this, fewer callers are looked for. Context: the thread itself, with all signals blocked;
 * takes the lock of places.c. */
uint32_t places_find(struct thread *t, const uint64_t *frame, uint64_t sp);

/* Calls of the process whose callers were not all looked for. */
extern uint64_t places_shortened;

/* Return how long places_known took on average since places_forget_looks, in ticks; 0: not known. Where callers are
 * wanted some of the looks are timed. Context: any thread, no lock (relaxed counters). */
uint64_t places_look_ticks(void);

/* Begin the average anew.
 * Context: any thread, no lock. */
void places_forget_looks(void);

/* Write to the new file what was found before. Returns 0 or errno.
 * Context: between store_begin and store_end. */
int places_started(struct store *store);

/* True if a frame of this thread's stack is gone: its CFA was `cfa`, and a call made now has `frame` and `sp` (as for
 * places_find). False also where it cannot be told: callers that are not known, another stack.
 * Context: the thread itself, signal handlers, no lock. */
bool places_frame_is_gone(const uint64_t *frame, uint64_t sp, uint64_t cfa);

/* Free what a thread remembers, as it ends.
 * Context: the thread itself. */
void places_leave(struct thread *t);

/* Make the lock anew: in a forked child the thread that had it is gone.
 * Context: the handler of pthread_atfork in the child. */
void places_forked(void);

#endif
