#ifndef CALLS_OF_MPI_H
#define CALLS_OF_MPI_H

/* The functions of the MPI that mpi4py runs on, without its mpi.h. The functions that return int return MPI's error
 * code. Sizes are in bytes. A communicator is its C handle as an integer. */

/* Look the functions up; call it first. Returns false if this process has loaded no MPI that we know. */
_Bool mpi_open(void);

/* Return the function of this name that a program would call, so that a preloaded tracer sees our messages. NULL: there
 * is none. */
void *mpi_function(const char *name);

/* Send or receive a message, blocking. */
int mpi_send(const void *buffer, int bytes, int rank, int tag, intptr_t comm);
int mpi_receive(void *buffer, int bytes, int rank, int tag, intptr_t comm);

/* Wait for the other ranks at a barrier. A waiting rank sleeps, so that another rank can use its processor. */
int mpi_polite_barrier(intptr_t comm);

#endif
