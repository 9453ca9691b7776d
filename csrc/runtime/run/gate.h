/* Whether the call that a thread has just made is recorded. */
#ifndef GATE_H
#define GATE_H

#include "record/thread.h"

/* Slow path of a wrapper whose gate is not open: true if the call with this stack frame is to be recorded after all. */
bool thread_open(struct thread *t, void *frame);

#endif
