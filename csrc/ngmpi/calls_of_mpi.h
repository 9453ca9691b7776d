#ifndef CALLS_OF_MPI_H
#define CALLS_OF_MPI_H

/* The functions of the MPI that mpi4py runs on, without its mpi.h. All return MPI's error code. */

/* Look them up. False: this process has loaded no MPI that we know. */
_Bool mpi_open(void);

/* The one that a program would call: a tracer that stands before the library sees our messages. NULL: there is none. */
void *mpi_function(const char *name);

int mpi_send(const void *buffer, int bytes, int rank, int tag, intptr_t comm);
int mpi_receive(void *buffer, int bytes, int rank, int tag, intptr_t comm);

/* A barrier whose waiting rank sleeps instead of keeping a processor that the other may need. */
int mpi_polite_barrier(intptr_t comm);

#endif
