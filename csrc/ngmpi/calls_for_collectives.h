#ifndef CALLS_FOR_COLLECTIVES_H
#define CALLS_FOR_COLLECTIVES_H

/* The functions of MPI that timing a collective needs, in addition to calls_of_mpi.h and with the same contracts. */

/* Look them up; calls mpi_open. Returns false if a function is missing. Call it before the functions below. */
_Bool mpi_open_more(void);

/* Post a receive of `bytes` bytes into `buffer`, and wait for its request. The buffer must live until mpi_wait. */
int mpi_post(void *buffer, int bytes, int rank, int tag, intptr_t comm, intptr_t *request);
int mpi_wait(intptr_t *request);

/* Broadcast or scatter; each rank receives `bytes` bytes. `from` has ranks x bytes at the root. Collective. */
int mpi_bcast(void *buffer, int bytes, int root, intptr_t comm);
int mpi_scatter(const void *from, void *to, int bytes, int root, intptr_t comm);

#endif
