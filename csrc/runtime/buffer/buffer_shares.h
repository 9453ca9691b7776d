/* How a thread's buffer is divided into tables.
 *
 * Context: no lock. division_* : while the run is prepared, and read only afterwards. thread_*: the thread itself,
 * while its buffer has no rows but events. */
#ifndef BUFFER_SHARES_H
#define BUFFER_SHARES_H

#include "record/thread.h"

/* Read TRACELIB_BUFFER, after limit_start: a limit makes buffers smaller. */
void division_prepare(void);

/* Return the bytes that the user allows for a thread's buffer: TRACELIB_BUFFER, or less under a limit. */
uint64_t division_user_bytes(void);

/* Return the bytes that a thread's buffer takes, header and least number of rows included. */
uint64_t thread_buffer_bytes(void);

/* Partition the buffer into tables, with room for the readings of the thread's set of counters. */
void thread_divide(struct thread *t);

/* Partition the buffer for the sampler: events, and one row of every other table. */
void thread_divide_for_sampler(struct thread *t);

#endif
