/* What the tracer itself costs, measured at the start. */
#ifndef OVERHEAD_H
#define OVERHEAD_H

#include "thread.h"

/* Ticks between the exit of one recorded call and the entry of the next where the program does nothing in between,
 * under the options of this run: the part of the tracer that bursts contain. The mean of back-to-back calls, the
 * least of several rounds. They go through the wrapper of MPI_Send to MPI_PROC_NULL, into memory of their own. */
uint64_t overhead_measure(struct thread *t);

#endif
