/* What the tracer itself costs, measured at the start. */
#ifndef OVERHEAD_H
#define OVERHEAD_H

#include "mpi/abi.h"
#include "record/thread.h"

/* What lies between one recorded call and the next where the program does nothing in between, under the options of this
 * run: the part of the tracer that bursts contain. */
struct overhead {
    uint64_t ticks;  /* from exit to entry */
    uint64_t cpu_ns; /* the same by the readings of CPU time; 0: it is not read */
};

/* The mean of back-to-back calls, the least of several rounds. They go through the wrapper of MPI_Send to
 * MPI_PROC_NULL in any communicator, into memory of their own. */
struct overhead overhead_measure(struct thread *t, word comm);

#endif
