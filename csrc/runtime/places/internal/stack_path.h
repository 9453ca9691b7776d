/* The row of the table `paths` of a stack. Under the lock of places.c. */
#ifndef STACK_PATH_H
#define STACK_PATH_H

#include "places/internal/walk.h"
#include "places/python.h"

/* Frames of interpreted code that a thread runs. */
struct interpreted {
    bool in_handler; /* given: a signal handler asks */
    unsigned n;
    struct python_frame frame[MOST_FRAMES]; /* innermost first */
    uint64_t mark[MOST_FRAMES];
};

/* Is a walk's innermost frame of interpreted code called by Python? Then its frames are asked for, and those of the
 * interpreter and beyond are taken off the walk: what Python says stands for them. `most`: of all frames. */
void stack_ask_python(struct walk *w, struct interpreted *python, unsigned most);

/* The row of the frames of both, those of Python being the outer ones; 0: there is no room for all of it. `cut`: what
 * stands for the callers of the outermost of `most` frames, PATH_CUT or PATH_SHORT. */
uint32_t stack_path(const struct walk *w, const struct interpreted *python, unsigned most, uint64_t cut);

#endif
