/* A thread goes over to another set of counters: its readings take another room in the buffer. */
#ifndef COUNTER_SET_H
#define COUNTER_SET_H

#include "record/thread.h"

/* To the set that is read now (rotation_current), inside a call. */
void thread_change_set(struct thread *t);

/* The end of a recorded call whose gate is not what it was. */
void thread_left(struct thread *t);

#endif
