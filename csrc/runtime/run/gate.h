/* Whether the call that a thread has just made is recorded. */
#ifndef GATE_H
#define GATE_H

#include "record/thread.h"

/* Slow path of a wrapper whose gate is not open: true if the call is to be recorded after all. `frame` is the wrapper's
 * frame, at which the caller's frame pointer lies and behind it the return address; `cfa` the caller's stack pointer.
 * Both NULL: it is no call of MPI.
 * Context: the thread itself, not between store_begin and store_end; also in a signal handler of the program that calls
 * MPI. The first call of a thread prepares the run and gives the thread its buffer. */
bool thread_open(struct thread *t, const void *frame, const void *cfa);

#endif
