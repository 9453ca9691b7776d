/* The path of a call, before it is made. */
#ifndef CALL_PATH_H
#define CALL_PATH_H

#include "places/places.h"

/* The stack is not known: find its path. The time that this takes is the tracer's, and becomes events. */
void call_path_find(struct thread *t, const uint64_t *frame);

/* At the begin of a recorded call, `t->inside` being set; `frame` is the wrapper's. */
static inline void call_path_note(struct thread *t, const uint64_t *frame)
{
    if (__builtin_expect(!places_note(t, frame, (uint64_t)t->inside), 0)) call_path_find(t, frame);
}

#endif
