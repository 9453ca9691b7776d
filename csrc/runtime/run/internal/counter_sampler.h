/* Samples of counters between MPI calls (TRACELIB_SAMPLE): a thread of ours reads those of all recording threads, each
 * so many microseconds (`1ms`) or each so many events of a thread (`perf::INSTRUCTIONS:1000000`, trigger.c). The
 * program's threads get no signal, and none of their own calls is interrupted.
 *
 * A sample is one event for each counter, in the rows of SAMPLER_THREAD, with the thread that it is of in `flags`.
 * Threads are not sampled inside MPI, nor where the tracer itself works. */
#ifndef COUNTER_SAMPLER_H
#define COUNTER_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Read the environment, after the counters. The time between two samples (ns); 0: none, or by triggers. */
int64_t counter_sampler_prepare(void);

/* The process records from here on, and `speaks` for others if it does. It goes on where it has been started before. */
void counter_sampler_start(bool speaks);

/* Before the run is closed. */
void counter_sampler_stop(void);

/* In a forked child, which has no such thread. */
void counter_sampler_forget(void);

#endif
