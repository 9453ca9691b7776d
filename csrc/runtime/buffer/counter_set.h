/* Changing a thread to another set of counters: its readings take another share of the buffer.
 *
 * Context: the thread `t` itself, inside its gate, without store_begin (it may flush and takes the store's lock). */
#ifndef COUNTER_SET_H
#define COUNTER_SET_H

#include "record/thread.h"

/* Change to the set that should be read now (rotation_current), inside a call. Nothing changes if the buffer cannot be
 * emptied. */
void thread_change_set(struct thread *t);

/* End a recorded call whose gate is not GATE_INSIDE any more: for GATE_DUE change the set and open the gate. */
void thread_left(struct thread *t);

#endif
