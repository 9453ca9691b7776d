/* Samples of counters between MPI calls (TRACELIB_SAMPLE): a thread of ours reads the counters of all recording
 * threads, at a period (`1ms`) or at a number of events of a thread (`perf::INSTRUCTIONS:1000000`, trigger.c). The
 * program's threads get no signal, and none of their own calls is interrupted.
 *
 * A sample is one event for each counter, in the rows of SAMPLER_THREAD, with the thread that it is of in `flags`.
 * Threads are not sampled inside MPI, nor where the tracer itself works. */
#ifndef COUNTER_SAMPLER_H
#define COUNTER_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Read TRACELIB_SAMPLE, after counters_prepare. Returns the time between two samples (ns); 0: none, or by triggers.
 * Context: while the run is prepared. */
int64_t counter_sampler_prepare(void);

/* Start the sampler when the process records from here on; does nothing if it has been started before. `speaks`: report
 * what cannot be sampled.
 * Context: one thread at a time: where the run or its file begins. */
void counter_sampler_start(bool speaks);

/* Stop the sampler before the run is closed, and wait for it for two seconds at most.
 * Context: any thread, not between store_begin and store_end. */
void counter_sampler_stop(void);

/* Forget the sampler in a forked child, which has no such thread.
 * Context: the handler of pthread_atfork in the child. */
void counter_sampler_forget(void);

#endif
