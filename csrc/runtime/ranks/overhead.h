/* Cost of the tracer itself, measured at the start. */
#ifndef OVERHEAD_H
#define OVERHEAD_H

#include "mpi/abi.h"
#include "record/thread.h"

/* Time between one recorded call and the next if the program does nothing in between, under the options of this run:
 * the part of the tracer that bursts contain. */
struct overhead {
    uint64_t ticks;  /* from exit to entry */
    uint64_t cpu_ns; /* the same by the readings of CPU time; 0: it is not read */
};

/* Measure it: the mean of back-to-back calls, the least of several rounds. The calls go through the wrapper of
 * MPI_Send, to MPI_PROC_NULL in `comm` (any communicator), and their rows into memory of their own. Context: the thread
 * `t` itself, in MPI_Init. No message is sent. */
struct overhead overhead_measure(struct thread *t, word comm);

#endif
