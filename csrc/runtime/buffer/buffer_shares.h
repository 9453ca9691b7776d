/* How a thread's buffer is divided into tables. */
#ifndef BUFFER_SHARES_H
#define BUFFER_SHARES_H

#include "record/thread.h"

/* Read the environment, after the limit. */
void division_prepare(void);

/* What the user allows for a thread's buffer (TRACELIB_BUFFER, or less under a limit), and what it takes. */
uint64_t division_user_bytes(void);
uint64_t thread_buffer_bytes(void);

/* An empty buffer, for the readings of the thread's set of counters. */
void thread_divide(struct thread *t);
void thread_divide_for_sampler(struct thread *t); /* events, and one row of everything else */

#endif
