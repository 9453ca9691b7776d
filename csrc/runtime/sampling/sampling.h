/* Samples of where the program's threads are (TRACELIB_SAMPLE=10ms): rows of the table `samples`.
 *
 * A thread of ours looks each tenth of a second which threads there are, and writes what was sampled. Each thread is
 * sampled by the CPU time that it uses, so threads that sleep cost nothing. Samples are taken by the kernel
 * (internal/by_perf.h) or, where it must not or Python runs, by a signal that programs cannot see
 * (internal/by_signal.h). */
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Want a sample each `period_ns` ns of CPU time (0: none). Reads the environment. */
void sampling_prepare(int64_t period_ns);

/* Are samples wanted? */
bool sampling_is_wanted(void);

/* Is this a program that `tracelib run` was asked to sample, whether or not it uses MPI? TRACELIB_ALONE is the number
 * of the process of `tracelib run`. If that has started it by way of a shell or the like, `directly` is false. */
bool sampling_is_asked_without_mpi(bool *directly);

/* The process records from here on, and `speaks` for others if it does. It goes on where it has been started before. */
void sampling_start(bool speaks);

/* Start sampling of a program without MPI: there is no file yet. One that computes for a while gets one, and so does at
 * its end what has been started directly or was worth it. */
void sampling_start_alone(bool directly);
bool sampling_was_worth_it(void);

/* Before the run is closed: the last samples go to the file. */
void sampling_stop(void);

/* In a forked child, which is not sampled. */
void sampling_forget(void);

#endif
