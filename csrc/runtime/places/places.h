/* The place of each call in the program: its call path, a row of the table `paths`.
 *
 * A stack is walked once (internal/walk.h). Each thread remembers what walking read; where a later call finds all of it
 * unchanged, its path is the same. */
#ifndef PLACES_H
#define PLACES_H

#include <stdint.h>

#include "record/thread.h"

struct store;

/* Frames of a path that are wanted (TRACELIB_STACK); 0: no paths. Does not change once threads record. */
extern unsigned places_depth;

/* Before anything is recorded. */
void places_prepare(void);

/* The path of a call: `frame` is the wrapper's frame, at which the caller's frame pointer lies and behind it the return
 * address, `sp` the caller's stack pointer. */
uint32_t places_find(struct thread *t, const uint64_t *frame, uint64_t sp);

static inline void places_note(struct thread *t, const void *frame, const void *sp)
{
    if (__builtin_expect(places_depth != 0, 1)) t->path = places_find(t, frame, (uint64_t)sp);
}

/* The file is there: it gets what was found before. Between store_begin and store_end. 0 or errno. */
int places_started(struct store *store);

/* A thread ends. */
void places_leave(struct thread *t);

#endif
